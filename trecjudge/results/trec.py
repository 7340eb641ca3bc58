"""TREC files: leaderboard and qrels lines, written and read.

A column must hold no white space, and be seen. So in ids white space, control characters,
characters without width or ink and `%` are percent-encoded as UTF-8 when written, and decoded when
read. So is the first character of an id that means something in its column, such as `all`. An
empty id is `%`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from trecjudge.errors import InputError
from trecjudge.files import whole
from trecjudge.findings import Finding, OnFinding, brief, ignore
from trecjudge.inputs.labels.label_files import RANK, RUBRIC_RANK
from trecjudge.inputs.packed import Group, PackedRows
from trecjudge.inputs.sources.containers import first_line, lines
from trecjudge.inputs.sources.values import as_id, objects
from trecjudge.measures import DIGITS, UNJUDGED
from trecjudge.records import Judgment, Place, Response
from trecjudge.results.judgments import JudgmentsReader, QrelsForm
from trecjudge.text.visible import UNSEEN, UNSEEN_BEYOND

GRADE = "judgment"
NO_GRADE = "grade_missing"
"""The kind of finding that counts a document as unjudged."""
TOPIC_KEYS = ("qid", "query_id", "topic_id")
DOCUMENT_KEYS = ("docid", "doc_id", "pid", "passage_id")
Record = Mapping[str, Any]


def is_graded_records(path: Path) -> bool:
    """Return whether a file begins with a record of a graded document, or of several."""
    if not first_line(path).lstrip().startswith(b"{"):
        return False
    first = next(objects(path, ignore), (0, {}))[1]
    return any(GRADE in one for one in _graded_objects(first))


def _graded_objects(record: Record) -> list[Record]:
    """Return what is graded in a record: its candidates, else the record itself."""
    candidates = record.get("candidates")
    if isinstance(candidates, list):
        return [one for one in candidates if isinstance(one, dict)]
    return [record] if "query" in record or any(key in record for key in TOPIC_KEYS) else []


def graded_records(
    path: Path, report: OnFinding
) -> Iterator[tuple[Place, tuple[str, str, str], str]]:
    """Yield (place, (topic, iteration, doc), grade as written) of each graded document.

    A grade that stands in for a reply without one is unjudged, and reported. Raises InputError
    where topics and documents are given by text only.
    """
    for number, record in objects(path, report):
        place = Place(str(path), number)
        for one in _graded_objects(record):
            topic_id, doc_id = _topic(record), _first(one, DOCUMENT_KEYS)
            if topic_id is None or doc_id is None:
                raise InputError(
                    f"{place}: a grade without the ids of its topic and document: give the qrels"
                    f" of it, or add {TOPIC_KEYS[0]} and {DOCUMENT_KEYS[0]} to each record"
                )
            grade = as_id(one.get(GRADE))
            if grade is None or one.get("result_status") == 0:
                why = "no grade was found in the model's reply"
                message = f"document {doc_id!r} of topic {topic_id!r} is unjudged: {why}"
                report(Finding("grade_missing", place, message, brief(one.get(GRADE))))
                continue
            yield place, (topic_id, "0", doc_id), grade


def _topic(record: Record) -> str | None:
    query = record.get("query")
    return _first(query if isinstance(query, dict) else record, TOPIC_KEYS)


def _first(record: Record, names: tuple[str, ...]) -> str | None:
    return next((found for name in names if (found := as_id(record.get(name)))), None)


ALL = "all"
LONGEST_ROW = 1000
"""Columns of a line that are counted."""
RUN_NAME_ROW = "runid"
"""The measure of the row `runid all NAME`, which trec_eval writes first."""
NO_WORDS: frozenset[str] = frozenset()
NO_RUN = frozenset(("0", "1", "Q0", "q0"))
"""What the second column of classic qrels holds."""
RESERVED_ALL, RESERVED_MEASURES = frozenset((ALL,)), frozenset((ALL, RUN_NAME_ROW))
"""Words that mean something in a leaderboard: as a run or a topic, and as a measure."""
LIKE_ALL = re.compile(r"all|%(?:25)*61ll")
"""`all`, and what it is encoded as; in JSON no other topic is encoded."""
EMPTY = "%"
"""An id without a character, as a column."""
ODD = re.compile(rf"[\s%\x00-\x1f\x7f-\x9f{UNSEEN}{UNSEEN_BEYOND}]|^B(?=Zh)")
"""What is percent-encoded in a column; a file that begins with BZh passes for packed."""
ODD_OF_ASCII = re.compile(r"[\s%\x00-\x1f\x7f]|^B(?=Zh)")
"""Those of ASCII: nearly all ids hold no other character."""


class LeaderboardRow(NamedTuple):
    """One line of a leaderboard; `topic_id` is None in the `all` rows."""

    run_id: str
    topic_id: str | None
    measure: str
    value: float


@dataclass(frozen=True, slots=True)
class QrelsRow:
    """One line of a qrels file; `iteration` is the second column: `0`, `Q0` or a run.

    `named` is whether it is a run although it is called so.
    """

    topic_id: str
    iteration: str
    doc_id: str
    grade: int
    named: bool = False

    @property
    def run_id(self) -> str:
        """The run, no text where the row is of none."""
        return "" if self.iteration in NO_RUN and not self.named else self.iteration


@dataclass(slots=True)
class _Grades:
    """The grades of a file, held packed as they come; contradictions are reported at its end."""

    path: Path
    rows: PackedRows = field(default_factory=PackedRows)
    """(doc_id, grade, line) by (topic_id, run_id or no text)"""

    def add(self, line: int | None, row: QrelsRow, grade: float) -> None:
        """Add a grade."""
        self.rows.add((row.topic_id, row.run_id), (row.doc_id, grade, line))

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


@lru_cache(1 << 12)  # runs, topics and measures are the same in many rows
def encode(column: str, reserved: frozenset[str] = NO_WORDS) -> str:
    """Return an id as a column: `a b` -> `a%20b`; with `all` among the `reserved`, -> `%61ll`."""
    if column in reserved:
        return f"%{ord(column[0]):02X}{column[1:]}"
    odd = ODD_OF_ASCII if column.isascii() else ODD
    return odd.sub(percent, column) or EMPTY


def percent(found: re.Match[str]) -> str:
    """Return what was found percent-encoded, as UTF-8."""
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def leaderboard_line(row: LeaderboardRow) -> str:
    """Return `run topic measure value`, tab-separated, six decimals; a count of items has none.

    A value that is not finite would be a bug of ours: AssertionError.
    """
    assert math.isfinite(row.value), row
    value = f"{row.value:.0f}" if row.measure.endswith(UNJUDGED) else f"{row.value:.{DIGITS}f}"
    return "\t".join((*columns_of(row), value)) + "\n"


def columns_of(row: LeaderboardRow) -> tuple[str, str, str]:
    """Return run, topic and measure of a row as columns: no other id is `all`."""
    topic = ALL if row.topic_id is None else encode(row.topic_id, RESERVED_ALL)
    measure = encode(row.measure, RESERVED_MEASURES)
    return encode(row.run_id, RESERVED_ALL), topic, measure


def companion(row: LeaderboardRow, items: int) -> LeaderboardRow:
    """Return the row beside a row that counts its unjudged items."""
    return row._replace(measure=f"{row.measure}{UNJUDGED}", value=float(items))


def decode(column: str, reserved: frozenset[str] = NO_WORDS) -> str:
    """Return an id as it was before `encode`; a column that `encode` did not write is unchanged."""
    if "%" not in column:
        return column
    found = unquote(column) if column != EMPTY else ""
    return found if encode(found, reserved) == column else column


def topic_in_json(topic_id: str | None) -> str:
    """Return the topic of a row in JSON: `all` for the mean, all others as they are but `all`."""
    if topic_id is None:
        return ALL
    return encode(topic_id, RESERVED_ALL) if LIKE_ALL.fullmatch(topic_id) else topic_id


def topic_of_json(written: str) -> str | None:
    """Return a topic as it was before `topic_in_json`, None for the mean."""
    if written == ALL:
        return None
    return decode(written, RESERVED_ALL) if LIKE_ALL.fullmatch(written) else written


FULL_GRADE = 2
"""Full support, or highly relevant."""


def qrels_line(row: QrelsRow, form: QrelsForm = "grades") -> str:
    """Return `topic iteration doc grade`, separated by single spaces."""
    iteration = encode(row.iteration, NO_RUN if row.named else NO_WORDS)
    grade = float(row.grade >= FULL_GRADE) if form == "binary" else row.grade
    return f"{encode(row.topic_id)} {iteration} {encode(row.doc_id)} {grade}\n"


def is_row(line: bytes, separator: bytes | None = None, columns: Collection[int] = (4,)) -> bool:
    """Return whether a line has so many columns, a number last: then it is no JSON and no header.

    Without a `separator` columns stand between white space.
    """
    cells = line.split(separator)
    return len(cells) in columns and number_of(cells[-1].decode(errors="replace")) is not None


def read_qrels(path: Path, report: OnFinding) -> Iterator[QrelsRow]:
    """Yield the rows of a qrels file, of lines or JSON, with anything in the second column.

    Two grades of one document on a topic, or of one run's, are reported at the end.
    """
    seen = _Grades(path)
    for place, ids, grade in _grades(path, report):
        try:
            row = _row(*ids, _grade(grade))
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
            row = _row(*ids, math.floor(grade + 0.5))
            seen.add(place.line, row, grade)
            yield row, grade
    seen.report_others(report)


def is_json_qrels(path: Path) -> bool:
    """Return whether a file begins with a JSON object of {topic: {doc: grade}}."""
    if not first_line(path).lstrip().startswith(b"{"):
        return False
    first = next(objects(path, ignore), (0, {}))[1]
    return bool(first) and all(
        isinstance(graded, dict) and not any(isinstance(g, dict | list) for g in graded.values())
        for graded in first.values()
    )


def _grades(path: Path, report: OnFinding) -> Iterator[tuple[Place, tuple[str, str, str], str]]:
    """Yield (place, (topic, iteration as a column, doc), grade as written) of each row."""
    if is_graded_records(path):
        yield from graded_records(path, report)
        return
    if not is_json_qrels(path):
        for place, (*ids, grade) in _columns(path, 4, report):
            yield place, (decode(ids[0]), ids[1], decode(ids[2])), grade
        return
    for number, record in objects(path, report):
        place = Place(str(path), number)
        for topic_id, graded in record.items():
            if not isinstance(graded, dict):
                message = f"has {brief(graded)} for topic {topic_id!r}, not {{doc: grade}}"
                report(Finding("row_unreadable", place, message, brief(graded)))
                continue
            for doc_id, grade in graded.items():
                whole = isinstance(grade, float) and grade.is_integer()
                yield place, (topic_id, "0", doc_id), str(int(grade) if whole else grade)


def _row(topic_id: str, column: str, doc_id: str, grade: int) -> QrelsRow:
    """Return a row by the column of its iteration: `%30` is a run that is called 0."""
    iteration = decode(column, NO_RUN)
    return QrelsRow(topic_id, iteration, doc_id, grade, iteration in NO_RUN and column != iteration)


def _grade(text: str) -> int:
    if "_" in text:  # Python reads 1_0 as 10
        raise ValueError(text)
    return int(re.sub(r"\.0+$", "", text))  # "1.0" is how others write 1


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
            report(Finding("row_unreadable", place, message, brief(line)))
            continue
        if len(columns) == wanted:
            yield place, columns
        else:
            message = f"has {len(columns)} columns, not {wanted}"
            report(Finding("row_unreadable", place, message, " ".join(columns)))


FINE, COARSE = 6, 4
"""Decimals of a score, for scores up to `MOST_FINE` and for larger ones."""
# Ranked documents as a TREC run file, `topic Q0 doc rank score tag`, for every retrieval tool.
MOST_FINE = 8.0


def run_lines(topic_id: str, ranked: Sequence[tuple[str, float]], tag: str) -> Iterator[str]:
    """Yield a line for each (document, score) of a topic, the best first; ranks count from 1.

    trec_eval sorts by the score and not by the rank, and orders ties by the id. So each score is
    written below the one before it, by the last decimal at least; and with no more decimals than a
    float of 32 bits keeps, as which trec_eval reads it.
    """
    largest = max((abs(score) for _, score in ranked), default=0.0)
    digits = FINE if largest <= MOST_FINE else COARSE
    topic, name = encode(topic_id), encode(tag)
    last: int | None = None
    for rank, (doc_id, score) in enumerate(ranked, 1):
        units = round(score * 10**digits)
        last = units if last is None else min(units, last - 1)
        yield f"{topic} Q0 {encode(doc_id)} {rank} {last / 10**digits:.{digits}f} {name}\n"


# Judgments on nuggets, written as the files in which the tracks exchange them.

Judged = tuple[Response, Sequence[Judgment]]
FAILED = "failed"
"""What AutoNuggetizer writes where no label was given."""


def write_assessments(path: Path, target: Path, to: str, report: OnFinding) -> int:
    """Write the judgments of a file in a track's format; return how many labels were written.

    A failed judgment is written without a label, and reported. Raises InputError where no judgment
    fits the format.
    """
    lines = list(WRITERS[to](JudgmentsReader(path), report))
    if not any(count for _, count in lines):
        raise InputError(f"{path}: has no judgments for {to}; its judge must be {JUDGES[to]}")
    with whole(target) as file:
        file.writelines(text.encode() for text, _ in lines)
    return sum(count for _, count in lines)


def _answers(read: Iterable[Judged], report: OnFinding) -> Iterator[tuple[str, int]]:
    """Yield the lines of DRAGUN's assessments of short answers."""
    yield _line("topic_id", "run_tag", "answer_id", "auto_assessment", "auto_rationale"), 0
    for _, judgments in read:
        for j in judgments:
            _missing(j, report)
            if j.nugget is not None and j.nugget.answer and j.sentence_index is None:
                answer = j.nugget.answer_id or j.nugget.answer
                yield _line(j.topic_id, j.run_id, answer, j.label or "", j.reason), 1


def _pairs(read: Iterable[Judged], report: OnFinding) -> Iterator[tuple[str, int]]:
    """Yield the lines of DRAGUN's comparisons of a run's questions with those of the rubric."""
    yield _line("topic_id", "run_tag", RANK, RUBRIC_RANK, "auto_assessment"), 0
    for _, judgments in read:
        for j in judgments:
            if j.nugget is not None and j.sentence_index is not None:
                _missing(j, report)
                rank = j.nugget.answer_id.removeprefix("rank-")
                yield _line(j.topic_id, j.run_id, j.sentence_index + 1, rank, j.label or ""), 1


def _forms(read: Iterable[Judged], report: OnFinding) -> Iterator[tuple[str, int]]:
    """Yield the lines of DRAGUN's decisions on which questions are compound."""
    yield _line("topic_id", "run_tag", RANK, "auto_compound_question_assessment"), 0
    for _, judgments in read:
        for j in judgments:
            if j.nugget is None and j.sentence_index is not None:
                _missing(j, report)
                yield _line(j.topic_id, j.run_id, j.sentence_index + 1, j.label or ""), 1


def _assignments(read: Iterable[Judged], report: OnFinding) -> Iterator[tuple[str, int]]:
    """Yield the lines of AutoNuggetizer's assignments, one a response."""
    for response, judgments in read:
        nuggets = []
        for j in judgments:
            _missing(j, report)
            if j.nugget is not None and not (j.nugget.answer or j.nugget.answer_id):
                nugget = {"text": j.nugget.text, "importance": j.nugget.importance}
                nuggets.append(nugget | {"assignment": j.label or FAILED})
        if nuggets:
            record = {"qid": response.topic_id, "run_id": response.run_id}
            words = {"answer_text": response.shown, "response_length": len(response.shown.split())}
            line = json.dumps({**record, **words, "nuggets": nuggets}, ensure_ascii=False)
            yield f"{line}\n", len(nuggets)


WRITERS: Mapping[str, Callable[[Iterable[Judged], OnFinding], Iterator[tuple[str, int]]]] = {
    "dragun_assessments": _answers,
    "dragun_questions": _pairs,
    "dragun_compound": _forms,
    "nuggetizer_assignments": _assignments,
}
JUDGES = {
    "dragun_assessments": "rubric",
    "dragun_questions": "rubric with task=questions",
    "dragun_compound": "rubric with task=questions",
    "nuggetizer_assignments": "nuggets",
}
"""The judge whose judgments each format holds."""


def _missing(judgment: Judgment, report: OnFinding) -> bool:
    """Return whether a judgment failed, and report it if so."""
    if judgment.judged:
        return False
    assert judgment.failure is not None
    name = next(iter(judgment.nugget.names), "") if judgment.nugget else "the response"
    message = f"run {judgment.run_id!r}: {name!r} is unjudged: {judgment.failure.message}"
    place = Place(f"topic {judgment.topic_id}")
    report(Finding("assessment_missing", place, message, run_id=judgment.run_id))
    return True


def _line(*cells: object) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
