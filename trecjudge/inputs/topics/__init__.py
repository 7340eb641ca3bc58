"""Topic files of every track: recognised by their first line, read into Topic records (`reading`).

Records of all files are made topics in one place (`record`), those of conversations too, where
every turn is a topic.
"""

from trecjudge.inputs.topics.reading import read_topics

__all__ = ["read_topics"]
