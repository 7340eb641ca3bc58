from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trecjudge.judging.offline.features import Features
from trecjudge.judging.offline.support import (
    Calibration,
    Weight,
    format_calibration,
    read_calibration,
    shipped_calibration,
)
from trecjudge.text.frequencies import Frequencies, frequency_lines

ZEROS = Features(*([0.0] * len(Features._fields)))
NOTHING = Weight(0.0, 1.0, 0.0, 0.0)


def simple(supported: float = 0.0, full: float = 0.0, **weights: Weight) -> Calibration:
    rows = tuple(weights.get(name, NOTHING) for name in Features._fields)
    return Calibration(rows, supported, full, Frequencies.of(1, {}), ("by hand",))


@pytest.mark.parametrize(
    ("calibration", "features", "expected"),
    [
        pytest.param(simple(), ZEROS, (0.5, 0.5), id="even odds"),
        pytest.param(simple(supported=-1.0), ZEROS, (0.269, 0.269), id="full is no likelier"),
        pytest.param(
            simple(words=Weight(0.0, 1.0, 2.0, 1.0)),
            ZEROS._replace(words=1.0),
            (0.881, 0.731),
            id="a unit of a feature",
        ),
        pytest.param(
            simple(words=Weight(0.0, 0.5, 2.0, 1.0)),
            ZEROS._replace(words=9.0),
            (0.731, 0.622),
            id="beyond the range",
        ),
        pytest.param(
            simple(words=Weight(0.5, 1.0, 2.0, 1.0)), ZEROS, (0.731, 0.622), id="below the range"
        ),
    ],
)
def test_probabilities(
    calibration: Calibration, features: Features, expected: tuple[float, float]
) -> None:
    assert calibration.probabilities(features) == pytest.approx(expected, abs=0.001)


def test_a_calibration_is_read_as_written(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    written = replace(shipped_calibration(), frequencies=Frequencies.of(9, {"lyon": 2, "the": 9}))
    path.write_text(format_calibration(written), encoding="utf-8")
    found = read_calibration(path)
    assert (found.weights, found.supported, found.full, found.how) == (
        *(written.weights, written.supported, written.full, written.how),
    )
    assert frequency_lines(found.frequencies) == frequency_lines(written.frequencies)


def test_the_shipped_calibration_says_how_and_has_the_signs_of_its_names() -> None:
    shipped = shipped_calibration()
    weights = dict(zip(Features._fields, shipped.weights, strict=True))
    assert any("tau-b" in line for line in shipped.how)
    for name in ("document", "passage", "words", "beginning", "weakest_part", "names", "run"):
        assert min(weights[name].supported, weights[name].full) >= 0
    for name in ("numbers_missing", "names_missing", "turned", "hedge_dropped"):
        assert max(weights[name].supported, weights[name].full) <= 0


def shipped_content(**changes: Any) -> str:
    content = json.loads(format_calibration(shipped_calibration()))
    return json.dumps({key: value for key, value in (content | changes).items() if value})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("{", "is no calibration", id="no JSON"),
        pytest.param("[1]", "is no calibration", id="an array"),
        pytest.param('{"partial_from": 0.3}', "`calibrate --out FILE` wrote", id="another file"),
        pytest.param(shipped_content(how=None), "KeyError: 'how'", id="not said how"),
        pytest.param(
            shipped_content(features={"luck": {}}), "of other features", id="other features"
        ),
        pytest.param(
            shipped_content(intercept={"supported": "1e999", "full": 0}),
            "'1e999' is not a number",
            id="text for a number",
        ),
        pytest.param(
            shipped_content(intercept={"supported": True, "full": 0}),
            "True is not a number",
            id="true for a number",
        ),
        pytest.param(
            shipped_content(intercept={"supported": 10**400, "full": 0}),
            "is no calibration",
            id="huge",
        ),
        pytest.param(
            shipped_content(frequencies=["100", "0 foo"]), "0 of 100 passages have 'foo'", id="0"
        ),
        pytest.param(shipped_content(frequencies="100"), "not a list of lines", id="text as table"),
        pytest.param(f"[{'[],' * 1_100_000}[]]", "more than 100,000 entries", id="too many"),
        pytest.param("[" * 100_000, "is no calibration", id="nested too deep"),
        pytest.param(shipped_content(intercept=3), "TypeError", id="no intercepts"),
        pytest.param(shipped_content(frequencies=["x"]), "invalid literal", id="no table"),
    ],
)
def test_what_is_no_calibration(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_calibration(path)
