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
from trecjudge.show.tables import table as make_table

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


REAL = [
    "splade.trec_rag_2024.decomp_false.rerank-Qwen3-Reranker-8B.setr-100-gemma-3-27b-it.trec",
    "splade.trec_rag_2025.decomp_true-FUSED.setr-100-gemma-3-27b-it.trec",
    "splade.trec_rag_2025.decomp_true.rerank-Qwen3-Reranker-8B-FUSED.setr-100-gemma-3-27b-it.trec",
    "AgenticRAG_agent_miniblame",
    "AgenticRAG_selector_miniblame",
    "fs_rank-qwen3-32b_ag-qwen3-32b-top50",
    "fs_rank-qwen3-32b_ag-qwen3-32b",
    "rag25hy_top50",
    "rag25hy_top50_v3",
]
"""Names of runs of TREC RAG 2025."""


@pytest.mark.parametrize("width", [12, 16, 25])
def test_names_show_where_they_differ_and_no_number_is_needed(width: int) -> None:
    forms = NumberedForms(width)
    for short in (disambiguate(REAL, width), [forms.of(name) for name in REAL]):
        assert len(set(short)) == len(REAL)
        assert not any(form.endswith("…2") for form in short)


def test_a_shown_name_differs_from_those_that_are_not_shown() -> None:
    agent, selector = REAL[3:5]
    assert disambiguate([agent], 16) == ["AgenticR…niblame"]
    assert disambiguate([agent], 16, among=[selector, agent]) == ["Agen…agent_mini…"]
    column = TextColumn("run", [agent], True, True, least=12, among=[selector])
    wide = TextColumn("MEASURE", ["x" * 60])
    assert "agent_" in printed(TextTable([column, wide]), 80)[1]


def test_spare_columns_give_way_before_a_name_is_shortened() -> None:
    def lines(width: int) -> list[str]:
        names = TextColumn("run", REAL[3:5], True, True, least=12)
        spare = [
            TextColumn("responses", ["8/8"] * 2, spare="first"),
            TextColumn("copied", ["50 %"] * 2, spare="first"),
            TextColumn("rank 95 %", ["1-2"] * 2, spare="last"),
        ]
        return printed(TextTable([names, TextColumn("MEAN", ["0.5"] * 2), *spare]), width)

    assert not any("no room" in line for line in lines(70))
    assert lines(55)[-1] == "no room for copied: --wide"
    assert lines(45)[-1] == "no room for responses, copied: --wide"
    assert all(name in "\n".join(lines(45)) for name in REAL[3:5])
    assert "rank" in lines(30)[0] and "…" in lines(30)[-2]
    assert lines(20)[-1] == "no room for responses, copied, rank 95 %: --wide"


def test_names_of_measures_stand_in_lines_and_are_never_cut() -> None:
    rows = [("WEIGHTED_PRECISION", REAL[4], "0.8244", "0.735 to 0.877")]
    made = make_table(("measure", "after", "value", "95 % over topics"), rows, left=2)
    lines = printed(made, 50)
    assert [line.split()[0] for line in lines[-2:]] == ["WEIGHTED_", "PRECISION"]
    assert max(map(cell_len, lines)) <= 50
    assert printed(made, 80)[-1].startswith("WEIGHTED_PRECISION  AgenticRAG_selector_miniblame")


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
