"""Columns that repeat another one are told in a line, and not shown."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.cli.jobs import BAD, GOOD, job
from tests.commandline import command
from trecjudge.results.statistics import RunScore
from trecjudge.show.folding import fold_equal, mean_cells

RUNS = {"r": [GOOD, GOOD], "s": [BAD, BAD], "t": [GOOD, BAD]}


@pytest.mark.parametrize(
    ("columns", "kept", "lines"),
    [
        ({"A": [1, 2], "B": [2, 2]}, ["A", "B"], []),
        ({"A": [1, 2], "B": [1, 2]}, ["A"], ["B is the same as A in all 2 rows"]),
        (
            {"A": [1, 2], "B": [3, 3], "C": [1, 2], "D": [1, 2]},
            ["A", "B"],
            ["C, D are the same as A in all 2 rows"],
        ),
        ({"A": [1], "B": [1]}, ["A", "B"], []),
        (
            {"A": [1, 2], "B": [None] * 2, "C": [None] * 2},
            ["A"],
            ["no value in any of 2 rows: B, C"],
        ),
        ({"A": [None] * 2, "B": [None, 1]}, ["A", "B"], []),
    ],
    ids=["none", "one", "several", "a single row", "no values", "the first stays"],
)
def test_equal_columns(
    columns: Mapping[str, Sequence[Hashable]], kept: list[str], lines: list[str]
) -> None:
    assert fold_equal(columns) == (kept, lines)


def test_means_are_equal_to_the_digits_of_files_and_with_their_bounds() -> None:
    one, like, open_, none = mean_cells(
        RunScore("r", "M", mean, lowest=lowest, highest=highest)
        for mean, lowest, highest in (
            (0.5, 0.5, 0.5),
            (0.5000001, 0.5, 0.5),
            (0.5, 0.2, 0.9),
            (None, 0, 1),
        )
    )
    assert (one == like, one == open_, none) == (True, False, None)


def test_every_table_of_measures_folds(tmp_path: Path) -> None:
    path = job(tmp_path, "x", RUNS)
    same = "CITATION_SUPPORT, SENTENCE_SUPPORT"
    out = command("rescore", path, "--measures", "all").out
    line = "PERFECT_CITATIONS, SENTENCE_SUPPORT are the same as CITATION_SUPPORT in all 3 rows"
    assert line in out.splitlines()
    assert same not in out.split(line)[0]
    page = tmp_path / "t.md"
    command("convert", path, page, "--to", "markdown", "--all-measures")
    assert line.replace("_", "\\_") in page.read_text()
    assert "SENTENCE_SUPPORT are the same" in command("compare", path, "--against", "t").out
    truth = command("meta-evaluate", path, "--truth", path).out
    assert "SENTENCE_SUPPORT are the same as CITATION_SUPPORT in all 3 rows" in truth
