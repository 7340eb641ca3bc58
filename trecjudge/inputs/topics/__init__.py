"""Topic files of every track: recognised by their first line, read into Topic records (`reading`).

Records of all files are made topics in one place (`record`). `tables` reads TSV and CSV, `tagged`
the files in TREC's SGML or XML, `turns` conversations, where every turn is a topic.
"""

from trecjudge.inputs.topics.reading import read_topics

__all__ = ["read_topics"]
