"""Recognises a reply that repeats itself for ever: more tokens would not end it."""

from __future__ import annotations

LEAST_TIMES = 6
"""How often a text must be repeated: several claims may well have the same quote."""
LEAST_CHARACTERS = 300
"""Characters that the repeated texts must have together: 30 equal labels in a list have fewer."""
LOOKED_AT = 20_000
"""Characters at the end of a reply that are looked at."""
BROKEN = "\ufffd"
"""What a server makes of a character that was cut in half."""


def loop_at_end(reply: str) -> str:
    """Return the text that the end of a reply repeats, to its last character; "" if none.

    It is the shortest such text, and begins wherever the reply was cut. Lists whose entries differ
    in a number repeat nothing.
    """
    end = reply.rstrip(BROKEN)[-LOOKED_AT:]
    for period in range(1, len(end) // LEAST_TIMES + 1):
        length = max(LEAST_CHARACTERS, LEAST_TIMES * period)
        if len(end) >= length and end.endswith(end[-length:-period]):
            return end[-period:]
    return ""
