"""The file of a card: what is read is what was written; other files are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from trecjudge.errors import InputError
from trecjudge.evaluation.trust.card import CardFigure, FixedAnswers, JudgeCard, read_card
from trecjudge.stats.resampling import Interval

FIGURES = (
    CardFigure("People", "kappa", 0.5, Interval(0.25, 0.75), 40, "labelled items"),
    CardFigure.not_measured("Calibration", "calibration error", "no labels of people"),
)
CARD = JudgeCard(
    {"judge": "citation", "model": {"base_url": "https://u:hush@example.org/v1"}},
    FIGURES,
    FixedAnswers(["r"], {"i": ("a", "b"), "j": ("a", None)}, {"M": {"r": 0.5}}),
)


def test_a_card_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.card.json"
    CARD.write(path)
    found = read_card(path)
    assert (found.figures, found.fixed) == (list(FIGURES), CARD.fixed)
    assert b"hush" not in path.read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"record": "job"}, "is no judge's card; give a NAME.card.json"),
        ({"format": 2}, "is a card of format 2, not 1; make it again"),
        ({"fixed": None}, "that was changed"),
        ({"fixed": {"responses": [], "answers": {"i": ["a"]}, "values": {}}}, "that was changed"),
        ({"fixed": {"responses": [], "answers": {}, "values": {"M": {"r": "x"}}}}, "was changed"),
        ({"figures": [{"name": "kappa"}]}, "that was changed"),
        ({"about": 3}, "that was changed"),
    ],
    ids=["a record", "a format", "nothing fixed", "one label", "no number", "half", "about"],
)
def test_what_is_no_card_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.card.json"
    path.write_bytes(orjson.dumps(CARD.as_dict() | change))
    with pytest.raises(InputError, match=message) as raised:
        read_card(path)
    assert str(raised.value).startswith(str(path))
