"""What judgments say at a glance."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import judgment
from trecjudge.records import FULL, NONE, PARTIAL, Failure
from trecjudge.report.tones import MEANINGS, SIGNS, Tone, together, tone, word

CUT = Failure("cut", "")


@pytest.mark.parametrize(
    ("label", "fields", "expected", "said"),
    [
        (FULL, {}, "good", "supports"),
        (PARTIAL, {}, "part", "supports in part"),
        (NONE, {"exists": True, "citation": "1"}, "bad", "does not support"),
        (NONE, {"exists": False, "citation": "9"}, "missing", "missing document"),
        (NONE, {"exists": False}, "bad", "does not support"),
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
def test_a_judgment(label: str | None, fields: dict[str, Any], expected: Tone, said: str) -> None:
    found = judgment(label, **fields)
    assert (tone(found), word(found)) == (expected, said)


@pytest.mark.parametrize(
    ("tones", "expected"),
    [
        ([], "plain"),
        (["good", "good"], "good"),
        (["good", "bad"], "part"),
        (["part", "bad"], "part"),
        (["bad", "missing"], "bad"),
        (["missing", "missing"], "missing"),
        (["good", "unjudged"], "part"),
        (["unjudged"], "unjudged"),
        (["bad", "unjudged"], "bad"),
        (["plain", "good"], "good"),
    ],
)
def test_a_sentence_of_several(tones: list[Tone], expected: Tone) -> None:
    assert together(tones) == expected


def test_every_tone_has_a_sign_of_its_own_and_a_word() -> None:
    assert set(SIGNS) == set(MEANINGS)
    assert len(set(SIGNS.values())) == len(SIGNS)
