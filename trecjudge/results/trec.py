"""TREC files: leaderboard and qrels lines, written and read.

A column must hold no white space, so in ids white space, control characters and `%` are
percent-encoded as UTF-8 when written, and decoded when read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, shown, unreported
from trecjudge.inputs.packed import Group, PackedRows
from trecjudge.inputs.sources.containers import first_line, lines
from trecjudge.inputs.sources.values import objects
from trecjudge.measures import DIGITS, UNJUDGED
from trecjudge.records import Place
from trecjudge.results.graded_records import graded_records, is_graded_records

ALL = "all"
LONGEST_ROW = 1000
"""Columns of a line that are counted."""
ENCODED_ALL = "%61ll"
"""A topic that is called `all`, as a column."""
NO_RUN = {"0", "1", "Q0", "q0"}
"""What the second column of classic qrels holds."""
ODD = re.compile(r"[\s%\x00-\x1f\x7f-\x9f]")
"""Characters that are percent-encoded in a column."""


class LeaderboardRow(NamedTuple):
    """One line of a leaderboard; `topic_id` is None in the `all` rows."""

    run_id: str
    topic_id: str | None
    measure: str
    value: float


@dataclass(frozen=True, slots=True)
class QrelsRow:
    """One line of a qrels file; `iteration` is the second column: `0`, `Q0` or a run."""

    topic_id: str
    iteration: str
    doc_id: str
    grade: int


@dataclass(slots=True)
class _Grades:
    """The grades of a file, held packed as they come; contradictions are reported at its end."""

    path: Path
    rows: PackedRows = field(default_factory=PackedRows)
    """(doc_id, grade, line) by (topic_id, run_id or no text)"""

    def add(self, line: int | None, row: QrelsRow, grade: float) -> None:
        """Add a grade."""
        run_id = "" if row.iteration in NO_RUN else row.iteration
        self.rows.add((row.topic_id, run_id), (row.doc_id, grade, line))

    def report_others(self, report: OnFinding) -> None:
        """Report documents that have two different grades on one topic, or for one run of it."""
        found = [finding for group in self.rows for finding in self._others(group)]
        for finding in sorted(found, key=lambda one: one.place.line or 0):
            report(finding)

    def _others(self, group: Group) -> Iterator[Finding]:
        topic_id, run_id = group
        seen: dict[str, tuple[float, int | None]] = {}
        for doc_id, grade, line in self.rows.rows(group):
            first, where = seen.setdefault(doc_id, (grade, line))
            if first != grade:
                places = [Place(str(self.path), number) for number in (line, where)]
                what = f"topic {topic_id!r}, {f'run {run_id!r}, ' if run_id else ''}document"
                message = f"gives {what} {doc_id!r} {grade:g}, {places[1]} gives it {first:g}"
                message = f"{message}: the highest counts"
                about = f"{grade:g}", None, run_id, topic_id
                yield Finding("grade_duplicate", places[0], message, *about)


def encode(column: str) -> str:
    """Return an id that fits in one column: `a b` -> `a%20b`."""
    return ODD.sub(lambda match: quote(match[0], safe=""), column)


def leaderboard_line(row: LeaderboardRow) -> str:
    """Return `run topic measure value`, tab-separated, six decimals; a count of items has none.

    A value that is not finite would be a bug of ours: AssertionError.
    """
    assert math.isfinite(row.value), row
    topic = ALL if row.topic_id is None else encode_topic(row.topic_id)
    value = f"{row.value:.0f}" if row.measure.endswith(UNJUDGED) else f"{row.value:.{DIGITS}f}"
    return f"{encode(row.run_id)}\t{topic}\t{row.measure}\t{value}\n"


def companion(row: LeaderboardRow, items: int) -> LeaderboardRow:
    """Return the row beside a row that counts its unjudged items."""
    return row._replace(measure=f"{row.measure}{UNJUDGED}", value=float(items))


def decode(column: str) -> str:
    """Return an id as it was before `encode`; a column that `encode` did not write is unchanged."""
    if "%" not in column:
        return column
    found = unquote(column)
    return found if encode(found) == column else column


def encode_topic(topic_id: str) -> str:
    """Return a topic id as a column; a topic that is called `all` must not pass for the mean."""
    return ENCODED_ALL if topic_id == ALL else encode(topic_id)


def decode_topic(column: str) -> str:
    """Return a topic id as it was before `encode_topic`."""
    return ALL if column == ENCODED_ALL else decode(column)


def qrels_line(row: QrelsRow) -> str:
    """Return `topic iteration doc grade`, separated by single spaces."""
    columns = (row.topic_id, row.iteration, row.doc_id)
    return f"{' '.join(map(encode, columns))} {row.grade}\n"


def read_qrels(path: Path, report: OnFinding) -> Iterator[QrelsRow]:
    """Yield the rows of a qrels file, of lines or JSON, with anything in the second column.

    Two grades of one document on a topic, or of one run's, are reported at the end.
    """
    seen = _Grades(path)
    for place, ids, grade in _grades(path, report):
        try:
            row = QrelsRow(*ids, _grade(grade))
        except ValueError:
            report(Finding("row_unreadable", place, f"has grade {grade!r}", grade))
        else:
            seen.add(place.line, row, row.grade)
            yield row
    seen.report_others(report)


def read_grades(path: Path, report: OnFinding) -> dict[str, dict[str, int]]:
    """Return the grades of a qrels file by topic and document: of each pair the highest.

    Raises InputError if there is none.
    """
    if path.is_dir() or not path.exists():
        message = "is a folder; give a qrels file" if path.is_dir() else "no such qrels file"
        raise InputError(f"{path}: {message}")
    grades: dict[str, dict[str, int]] = {}
    for row in read_qrels(path, report):
        of_topic = grades.setdefault(row.topic_id, {})
        of_topic[row.doc_id] = max(row.grade, of_topic.get(row.doc_id, row.grade))
    if not grades:
        raise InputError(
            f"{path}: no grades in it; give lines of topic, iteration, doc, grade,"
            " JSON of {topic: {doc: grade}}, or UMBRELA's records with qid and docid"
        )
    return grades


def read_decimal_qrels(path: Path, report: OnFinding) -> Iterator[tuple[QrelsRow, float]]:
    """Yield (row, grade) of a qrels file whose grades may be decimal; the row's is rounded.

    Two grades of one document are reported as by `read_qrels`.
    """
    seen = _Grades(path)
    for place, ids, written in _grades(path, report):
        grade = number_of(written)
        if grade is None:
            report(Finding("row_unreadable", place, f"has grade {written!r}", written))
        else:
            # Half goes up; round() would make 0.5 a 0 and 1.5 a 2.
            row = QrelsRow(*ids, math.floor(grade + 0.5))
            seen.add(place.line, row, grade)
            yield row, grade
    seen.report_others(report)


def is_json_qrels(path: Path) -> bool:
    """Return whether a file begins with a JSON object of {topic: {doc: grade}}."""
    if not first_line(path).lstrip().startswith(b"{"):
        return False
    first = next(objects(path, unreported), (0, {}))[1]
    return bool(first) and all(
        isinstance(graded, dict) and not any(isinstance(g, dict | list) for g in graded.values())
        for graded in first.values()
    )


def _grades(path: Path, report: OnFinding) -> Iterator[tuple[Place, tuple[str, str, str], str]]:
    """Yield (place, (topic, iteration, doc), grade as written) of each row."""
    if is_graded_records(path):
        yield from graded_records(path, report)
        return
    if not is_json_qrels(path):
        for place, (*ids, grade) in _columns(path, 4, report):
            topic_id, iteration, doc_id = map(decode, ids)
            yield place, (topic_id, iteration, doc_id), grade
        return
    for number, record in objects(path, report):
        place = Place(str(path), number)
        for topic_id, graded in record.items():
            if not isinstance(graded, dict):
                message = f"has {shown(graded)} for topic {topic_id!r}, not {{doc: grade}}"
                report(Finding("row_unreadable", place, message, shown(graded)))
                continue
            for doc_id, grade in graded.items():
                whole = isinstance(grade, float) and grade.is_integer()
                yield place, (topic_id, "0", doc_id), str(int(grade) if whole else grade)


def _grade(text: str) -> int:
    if "_" in text:  # Python reads 1_0 as 10
        raise ValueError(text)
    return int(text)


def number_of(text: str) -> float | None:
    """Return a finite number, `True` and `False` as 1 and 0, or None for anything else."""
    if "_" in text:
        return None
    try:
        # Figures of yes or no come as `True` from pandas and as `true` from JSON.
        value = {"true": 1.0, "false": 0.0}.get(text.lower())
        value = float(text) if value is None else value
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _columns(path: Path, wanted: int, report: OnFinding) -> Iterable[tuple[Place, list[str]]]:
    for number, line in lines(path, report):
        place = Place(str(path), number)
        try:
            columns = line.decode().split(None, LONGEST_ROW)
        except UnicodeDecodeError as bad:
            message = f"is not UTF-8 at byte {bad.start}"
            report(Finding("row_unreadable", place, message, shown(line)))
            continue
        if len(columns) == wanted:
            yield place, columns
        else:
            message = f"has {len(columns)} columns, not {wanted}"
            report(Finding("row_unreadable", place, message, " ".join(columns)))
