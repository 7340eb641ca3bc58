"""Records that RAG pipelines and the tools around them write: question, answer, contexts.

`reading` finds the records of a file, also inside its one object; `spans` joins those of traces,
`exports` opens YAML and logs of tools, `conversations` takes a list of messages apart,
`services` reads answers with citations beside them. `parts` finds the parts of a record whatever
its tool calls them, `contexts` makes documents of what was retrieved, `tables` reads CSV and
Parquet, `fields` takes the names of `--keys`.
"""
