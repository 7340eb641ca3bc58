"""Tables with a row for each passage: the rows of one question are one response."""

from __future__ import annotations

import json
import marshal
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.packed import PackedRows
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
DIGITS = 10
Row = tuple[int, dict[str, Any]]


def passages_joined(found: Iterator[Row], looked_at: int) -> Iterator[Row]:
    """Yield (line, record); rows that have one passage of a response each are one record.

    They need not follow one another. Only where one of the first rows has such a passage are all
    rows held, packed.
    """
    head = list(islice(found, looked_at))
    rows = chain(head, found)
    yield from _joined(rows) if any(map(_has_passage, head)) else rows


def _has_passage(row: Row) -> bool:
    parts = _parts(row[1]) if _passage_key(row[1]) else None
    return parts is not None and bool(parts.topic_id)


def _passage_key(row: Mapping[str, Any]) -> str:
    """Return the key of a row's one passage, empty where it has none."""
    names = {plain(key): key for key in reversed(list(row))}
    there = (names[name] for name in (*PASSAGES, *CONTEXTS) if name in names)
    return next((key for key in there if isinstance(row[key], str)), "")


def _joined(rows: Iterator[Row]) -> Iterator[Row]:
    held = PackedRows()
    samples: dict[tuple[str, str], set[str]] = {}
    answered = False
    for number, (line, row) in enumerate(rows):
        parts = _parts(row)
        group: tuple[str, str, str] = ("", "", str(number))
        if parts and parts.topic_id:
            answered = answered or not is_blank(parts.answer)
            group = (parts.run_id, parts.topic_id, sample_of(row))
            samples.setdefault(group[:2], set()).add(group[2])
        held.add(group, (line, _plain_values(row)))
    for run_id, topic_id, sample in held:
        found = held.rows((run_id, topic_id, sample))
        several = len(samples.get((run_id, topic_id), ())) > 1
        # A file without any answer holds no responses.
        yield from _responses(found, several) if answered else found


def _parts(row: Mapping[str, Any]) -> Parts | None:
    """Return the parts of a row that may lack the answer; None of another format's record."""
    return parts_of({"answer": "", "contexts": "", **row})


def _plain_values(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row that can be held packed: dates and the like of Parquet are text."""
    try:
        marshal.dumps(row)
    except ValueError:
        return dict(json.loads(json.dumps(row, default=str)))
    return row


def _responses(rows: Sequence[Row], sampled: bool) -> Iterator[Row]:
    """Yield the responses of the rows of one question; as they are where each has its own answer.

    `sampled`: the question has several samples.
    """
    passages = [passage for _, row in rows if (passage := _passage(row)) is not None]
    lines = [((parts.answer if (parts := _parts(row)) else ""), line) for line, row in rows]
    answers = {answer: line for answer, line in reversed(lines) if not is_blank(answer)}
    if not passages or len(answers) == len(rows) > 1:
        yield from rows
        return
    about: dict[str, Any] = {}
    for _, row in rows:
        about |= {k: v for k, v in row.items() if plain(k) in OF_A_RESPONSE and k not in about}
    dropped = (*ANSWERS, *(() if sampled else SAMPLES))
    about = {k: v for k, v in about.items() if plain(k) not in dropped}
    if all(place is not None for place, _ in passages):
        passages.sort(key=lambda passage: passage[0] or 0)
    contexts = [context for _, context in passages]
    for answer, line in (answers or {"": rows[0][0]}).items():
        yield line, {**about, "answer": answer, "contexts": contexts}


def _passage(row: Mapping[str, Any]) -> tuple[int | None, dict[str, Any]] | None:
    """Return (place among those of its response, context) of a row; None where it has none."""
    key, place = _passage_key(row), None
    context = {"text": row.get(key, "")}
    for name, value in row.items():
        known = plain(name)
        if name == key or known in OF_A_RESPONSE:
            continue
        number = IN_BRACKETS.fullmatch(str(value)) if known.endswith("id") else None
        if number or known in RANKS:
            written = number[1] if number else str(value).removesuffix(".0")
            place = int(written) if written.isdecimal() and len(written) < DIGITS else place
        else:
            context[name] = value
    has_id = any(plain(name).endswith("id") for name in context)
    return (place, context) if has_id or not is_blank(context["text"]) else None
