"""Reading a reply: reasoning cut off, exactly one distinct set of fields, unmistakable values.

Both forms of a reply, JSON and field markers, are read in the same way, whichever was asked for.
"""

from trecjudge.models.reading.fields import (
    BareReplies,
    Fields,
    Unparsed,
    close_cut_list,
    is_exact,
    loop_at_end,
)
from trecjudge.text.reasoning import without_reasoning

__all__ = [
    "BareReplies",
    "Fields",
    "Unparsed",
    "close_cut_list",
    "is_exact",
    "loop_at_end",
    "without_reasoning",
]
