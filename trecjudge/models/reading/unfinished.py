"""A reply that was cut within a list of objects, closed behind the last one that is whole."""

from __future__ import annotations

from dataclasses import dataclass

OPENING = {"{": "}", "[": "]"}
CLOSING = frozenset(OPENING.values())


@dataclass(slots=True)
class _Open:
    """A bracket that is not closed yet: what closes it, and where its last whole object ends."""

    closing: str
    end: int = 0


def closed(reply: str) -> str | None:
    """Return a reply that was cut, up to the last whole object of its outermost list, and closed.

    None where nothing is open at its end, where that list has no whole object, and where brackets
    do not match.
    """
    inside: list[_Open] = []
    in_text = escaped = False
    for place, character in enumerate(reply):
        if in_text:
            if character == '"' and not escaped:
                in_text = False
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_text = bool(inside)  # outside of brackets it is prose
        elif character in OPENING:
            inside.append(_Open(OPENING[character]))
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
