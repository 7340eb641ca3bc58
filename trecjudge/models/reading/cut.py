"""Replies that were cut: the loop at their end, and the part of a list that is whole."""

from __future__ import annotations

from dataclasses import dataclass

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


OPENING = {"{": "}", "[": "]"}
CLOSING = frozenset(OPENING.values())


@dataclass(slots=True)
class _OpenBracket:
    """A bracket that is not closed yet: what closes it, and where its last whole object ends."""

    closing: str
    end: int = 0


def close_cut_list(reply: str) -> str | None:
    """Return a reply that was cut, up to the last whole object of its outermost list, and closed.

    None where nothing is open at its end, where that list has no whole object, and where brackets
    do not match.
    """
    inside: list[_OpenBracket] = []
    in_text = escaped = False
    for place, character in enumerate(reply):
        if in_text:
            if character == '"' and not escaped:
                in_text = False
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_text = bool(inside)  # outside of brackets it is prose
        elif character in OPENING:
            inside.append(_OpenBracket(OPENING[character]))
        elif character in CLOSING:
            if not inside or inside.pop().closing != character:
                return None
            if character == "}" and inside and inside[-1].closing == "]":
                inside[-1].end = place + 1
    for depth, bracket in enumerate(inside, 1):
        if bracket.closing == "]":
            rest = "".join(one.closing for one in reversed(inside[:depth]))
            return reply[: bracket.end] + rest if bracket.end else None
    return None
