"""What judgments say at a glance."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import judgment
from trecjudge.records import FULL, NONE, PARTIAL, Failure
from trecjudge.show.tones import (
    MEANINGS,
    SIGNS,
    SentenceMarks,
    Tone,
    marks_of,
    together,
    tone,
    word,
)

CUT = Failure("cut", "")


@pytest.mark.parametrize(
    ("label", "fields", "expected", "shown"),
    [
        (FULL, {}, "good", "full_support"),
        (PARTIAL, {}, "part", "partial_support"),
        (NONE, {"exists": True, "citation": "1"}, "bad", "no_support"),
        (NONE, {"exists": False, "citation": "9"}, "missing", "missing document"),
        (NONE, {"exists": False}, "bad", "no_support"),
        (None, {"failure": CUT}, "unjudged", "unjudged"),
        (None, {"failure": CUT, "exists": False, "citation": "9"}, "unjudged", "unjudged"),
        ("ATTRIBUTED", {}, "good", "ATTRIBUTED"),
        ("CONTRADICTED", {}, "bad", "CONTRADICTED"),
        ("unsure", {}, "part", "unsure"),
        ("3", {}, "good", "grade 3"),
        ("too_long", {}, "plain", "too long"),
        (None, {}, "plain", ""),
    ],
)  # fmt: skip
def test_a_judgment(label: str | None, fields: dict[str, Any], expected: Tone, shown: str) -> None:
    found = judgment(label, **fields)
    assert (tone(found), word(found)) == (expected, shown)


def test_a_sentence_of_several() -> None:
    cases = [
        ([], "plain"),
        (["good", "good"], "good"),
        (["good", "bad"], "part"),
        (["part", "bad"], "part"),
        (["bad", "missing"], "bad"),
        (["missing", "missing"], "missing"),
        (["good", "unjudged"], "good"),
        (["missing", "unjudged"], "missing"),
        (["part", "unjudged", "good"], "part"),
        (["unjudged"], "unjudged"),
        (["bad", "unjudged"], "bad"),
        (["plain", "good"], "good"),
    ]
    wrong = [(tones, found) for tones, expected in cases if (found := together(tones)) != expected]
    assert not wrong


def test_what_is_unjudged_leaves_a_sentence_open() -> None:
    failed = [judgment(failure=CUT, judge="a", sentence_index=i) for i in (0, 1, 2)]
    judged = [judgment(FULL, judge="a"), judgment(NONE, judge="a", sentence_index=1)]
    other = judgment(NONE, judge="b")
    assert marks_of([*failed, *judged, other]) == {
        "a": SentenceMarks({0: "good", 1: "bad", 2: "unjudged"}, [0, 1]),
        "b": SentenceMarks({0: "bad"}, []),
    }


def test_every_tone_has_a_sign_of_its_own_and_a_word() -> None:
    assert set(SIGNS) == set(MEANINGS)
    assert len(set(SIGNS.values())) == len(SIGNS)
