"""The layouts of leaderboard files: which column holds what, and how a layout is recognised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trecjudge.errors import InputError, unknown
from trecjudge.findings import Finding, OnFinding
from trecjudge.records import Place
from trecjudge.results.trec import ALL, number_of

RUN, TOPIC, MEASURE, VALUE = "run", "topic", "measure", "value"

COLUMN_NAMES: Mapping[str, str] = {
    name: column
    for column, names in {
        RUN: "run run_id runid run_tag system generation_system_id",
        TOPIC: "topic topic_id query query_id qid request_id narrative_id",
        MEASURE: "measure metric metric_name",
        VALUE: "value score mean",
    }.items()
    for name in names.split()
}
"""The names of columns in headers and in JSON objects."""


@dataclass(frozen=True, slots=True)
class LeaderboardLayout:
    """A format: the order of its columns, what separates them, and its header when written."""

    name: str
    columns: tuple[str, ...]
    separator: str | None = None
    """None for any white space."""
    header: str = ""

    @property
    def by_file(self) -> bool:
        """Whether each file holds one run, and is named after it."""
        return RUN not in self.columns


LAYOUTS: Mapping[str, LeaderboardLayout] = {
    layout.name: layout
    for layout in (
        LeaderboardLayout("ir_measures", (RUN, TOPIC, MEASURE, VALUE)),
        LeaderboardLayout("tot", (RUN, MEASURE, TOPIC, VALUE)),
        LeaderboardLayout("trec_eval", (MEASURE, TOPIC, VALUE)),
        LeaderboardLayout(
            "rag4reports",
            (TOPIC, RUN, MEASURE, VALUE),
            header="topic_id\tgeneration_system_id\tmetric_name\tscore\n",
        ),
        LeaderboardLayout("jsonl", (RUN, TOPIC, MEASURE, VALUE)),
        LeaderboardLayout(
            "csv", (RUN, TOPIC, MEASURE, VALUE), separator=",", header="run,topic,measure,value\n"
        ),
    )
}
AUTO = "auto"
# The order of four columns is shown by the one that holds `all`.
BY_PLACE_OF_ALL = {0: "rag4reports", 1: "ir_measures", 2: "tot"}


def layout_named(name: str) -> LeaderboardLayout | None:
    """Return a layout, None for `auto`. Raises InputError for an unknown name."""
    if name == AUTO:
        return None
    if name not in LAYOUTS:
        raise InputError(unknown("leaderboard format", name, [AUTO, *LAYOUTS]))
    return LAYOUTS[name]


def header_columns(cells: Sequence[str]) -> tuple[str, ...] | None:
    """Return the columns that a first line names, or None if it is no header.

    A column of another name is empty text; there may be any number of them, but no number.
    """
    named = [COLUMN_NAMES.get(cell.strip().lower(), "") for cell in cells]
    known = [name for name in named if name]
    needed = {TOPIC, MEASURE, VALUE}
    is_header = needed <= set(known) and len(set(known)) == len(known)
    has_number = any(number_of(cell) is not None for cell in cells)
    return tuple(named) if is_header and not has_number else None


def layout_of(
    path: str, rows: Iterable[tuple[int, Sequence[str]]], report: OnFinding
) -> LeaderboardLayout:
    """Return the layout of lines without a header: by their number of columns, and where `all` is.

    Where `all` is the first of all four columns, a run may be called so: that is reported. Raises
    InputError where neither decides.
    """
    widths: set[int] = set()
    first: dict[int, Place] = {}
    in_all_lines = True
    for line, cells in rows:
        widths.add(len(cells))
        in_all_lines = in_all_lines and cells[:1] == [ALL]
        if len(cells) == 4 and ALL in cells:
            for column in [i for i, cell in enumerate(cells[:3]) if cell == ALL]:
                first.setdefault(column, Place(path, line))
    if 3 in widths and 4 not in widths:
        return LAYOUTS["trec_eval"]
    choices = f"give one of {', '.join(LAYOUTS)} (--format, --truth-format)"
    if len(first) == 1:
        ((column, place),) = first.items()
        layout = LAYOUTS[BY_PLACE_OF_ALL[column]]
        if column == 0 and in_all_lines:
            message = f"`all` is the first column of all lines: read as {layout.name}, where it is"
            message = f"{message} the topic of means, and no run; else {choices}"
            report(Finding("layout_assumed", place, message))
        return layout
    if first:
        where = " and ".join(f"column {column + 1} ({first[column]})" for column in sorted(first))
        message = f"`all` is in {where}: a run or a measure may be called so; {choices}"
        raise InputError(f"{first[min(first)].path}: {message}")
    message = f"neither a header nor `all` rows show its format; {choices}"
    raise InputError(f"{path}: {message}")
