"""The layouts of leaderboard files: which column holds what, and how a layout is recognised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trecjudge.errors import InputError, unknown
from trecjudge.results.trec import ALL

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
class Layout:
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


LAYOUTS: Mapping[str, Layout] = {
    layout.name: layout
    for layout in (
        Layout("ir_measures", (RUN, TOPIC, MEASURE, VALUE)),
        Layout("tot", (RUN, MEASURE, TOPIC, VALUE)),
        Layout("trec_eval", (MEASURE, TOPIC, VALUE)),
        Layout(
            "rag4reports",
            (TOPIC, RUN, MEASURE, VALUE),
            header="topic_id\tgeneration_system_id\tmetric_name\tscore\n",
        ),
        Layout("jsonl", (RUN, TOPIC, MEASURE, VALUE)),
        Layout(
            "csv", (RUN, TOPIC, MEASURE, VALUE), separator=",", header="run,topic,measure,value\n"
        ),
    )
}
AUTO = "auto"
# The order of four columns is shown by the one that holds `all`.
BY_PLACE_OF_ALL = {0: "rag4reports", 1: "ir_measures", 2: "tot"}


def layout_named(name: str) -> Layout | None:
    """Return a layout, None for `auto`. Raises InputError for an unknown name."""
    if name == AUTO:
        return None
    if name not in LAYOUTS:
        raise InputError(unknown("leaderboard format", name, [AUTO, *LAYOUTS]))
    return LAYOUTS[name]


def header_columns(cells: Sequence[str]) -> tuple[str, ...] | None:
    """Return the columns that a first line names, or None if it is no header.

    A column of another name is empty text; there may be any number of them.
    """
    named = [COLUMN_NAMES.get(cell.strip().lower(), "") for cell in cells]
    known = [name for name in named if name]
    needed = {TOPIC, MEASURE, VALUE}
    return tuple(named) if needed <= set(known) and len(set(known)) == len(known) else None


def layout_of(path: str, rows: Iterable[Sequence[str]]) -> Layout:
    """Return the layout of lines without a header: by their number of columns, and where `all` is.

    Raises InputError where neither decides.
    """
    widths, places = set(), set()
    for cells in rows:
        widths.add(len(cells))
        places |= {i for i, cell in enumerate(cells[:3]) if cell == ALL and len(cells) == 4}
    if 3 in widths and 4 not in widths:
        return LAYOUTS["trec_eval"]
    if len(places) == 1:
        return LAYOUTS[BY_PLACE_OF_ALL[places.pop()]]
    choices = ", ".join(LAYOUTS)
    raise InputError(
        f"{path}: neither a header nor `all` rows show its format; give one of {choices}"
        " (--format, --truth-format)"
    )
