from __future__ import annotations

from pathlib import Path

import pytest

from trecjudge.text.calibration import read_calibration
from trecjudge.text.frequencies import Frequencies, read_frequencies

TABLE = Frequencies.of(100, {"the": 100, "world": 20, "lyon": 2})


@pytest.mark.parametrize(
    ("form", "written", "weight"),
    [
        pytest.param("the", "the", 0.0, id="in every passage"),
        pytest.param("world", "world", 0.411, id="log(5) of log(50)"),
        pytest.param("lyon", "Lyon", 1.0, id="rarest of the table"),
        pytest.param("quark", "quark", 1.0, id="outside the table"),
        pytest.param("12", "12", 1.0, id="number"),
        pytest.param("und", "und", 0.3, id="short word outside the table"),
        pytest.param("ncaa", "NCAA", 1.0, id="four letters"),
        pytest.param("fbi", "FBI", 1.0, id="short name"),
        pytest.param("और", "और", 0.3, id="short word without case"),
        pytest.param("东京", "东京", 1.0, id="Han bigram"),
        pytest.param("的首", "的首", 0.5, id="Han bigram with grammar"),
        pytest.param("では", "では", 0.5, id="hiragana"),
    ],
)
def test_weight(form: str, written: str, weight: float) -> None:
    assert TABLE.weight(form, written) == pytest.approx(weight, abs=0.001)


def test_table_is_read_as_written(tmp_path: Path) -> None:
    counts = {"the": 9, "of": 9, "lyon": 2}
    path = tmp_path / "frequencies.txt"
    path.write_text(format_frequencies(10, counts), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "10\n9 of the\n2 lyon\n"
    assert read_frequencies(path) == Frequencies.of(10, counts)


def test_shipped_table_has_words_only() -> None:
    shipped = read_frequencies()
    assert len(shipped.counts) == 3000
    assert all(form.isalpha() for form in shipped.counts)
    assert max(shipped.counts.values()) <= shipped.passages


def test_shipped_calibration_is_in_order() -> None:
    shipped = read_calibration()
    assert 0 < shipped.partial_from < shipped.full_from < 1
    assert 0 <= shipped.document_share <= 1
    assert shipped.missing_names >= 0
    assert 0 < shipped.contradicted_below_full < shipped.full_from - shipped.partial_from


@pytest.mark.parametrize(
    ("content", "error"),
    [
        pytest.param('{"partial_from": 0.3}', KeyError, id="not said how"),
        pytest.param('{"how": [], "partial_from": 0.3}', TypeError, id="number missing"),
        pytest.param('{"how": [], "partly_from": 0.3}', TypeError, id="number unknown"),
    ],
)
def test_broken_calibration(tmp_path: Path, content: str, error: type[Exception]) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(error):
        read_calibration(path)
