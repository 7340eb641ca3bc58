"""Topic files of every track: found out by their first line (`reading`), read into Topic records.

A record, whatever its file, is made a topic in one place (`record`); `tables` reads TSV and CSV,
`tagged` the files in TREC's SGML or XML, `turns` conversations, where every turn is a topic.
"""

from trecjudge.inputs.topics.reading import read_topics

__all__ = ["read_topics"]
