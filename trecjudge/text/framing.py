"""What a sentence says of its own statement: that it is false, in doubt, supposed or asked."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from trecjudge.text.tables import expression, read_expressions

Kind = Literal["denied", "doubted", "supposed", "asked"]
_ASKED = re.compile(r"[?？؟][\"”’»)\]\s]*(?:\[[^\]]{0,40}\]\s*)*\Z")


class Frame(NamedTuple):
    """The kind of a frame, and its words as written; "?" of a question."""

    kind: Kind
    written: str


@cache
def _expressions() -> dict[Kind, re.Pattern[str]]:
    sections = read_expressions(Path(__file__).with_name("frames.txt"))
    kinds: dict[str, Kind] = {"denied": "denied", "doubted": "doubted", "supposed": "supposed"}
    return {
        kinds[section.name]: expression("|".join(section.expressions), re.IGNORECASE)
        for section in sections
    }


@lru_cache(maxsize=4096)
def frame_of(sentence: str) -> Frame | None:
    """Return the frame of a sentence that does not assert its statement, None of any other."""
    for kind, pattern in _expressions().items():
        if found := pattern.search(sentence):
            return Frame(kind, " ".join(found[0].split()))
    return Frame("asked", "?") if _ASKED.search(sentence) else None
