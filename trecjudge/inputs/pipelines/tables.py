"""Records from tables that tools export: CSV, TSV, and Parquet where pyarrow is installed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.packed import Group, PackedRows
from trecjudge.inputs.pipelines.contexts import cell_value
from trecjudge.inputs.pipelines.fields import PASSAGES, holds_records
from trecjudge.inputs.pipelines.parts import (
    ANSWERS,
    CONTEXTS,
    QUESTIONS,
    RUNS,
    SAMPLES,
    TOPICS,
    RecordParts,
    parts_of,
    sample_of,
)
from trecjudge.inputs.pipelines.services import PlainFields
from trecjudge.inputs.pipelines.spans import name_spans
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_records, delimiter_of
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.parquet import PARQUET, parquet_rows_of
from trecjudge.inputs.sources.values import decoded_lines, too_large
from trecjudge.records import Place
from trecjudge.settings.limits import limits
from trecjudge.text.visible import is_blank

NOTHING = frozenset(("", "nan", "None", "null", "NaN"))
"""What a cell holds where there is nothing."""
_SEPARATOR = re.compile(rb"(?:\xef\xbb\xbf)?\"?sep=.\"?\s*$", re.IGNORECASE)
_NUMBERED = re.compile(r"([A-Za-z_ ]{1,40}?)[_ ./\[-]{0,2}(\d{1,3})\]?")
Row = tuple[int, dict[str, Any]]


def is_table(file: Opened) -> bool:
    """Return whether a file is Parquet, or has a header of answers and of what they answer."""
    first = _first(file)
    return first.startswith(PARQUET) or _delimiter(first) is not None


def _first(file: Opened) -> bytes:
    """Return the first line, without the one in which Excel says what separates cells."""
    return next((line for line in file.first(2) if not _SEPARATOR.match(line)), b"")


def _delimiter(first: bytes) -> str | None:
    """Return what separates the cells of a header of records, None for any other line."""
    is_json = first[:1] in (b"{", b"[")
    return None if is_json else delimiter_of(first.decode(errors="replace"), _is_header)


def _is_header(names: Sequence[str]) -> bool:
    last = (re.sub(r"^(?:inputs|outputs)[./]", "", name) for name in names)
    return holds_records(last) or name_spans(names)


def table_records(file: Opened, report: OnFinding, most: int | None = None) -> Iterator[Row]:
    """Yield (line or row, record) of a table, of Parquet at most the first few.

    What is broken or too large is reported and passed over. Raises InputError where the file cannot
    be read.
    """
    first = _first(file)
    delimiter = _delimiter(first) or ","
    file.close()  # both kinds are opened by their path
    in_parquet = first.startswith(PARQUET)
    found = parquet_rows_of(file, report, most) if in_parquet else _csv(file, delimiter, report)
    for number, record in found:
        if excess := limits().excess(record):
            report(too_large(Place(str(file.path), number), excess))
        else:
            yield number, _with_columns_joined(record)


def _csv(file: Opened, delimiter: str, report: OnFinding) -> Iterator[Row]:
    try:
        lines = decoded_lines(file.path, report)
        rows = ((n, text) for n, text in lines if n > 1 or not _SEPARATOR.match(text.encode()))
        for line, cells in csv_records(rows, delimiter):
            yield line, _row(cells)
    except BrokenCsv as broken:
        place = Place(str(file.path), broken.line)
        report(Finding("line_not_json", place, f"is not CSV: {broken}; the rest is not read"))


def _row(cells: Mapping[str, str]) -> dict[str, Any]:
    return {key: cell_value(cell) for key, cell in cells.items() if cell.strip() not in NOTHING}


def _with_columns_joined(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with one list of contexts for its columns `context_1`, `context_2`..."""
    columns = {key: number for key in row if (number := _number_of(key)) is not None}
    if not columns:
        return row
    contexts = [row[key] for key in sorted(columns, key=columns.__getitem__)]
    return {"contexts": contexts, **{k: v for k, v in row.items() if k not in columns}}


@lru_cache(maxsize=1024)
def _number_of(column: str) -> int | None:
    """Return the number of a column of contexts, None of any other."""
    found = _NUMBERED.fullmatch(column.strip())
    name = plain(found[1]) if found else ""
    return int(found[2]) if found and name in (*CONTEXTS, *PASSAGES) else None


OF_A_RESPONSE = frozenset((*QUESTIONS, *ANSWERS, *TOPICS, *RUNS, *SAMPLES))
"""Columns that are not about the passage of their row."""
RANKS = ("rank", "passagerank", "chunkrank", "contextrank", "retrievalrank", "position")
IN_BRACKETS = re.compile(r"\[(\d+)\]")
"""The id of a passage that is only its number among those of its question."""
DIGITS, MOST_NUMBERS = 10, 1000


class TablePassage(NamedTuple):
    """A passage, its place among those of its response, and whether the place is its number."""

    place: int | None
    numbered: bool
    context: dict[str, Any]


def passages_joined(found: Iterator[Row], looked_at: int) -> Iterator[Row]:
    """Yield (line, record); rows that have one passage of a response each are one record.

    They need not follow one another. Only where one of the first rows has such a passage are all
    rows held, packed.
    """
    head = list(islice(found, looked_at))
    rows = chain(head, found)
    yield from _join_passages(rows) if any(_passage_key(row) for _, row in head) else rows


def _passage_key(row: Mapping[str, Any]) -> str:
    """Return the key of a row's one passage, empty where it has none."""
    there = PlainFields(row).items((*PASSAGES, *CONTEXTS))
    key = next((key for key, value in there if isinstance(value, str)), "")
    return key if key and _parts(row) else ""


def _parts(row: Mapping[str, Any]) -> RecordParts | None:
    """Return the parts of a row that may lack the answer; None of another format's record."""
    parts = parts_of({"answer": "", "contexts": "", **row})
    return parts if parts and parts.topic_id else None


def _join_passages(rows: Iterator[Row]) -> Iterator[Row]:
    held, answered = PackedRows(), False
    samples: dict[Group, set[str]] = {}
    for number, (line, row) in enumerate(rows):
        parts = _parts(row)
        group = (parts.run_id, parts.topic_id) if parts else ("", "", str(number))
        sample = sample_of(row)
        samples.setdefault(group, set()).add(sample)
        answered = answered or (parts is not None and not is_blank(parts.answer))
        # As JSON: what Parquet has besides, such as dates, could not be packed.
        held.add((*group, sample), (line, json.loads(json.dumps(row, default=str))))
    for found in held:
        rows_of_one = held.rows(found)
        # A file without any answer holds no responses.
        several = len(samples[found[:-1]]) > 1
        yield from _responses(rows_of_one, several) if answered else rows_of_one


def _responses(rows: Sequence[Row], sampled: bool) -> Iterator[Row]:
    """Yield the responses of the rows of one question; as they are where each has its own answer.

    `sampled`: the question has several samples.
    """
    passages = [passage for _, row in rows if (passage := _passage(row)) is not None]
    lines = [((parts.answer if (parts := _parts(row)) else ""), line) for line, row in rows]
    answers = {answer: line for answer, line in reversed(lines) if not is_blank(answer)}
    first = parts_of(rows[0][1])
    is_whole = len(rows) == 1 and first is not None and first.contexts is not None
    if is_whole or not passages or len(answers) == len(rows) > 1:
        yield from rows
        return
    about: dict[str, Any] = {}
    for _, row in rows:
        about |= {k: v for k, v in row.items() if plain(k) in OF_A_RESPONSE and k not in about}
    dropped = (*ANSWERS, *(() if sampled else SAMPLES))
    about = {k: v for k, v in about.items() if plain(k) not in dropped}
    contexts = _in_order(passages)
    for answer, line in (answers or {"": rows[0][0]}).items():
        yield line, {**about, "answer": answer, "contexts": contexts}


def _in_order(passages: list[TablePassage]) -> list[dict[str, Any]]:
    """Return contexts by their ranks or numbers, else as they come; `[2]` is the second one."""
    if any(passage.place is None for passage in passages):
        return [passage.context for passage in passages]
    passages.sort(key=lambda passage: passage.place or 0)
    by_number = {passage.place: passage.context for passage in passages if passage.numbered}
    last = passages[-1].place or 0
    if len(by_number) < len(passages) or last > MOST_NUMBERS:
        return [passage.context for passage in passages]
    return [by_number.get(number, {"text": ""}) for number in range(1, last + 1)]


def _passage(row: Mapping[str, Any]) -> TablePassage | None:
    """Return the passage of a row, None where it has none."""
    key, place, numbered = _passage_key(row), None, False
    context = {"text": row.get(key, "")}
    for name, value in row.items():
        known = plain(name)
        of_row = known in ("id", "index") and str(value).isdecimal()  # only the row's number
        if name == key or known in OF_A_RESPONSE or of_row:
            continue
        number = IN_BRACKETS.fullmatch(str(value)) if known.endswith("id") else None
        if number or known in RANKS:
            written = number[1] if number else str(value).removesuffix(".0")
            if written.isdecimal() and len(written) < DIGITS:
                place, numbered = int(written), number is not None
        else:
            context[name] = value
    has_id = any(plain(name).endswith("id") for name in context)
    there = has_id or not is_blank(context["text"])
    return TablePassage(place, numbered, context) if there else None
