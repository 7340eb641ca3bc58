"""The line between what is answered and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from trecjudge.baseline.retrieve.ranking import (
    Threshold,
    read_threshold,
    threshold_for,
    write_threshold,
)
from trecjudge.errors import InputError

LINE = Threshold(0.25, "top BM25 over idf", "docs.index", "v1", 3, 2)


@pytest.mark.parametrize(
    ("answerable", "others", "least"),
    [
        ([0.5, 0.3, 0.4], [], 0.3),
        ([0.5, 0.3, 0.4], [0.1, 0.2], 0.3),
        ([0.9, 0.8, 0.1], [0.2, 0.3, 0.4], 0.8),
        ([0.5], [0.9], 0.5),
    ],
    ids=["answerable only", "apart", "one lost for three refused", "the wrong way round"],
)
def test_the_threshold_keeps_and_refuses_most(
    answerable: list[float], others: list[float], least: float
) -> None:
    assert threshold_for(answerable, others) == least


def test_no_answerable_question_gives_no_threshold() -> None:
    with pytest.raises(ValueError):
        threshold_for([])


def test_a_threshold_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_threshold(tmp_path / "t.json", LINE)
    assert read_threshold(tmp_path / "t.json") == LINE


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is no JSON"), ("[]", "has not the fields"), ('{"least": 1}', "has not the fields")],
)
def test_a_file_that_is_no_threshold_is_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_threshold(tmp_path / "t.json")


def test_a_threshold_of_another_index_is_refused() -> None:
    LINE.check(LINE.by, "docs.index")
    with pytest.raises(InputError, match=r"of the index 'docs.index', not of 'x.index'"):
        LINE.check(LINE.by, "x.index")
