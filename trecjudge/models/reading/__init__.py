"""Reading a reply: reasoning cut off, exactly one distinct set of fields, unmistakable values.

Both forms of a reply, JSON and field markers, are read in the same way, whichever was asked for.
"""

from trecjudge.models.reading.fields import Fields, Unparsed, is_exact
from trecjudge.models.reading.reasoning import without_reasoning

__all__ = ["Fields", "Unparsed", "is_exact", "without_reasoning"]
