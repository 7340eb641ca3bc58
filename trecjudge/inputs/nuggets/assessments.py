"""DRAGUN's assessments as CSV, by people or a tool: of short answers, and of a run's questions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.nuggets.assignments import NuggetKey
from trecjudge.inputs.sources.comma_separated import (
    BrokenCsv,
    csv_rows,
    delimiter_of,
    names_delimiter,
)
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.values import decoded_lines
from trecjudge.records import Place
from trecjudge.records.nuggets import plain_name

KINDS = (
    "JSONL of topic_id, run_id, label, … (or CSV, TSV), AutoNuggetizer's assignments, Auto-ARGUE's"
    " judgments or DRAGUN's assessments (CSV)"
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
    return delimiter_of(first, lambda cells: "topic_id" in map(column_of, cells)) or ","


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
