"""Tables that fit the terminal: names shortened, headers whole, no number cut."""

from __future__ import annotations

import io
import re
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.cli.jobs import BAD, GOOD, job
from tests.commandline import command
from trecjudge.findings import plural
from trecjudge.results.statistics import RunScore
from trecjudge.show.charts import short_names
from trecjudge.show.tables import (
    NumberedForms,
    TextColumn,
    TextTable,
    cut,
    disambiguate,
    fold_equal,
    mean_cells,
    shorten,
    stack_header,
    within,
)

NAMES = ["submod-ecards-v1-gpt4o-refined", "splade.2024.trec", "r", "日本語の長い名前の実行"]


def printed(table: TextTable, width: int, encoding: str = "utf-8") -> list[str]:
    """Return what a terminal of this width shows."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
    Console(file=file, width=width).print(table, soft_wrap=True)
    file.flush()
    return file.buffer.getvalue().decode(encoding).splitlines()  # type: ignore[attr-defined]


def measures(count: int, wide: bool = False) -> TextTable:
    names = TextColumn("run", NAMES, is_left=True, is_key=True, least=12)
    numbers = [
        TextColumn(f"MEASURE_{i}_OF_CITATIONS", [f"{100 + i}/125"] * len(NAMES))
        for i in range(count)
    ]
    return TextTable([names, *numbers], wide=wide)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("count", [1, 5, 17])
def test_a_table_fits_and_has_every_number_whole(width: int, count: int) -> None:
    lines = printed(measures(count), width)
    assert max(map(cell_len, lines)) <= width
    found = re.findall(r"\d+/125\b", "\n".join(lines))
    assert sorted(found) == sorted(f"{100 + i}/125" for i in range(count) for _ in NAMES)


def test_headers_are_parted_only_behind_a_line_or_a_blank() -> None:
    words = {word for line in printed(measures(5), 60) for word in line.split()}
    assert {"MEASURE_", "CITATIONS"} <= words
    assert not {"MEASUR", "CITATION"} & words


def test_a_wide_table_is_one_table_with_whole_names() -> None:
    lines = printed(measures(17, wide=True), 80)
    assert len(lines) == 1 + len(NAMES)
    assert lines[1].startswith(NAMES[0])


def test_a_terminal_without_an_ellipsis_has_three_points() -> None:
    lines = printed(measures(3), 60, "ascii")
    assert any("..." in line for line in lines)
    assert max(map(len, lines)) <= 60


@pytest.mark.parametrize(
    ("text", "width", "wanted"),
    [
        pytest.param("abcdef", 6, "abcdef", id="fits"),
        pytest.param("abcdefgh", 5, "ab…gh", id="middle"),
        pytest.param("abcdefgh", 6, "abc…gh", id="even"),
        pytest.param("日本語日本語", 7, "日…語", id="wide letters"),
        pytest.param("abc", 1, "…", id="no room"),
    ],
)
def test_names_are_shortened_in_the_middle(text: str, width: int, wanted: str) -> None:
    assert shorten(text, width) == wanted
    assert cell_len(wanted) <= width


def test_names_that_differ_in_the_middle_are_told_apart() -> None:
    names = ["splade.rag_2024.decom-gemma.trec", "splade.rag_2025.decom-gemma.trec", "other"]
    short = disambiguate(names, 12)
    assert (len(set(short)), short[2]) == (3, "other")
    assert "4.d" in short[0] and "5.d" in short[1]
    assert all(len(name) <= 12 for name in short)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["verylong" * 4 + "-a", "verylong" * 4 + "-b"], id="at the end"),
        pytest.param([f"{a}{'x' * 20}{b}{'y' * 20}z" for a in "ab" for b in "ab"], id="at two"),
        pytest.param(["x" * n for n in range(13, 40)], id="by their length"),
        pytest.param(["日" * n for n in range(7, 20)], id="of wide letters"),
        pytest.param(["ab…ef" + "g" * n for n in range(9)] + ["abc…ggg"], id="with a mark"),
    ],
)
@pytest.mark.parametrize("width", [9, 12, 30])
def test_different_names_never_look_the_same(names: list[str], width: int) -> None:
    forms = NumberedForms(width)
    for short in (
        disambiguate(names, width),
        [forms.of(name) for name in (*names, *names)][: len(names)],
    ):
        assert len(set(short)) == len(names)
        assert max(map(cell_len, short)) <= width
    assert [forms.of(name) for name in names] == [forms.of(name) for name in names]
    assert list(short_names(names, width).values()) == disambiguate(names, width)


def test_lines_and_headers() -> None:
    assert cut("a  long\nsentence", 8) == "a long…"
    assert stack_header("PERFECT_CITATIONS", 17) == ["PERFECT_CITATIONS"]
    assert stack_header("PERFECT_CITATIONS", 10) == ["PERFECT_", "CITATIONS"]
    assert stack_header("95 % over topics", 9) == ["95 % over", "topics"]
    assert within(["10 calls", "3 cached", "12345 tokens"], 20) == "10 calls, 3 cached"


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs")], ids=["none", "one", "two"]
)
def test_counted_nouns(number: int, text: str) -> None:
    assert plural(number, "run") == text


def test_a_tab_or_a_line_break_in_a_name_moves_no_cell() -> None:
    table = TextTable(
        [TextColumn("run", ["a\tb", "a\nb"], is_left=True), TextColumn("M", ["1", "2"])]
    )
    assert printed(table, 80) == ["run     M", "a\\x09b  1", "a\\x0ab  2"]


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
    out = command("job", "rescore", path, "--measures", "all").out
    line = "PERFECT_CITATIONS, SENTENCE_SUPPORT are the same as CITATION_SUPPORT in all 3 rows"
    assert line in out.splitlines()
    assert same not in out.split(line)[0]
    page = tmp_path / "t.md"
    command("job", "convert", path, page, "--to", "markdown", "--all-measures")
    assert line.replace("_", "\\_") in page.read_text()
    assert "SENTENCE_SUPPORT are the same" in command("compare", path, "--against", "t").out
    truth = command("judges", "meta", path, "--truth", path).out
    assert "SENTENCE_SUPPORT are the same as CITATION_SUPPORT in all 3 rows" in truth
