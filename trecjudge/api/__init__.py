"""The Python API: read, judge, compare; `trecjudge` exports what is here.

`inputs` reads runs, topics and documents, and makes files of records; `judging` judges them,
`result` holds the outcome, `statistics` compares it, `paper` makes tables of it.
"""
