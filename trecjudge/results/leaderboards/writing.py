"""The layouts of leaderboard files, and rows written in any of them."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from trecjudge.errors import InputError, OutputError, unknown
from trecjudge.files import open_target, whole
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.sources.comma_separated import FORMULA, MARK, remove_formula_mark
from trecjudge.records import Place
from trecjudge.results.trec import (
    ALL,
    LeaderboardRow,
    columns_of,
    encode,
    number_of,
    percent,
    topic_in_json,
)

RUN, TOPIC, MEASURE, VALUE = "run", "topic", "measure", "value"

# The layouts of leaderboard files: which column holds what, and how a layout is recognised.
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
    choices = f"give one of {', '.join(LAYOUTS)} (--format, of a truth --format truth=)"
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


# CSV that a spreadsheet takes for text and numbers, and never for formulas.
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
# Semicolons too: in many countries spreadsheets separate columns by them.
QUOTED = {",": re.compile(r"[,;\"\t\r\n]"), "\t": re.compile(r"^\"|[\t\r\n]")}
"""What is quoted in a cell, by what separates cells."""


def csv_line(cells: Iterable[str], separator: str = ",") -> str:
    """Return a line of CSV, or of TSV; what a spreadsheet would calculate has a `'` before it."""
    return separator.join(_cell(cell, QUOTED[separator]) for cell in cells) + "\n"


def csv_cells(line: str, delimiter: str = ",") -> list[str]:
    """Return the cells of a line of CSV as they were before `csv_line`; none where it is broken."""
    try:
        cells = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []
    return list(map(remove_formula_mark, cells))


def _cell(text: str, quoted: re.Pattern[str]) -> str:
    if FORMULA.match(text) and not NUMBER.fullmatch(text):
        text = MARK + text
    if not quoted.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


# Writes leaderboard rows in any format of the field.
LONGEST_NAME = 200
"""Bytes of a file's name: file systems take 255, and a temporary name is longer than it."""
# A leading dot would hide a file, `..` leave the folder, and `.gz` pass for packed. The rest is
# nothing that every file system takes: signs, a dot at the end, and names of devices.
UNSAFE = re.compile(
    r'[/\\:*?"<>|]|^\.|\.$|\.(?=(?:gz|bz2|xz|zst)$)'
    r"|^(?:c(?=on\b|om\d\b)|p(?=rn\b)|a(?=ux\b)|n(?=ul\b)|l(?=pt\d\b))",
    re.IGNORECASE,
)


def write_rows(
    rows: Iterable[LeaderboardRow], target: Path, layout: LeaderboardLayout
) -> list[Path]:
    """Write rows to `target`, for trec_eval a folder with one file a run; return the files.

    Raises OutputError if they cannot be written.
    """
    if not layout.by_file:
        with open_target(target) as file:
            file.writelines(line.encode() for line in texts(rows, layout))
        return [target]
    runs: dict[str, list[LeaderboardRow]] = defaultdict(list)
    for row in rows:
        runs[row.run_id].append(row)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{target}: no folder for one file a run: {error.strerror or error}"
        raise OutputError(message) from error
    names: dict[str, str] = {}
    for run_id in runs:
        names[run_id] = _file_name(run_id, {_fold_name(name) for name in names.values()})
    for run_id, name in names.items():
        with whole(target / name) as file:
            file.writelines(line.encode() for line in texts(runs[run_id], layout))
    return [target / name for name in names.values()]


def _file_name(run_id: str, taken: Collection[str]) -> str:
    """Return a run's id as the name of a file in the folder, which is read back as that id.

    It is none of those `taken`, in any case and normal form of its letters.
    """
    name = UNSAFE.sub(percent, encode(run_id))
    name = name if _fold_name(name) not in taken else re.sub(r"(?s).", percent, run_id)
    if len(name.encode()) > LONGEST_NAME:
        raise OutputError(f"run {run_id!r}: too long for the name of a file; give another format")
    return name


def _fold_name(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def texts(rows: Iterable[LeaderboardRow], layout: LeaderboardLayout) -> Iterator[str]:
    """Yield the lines of a layout; numbers with all their digits."""
    yield layout.header
    for row in rows:
        if layout.name == "jsonl":
            yield orjson.dumps(_record(row), option=orjson.OPT_APPEND_NEWLINE).decode()
            continue
        run_id, topic, measure = columns_of(row)
        # The shortest text that reads back as the same number.
        named = {RUN: run_id, TOPIC: topic, MEASURE: measure, VALUE: repr(row.value)}
        cells = [named[column] for column in layout.columns]
        yield csv_line(cells) if layout.separator == "," else "\t".join(cells) + "\n"


def _record(row: LeaderboardRow) -> dict[str, object]:
    """Return a row by name, ids as they are; a topic called `all` is not the mean."""
    named = {"run_id": row.run_id, "topic_id": topic_in_json(row.topic_id)}
    return named | {"measure": row.measure, "value": row.value}
