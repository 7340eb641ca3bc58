"""Records that RAG pipelines and the tools around them write: question, answer, contexts.

`parts` finds the parts of a record whatever its tool calls them, `conversations` those of a list of
messages, `contexts` makes documents of what was retrieved, `wrappers` finds the records inside a
file's one object, `tables` reads records from CSV and Parquet, `fields` takes the names of
`--keys`.
"""
