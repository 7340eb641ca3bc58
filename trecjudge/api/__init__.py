"""The Python API: read, judge, compare; `trecjudge` exports what is here.

`reading` reads runs, topics and documents, `judging` judges them, `result` holds the outcome,
`statistics` compares it. `given` and `tables` convert the arguments of a call.
"""
