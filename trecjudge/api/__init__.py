"""The front door for Python: read, judge, compare; `trecjudge` exports what is here.

`reading` reads runs, topics and documents, `judging` judges them, `result` is what that comes to,
`statistics` compares it. `given` and `tables` bring what a call gives into shape.
"""
