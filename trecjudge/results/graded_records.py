"""Grades of documents as JSONL, a record each, as UMBRELA and tools like it write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, shown, unreported
from trecjudge.inputs.sources.containers import first_line
from trecjudge.inputs.sources.values import as_id, objects
from trecjudge.records import Place

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
    first = next(objects(path, unreported), (0, {}))[1]
    return any(GRADE in one for one in _graded(first))


def _graded(record: Record) -> list[Record]:
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
        for one in _graded(record):
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
                report(Finding("grade_missing", place, message, shown(one.get(GRADE))))
                continue
            yield place, (topic_id, "0", doc_id), grade


def _topic(record: Record) -> str | None:
    query = record.get("query")
    return _first(query if isinstance(query, dict) else record, TOPIC_KEYS)


def _first(record: Record, names: tuple[str, ...]) -> str | None:
    return next((found for name in names if (found := as_id(record.get(name)))), None)
