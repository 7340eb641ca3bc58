"""Labels of other tools: AutoNuggetizer's and DRAGUN's of nuggets, Auto-ARGUE's of citations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.labels.battle_rows import sides_of
from trecjudge.inputs.sources.comma_separated import (
    BrokenCsv,
    csv_rows,
    delimiter_of,
    names_delimiter,
)
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.values import as_id, as_text, decoded_lines
from trecjudge.records import FULL, NONE, Place
from trecjudge.records.nuggets import plain_name

# AutoNuggetizer's assignment files: which nuggets each response states, as labels.
Record = Mapping[str, Any]
NuggetKey = tuple[str, str, int | None, str | None, str]
"""(topic_id, run_id, sentence_index, doc_id, name of the nugget)."""


def is_assignment(record: Record) -> bool:
    """Return whether a record has the assignments of a response's nuggets."""
    return "qid" in record and isinstance(record.get("nuggets"), list)


def read_assignments(
    record: Record, place: Place, report: OnFinding
) -> Iterator[tuple[NuggetKey, str]]:
    """Yield (key, label) of every nugget of a response; a nugget without a label is reported."""
    topic_id, run_id = as_id(record.get("qid")), as_id(record.get("run_id"))
    if not (topic_id and run_id):
        message = "has assignments of nuggets, and needs qid and run_id"
        report(Finding("label_unusable", place, message, brief(sorted(record))))
        return
    for raw in record["nuggets"]:
        given: dict[str, Any] = raw if isinstance(raw, dict) else {}
        name, label = plain_name(as_text(given.get("text"))), as_id(given.get("assignment"))
        if name and label:
            yield (topic_id, run_id, None, None, name), label
            continue
        message = "a nugget has no text or no assignment"
        report(Finding("label_unusable", place, message, brief(raw), None, run_id, topic_id))


# DRAGUN's assessments as CSV, by people or a tool: of short answers, and of a run's questions.
KINDS = (
    "JSONL of topic_id, run_id, label, … (or CSV, TSV, XLSX), battles of two runs, AutoNuggetizer's"
    " assignments, Auto-ARGUE's judgments or DRAGUN's assessments (CSV)"
)
"""The kinds of files of labels that are read."""
RUN_KEYS = ("run_tag", "run_id")
LABEL_KEYS = ("annotation", "auto_assessment", "auto_compound_question_assessment", "assessment")
"""Columns that have the label, of people and of tools: the first that a file has counts."""
RANK, RUBRIC_RANK, ANSWER = "run_question_rank", "rubric_question_rank", "answer_id"
Row = Mapping[str, str]


def is_label_table(path: Path) -> bool:
    """Return whether a file is a table with a header, and not JSON."""
    first = _first_line(path)
    return ("," in first or _delimiter(first) != ",") and first[:1] not in ("{", "[")


def _first_line(path: Path) -> str:
    lines = (line.lstrip().decode(errors="replace") for line in Opened(path).first(2))
    return next((line for line in lines if not names_delimiter(line)), "")


def is_battle_table(path: Path) -> bool:
    """Return whether a table has battles: two runs and who won in each row."""
    first = _first_line(path)
    return sides_of(cell.strip(' "') for cell in first.split(_delimiter(first))) is not None


def is_assessments(path: Path) -> bool:
    """Return whether a table has the columns of DRAGUN's assessments, and not labels of others."""
    first = _first_line(path)
    head = [column_of(cell) for cell in first.split(_delimiter(first))]
    own = "sentence_index" in head or any(name.startswith("label") for name in head)
    return not ("run_id" in head and own)


def table_delimiter(path: Path) -> str:
    """Return what separates the cells of a table with a header."""
    return _delimiter(_first_line(path))


def _delimiter(first: str) -> str:
    return delimiter_of(first, _is_head) or ","


def _is_head(cells: Sequence[str]) -> bool:
    return "topic_id" in map(column_of, cells) or sides_of(cells) is not None


def column_of(cell: str) -> str:
    """Return the name of a column in one spelling: `Topic ID` and `topicId` are `topic_id`."""
    name = cell.strip(' "\t\r\n')
    return re.sub(r"\W+|(?<=[a-z])(?=[A-Z])", "_", name).casefold()


def rubric_rank(number: int) -> str:
    """Return the name that labels use for the rubric's question of a rank, counted from 1."""
    return f"rank-{number}"


def read_assessments(
    path: Path, report: OnFinding
) -> Iterator[tuple[int, NuggetKey | tuple[str, str, int | None, str | None], str]]:
    """Yield (line, key, label) of every row; one without a label is reported.

    Raises InputError for a head that lacks a column.
    """
    head: list[str] = []
    try:
        for number, cells in csv_rows(decoded_lines(path, report), table_delimiter(path)):
            if not head:
                head = list(map(column_of, cells))
                _check(path, head)
                continue
            row = dict(zip(head, map(str.strip, cells), strict=False))
            key, label = _key(row), _first(row, LABEL_KEYS)
            if key is None or not label:
                message = f"needs {', '.join(_wanted_columns(head))}"
                report(Finding("label_unusable", Place(str(path), number), message, brief(row)))
            else:
                yield number, key, label
    except BrokenCsv as error:
        message = f"is no CSV from here on: {error}"
        report(Finding("row_unreadable", Place(str(path), error.line), message))


def _check(path: Path, head: Sequence[str]) -> None:
    """Raise InputError for a head that lacks a column that every row needs."""
    wanted = _wanted_columns(head) if {*LABEL_KEYS} & {*head} else ("topic_id", "run_id", "label")
    lacking = [name for name in wanted if not {*name.split(" or ")} & {*head}]
    if lacking:
        message = f"its header has no {', no '.join(lacking)}: {', '.join(head)}"
        raise InputError(f"{path}: {message}; labels are {KINDS}")


def _wanted_columns(head: Sequence[str]) -> tuple[str, ...]:
    item = RANK if RANK in head else ANSWER
    return ("topic_id", " or ".join(RUN_KEYS), item, " or ".join(LABEL_KEYS))


def _first(row: Row, names: Sequence[str]) -> str:
    return next((row[name] for name in names if row.get(name)), "")


def _key(row: Row) -> NuggetKey | tuple[str, str, int | None, str | None] | None:
    topic_id, run_id, answer = row.get("topic_id"), _first(row, RUN_KEYS), row.get(ANSWER)
    if not (topic_id and run_id):
        return None
    if answer:
        return topic_id, run_id, None, None, plain_name(answer)
    ranks = [_rank(row.get(name, "")) for name in (RANK, RUBRIC_RANK)]
    if ranks[0] is None or (RUBRIC_RANK in row and ranks[1] is None):
        return None
    question = (topic_id, run_id, ranks[0] - 1, None)
    return question if ranks[1] is None else (*question, rubric_rank(ranks[1]))


def _rank(text: str) -> int | None:
    """Return a rank counted from 1; pandas writes whole numbers of a column with gaps as 3.0."""
    whole = text.removesuffix(".0")
    return int(whole) if whole.isascii() and whole.isdecimal() and int(whole) > 0 else None


# Auto-ARGUE's judgments of a report: which cited documents attest which sentences, as labels.
CitationKey = tuple[str, str, int | None, str | None]
"""(topic_id, run_id, sentence_index, doc_id)."""
ATTESTED = "SENTENCE_ATTESTED"
"""The type of judgments that are labels; the others are on nuggets, which have no label each."""


def is_judged_report(record: Record) -> bool:
    """Return whether a record is a report with the judgments on its sentences."""
    return isinstance(record.get("report"), dict) and isinstance(record.get("judgments"), list)


def read_attestations(
    record: Record, place: Place, report: OnFinding
) -> Iterator[tuple[CitationKey, str]]:
    """Yield (key, label) of every citation that was judged; what cannot be used is reported.

    A sentence that is not judged, as where the judging failed, has no label.
    """
    judged: dict[str, Any] = record["report"]
    named = judged.get("metadata")
    ids = named if isinstance(named, dict) else judged
    topic_id, run_id = as_id(ids.get("topic_id")), as_id(ids.get("run_id"))
    if not (topic_id and run_id):
        message = "has judgments on a report, whose metadata needs topic_id and run_id"
        report(Finding("label_unusable", place, message, brief(ids)))
        return
    segments = [one for one in record["judgments"] if isinstance(one, dict)]
    for index, segment in _place_segments(segments, _sentences(judged)):
        for one in _judgments(segment):
            label, doc_id = _label(one), _document(one)
            if index is not None and label and doc_id:
                yield (topic_id, run_id, index, doc_id), label
                continue
            message = (
                "a sentence that the report does not have"
                if index is None
                else (f"a judgment {ATTESTED} without is_attested or doc_id")
            )
            report(Finding("label_unusable", place, message, brief(one), None, run_id, topic_id))


def _sentences(judged: Record) -> list[str]:
    """Return the texts of a report's sentences, none where it does not have them."""
    given = judged.get("responses") or judged.get("answer") or ()
    return [_plain(one) for one in given if isinstance(one, dict)]


def _plain(sentence: Record) -> str:
    return plain_name(as_text(sentence.get("text")) or "")


def _place_segments(
    segments: Sequence[Record], sentences: Sequence[str]
) -> Iterator[tuple[int | None, Record]]:
    """Yield each judged sentence with its place in the report; None for one that is not there."""
    start = 0
    for number, segment in enumerate(segments):
        if not sentences:
            yield number, segment
            continue
        text = _plain(segment)
        # By text, from the last one on: sentences that were not judged may be left out.
        index = next((i for i in range(start, len(sentences)) if sentences[i] == text), None)
        start = start if index is None else index + 1
        yield index, segment


def _judgments(segment: Record) -> Iterator[Record]:
    given = segment.get("judgments")
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict) and one.get("judgment_type_id") == ATTESTED:
            yield one


def _label(judgment: Record) -> str | None:
    response = judgment.get("response")
    attested = response.get("is_attested") if isinstance(response, dict) else None
    return {True: FULL, False: NONE}.get(attested) if isinstance(attested, bool) else None


def _document(judgment: Record) -> str | None:
    for name in ("provenance", "response"):
        held = judgment.get(name)
        if isinstance(held, dict) and (doc_id := as_id(held.get("doc_id"))):
            return doc_id
    return None
