"""Tables with a row for each passage: the rows of one question are one response."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.packed import Group, PackedRows
from trecjudge.inputs.pipelines.fields import PASSAGES
from trecjudge.inputs.pipelines.parts import (
    ANSWERS,
    CONTEXTS,
    QUESTIONS,
    RUNS,
    SAMPLES,
    TOPICS,
    Parts,
    parts_of,
    sample_of,
)
from trecjudge.text.visible import is_blank

OF_A_RESPONSE = frozenset((*QUESTIONS, *ANSWERS, *TOPICS, *RUNS, *SAMPLES))
"""Columns that are not about the passage of their row."""
RANKS = ("rank", "passagerank", "chunkrank", "contextrank", "retrievalrank", "position")
IN_BRACKETS = re.compile(r"\[(\d+)\]")
"""The id of a passage that is only its number among those of its question."""
DIGITS, MOST_NUMBERS = 10, 1000
Row = tuple[int, dict[str, Any]]


class Passage(NamedTuple):
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
    yield from _joined(rows) if any(_passage_key(row) for _, row in head) else rows


def _passage_key(row: Mapping[str, Any]) -> str:
    """Return the key of a row's one passage, empty where it has none."""
    names = {plain(key): key for key in reversed(list(row))}
    there = (names[name] for name in (*PASSAGES, *CONTEXTS) if name in names)
    key = next((key for key in there if isinstance(row[key], str)), "")
    return key if key and _parts(row) else ""


def _parts(row: Mapping[str, Any]) -> Parts | None:
    """Return the parts of a row that may lack the answer; None of another format's record."""
    parts = parts_of({"answer": "", "contexts": "", **row})
    return parts if parts and parts.topic_id else None


def _joined(rows: Iterator[Row]) -> Iterator[Row]:
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


def _in_order(passages: list[Passage]) -> list[dict[str, Any]]:
    """Return contexts by their ranks or numbers, else as they come; `[2]` is the second one."""
    if any(passage.place is None for passage in passages):
        return [passage.context for passage in passages]
    passages.sort(key=lambda passage: passage.place or 0)
    by_number = {passage.place: passage.context for passage in passages if passage.numbered}
    last = passages[-1].place or 0
    if len(by_number) < len(passages) or last > MOST_NUMBERS:
        return [passage.context for passage in passages]
    return [by_number.get(number, {"text": ""}) for number in range(1, last + 1)]


def _passage(row: Mapping[str, Any]) -> Passage | None:
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
    return Passage(place, numbered, context) if there else None
