"""What a sentence says of its own statement: that it is false, in doubt, supposed or asked."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from trecjudge.text.forms import word_form
from trecjudge.text.tables import expression, read_expressions

Kind = Literal["denied", "doubted", "supposed", "asked"]
_ASKED = re.compile(r"[?？؟][\"”’»)\]\s]{0,9}(?:\[[^\]]{0,40}\]\s*){0,9}\Z")


class Frame(NamedTuple):
    """The kind of a frame, and its words as written; "?" of a question."""

    kind: Kind
    written: str


class _Table(NamedTuple):
    """The expressions by kind, and the forms of which plain text with one of them has some."""

    expressions: dict[Kind, re.Pattern[str]]
    anchors: frozenset[str]


@cache
def _table() -> _Table:
    sections = read_expressions(Path(__file__).with_name("frames.txt"))
    lines = {section.name: section.expressions for section in sections}
    kinds: tuple[Kind, ...] = ("denied", "doubted", "supposed")
    return _Table(
        {kind: expression("|".join(lines[kind]), re.IGNORECASE) for kind in kinds},
        frozenset(word_form(word) for line in lines["anchors"] for word in line.split()),
    )


def frame_of(sentence: str, forms: Collection[str]) -> Frame | None:
    """Return the frame of a sentence that does not assert its statement, None of any other.

    `forms` are those of its words.
    """
    expressions, anchors = _table()
    if not (sentence.isascii() and anchors.isdisjoint(forms)):
        for kind, pattern in expressions.items():
            if found := pattern.search(sentence):
                return Frame(kind, " ".join(found[0].split()))
    return Frame("asked", "?") if _ASKED.search(sentence) else None
