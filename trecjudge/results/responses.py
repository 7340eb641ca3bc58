"""A response as a judgments file has it: without documents, and without where it was read."""

from __future__ import annotations

import sys
from typing import Any

from pydantic import ValidationError

from trecjudge.findings import shown
from trecjudge.records import Citation, Copies, ProvenanceLine, Response, Sentence
from trecjudge.settings.adapters import adapter_of

REFERENCES = "references"
"""Stands for the references where these are what was retrieved."""
NAMES = "run_id", "topic_id", "team_id"
_OPTIONAL: dict[str, tuple[Any, Any]] = {
    "copies": (None, Copies | None),
    "provenance": ((), tuple[ProvenanceLine, ...]),
    "background": ("", str),
    "sample": ("", str),
    "retrieved": (None, tuple[str, ...] | None),
    "abstained": (None, bool | None),
    "said": ({}, dict[str, Any]),
}
"""Fields that are written only where they are known: what stands for unknown, and their types."""


def response_record(response: Response) -> dict[str, Any]:
    """Return a response as stored. What few responses have is written only where it is known."""
    given = response.references
    record = {
        "record": "response",
        "run_id": response.run_id,
        "topic_id": response.topic_id,
        "team_id": response.team_id,
        "sentences": [_sentence_record(sentence) for sentence in response.sentences],
        "references": given,
        "documents_given": response.documents_given,
    }
    for name, (unknown, _) in _OPTIONAL.items():
        value = getattr(response, name)
        if value != unknown:
            # Most are the references, which may be a hundred ids.
            record[name] = REFERENCES if name == "retrieved" and value == given else value
    return record


def _sentence_record(sentence: Sentence) -> dict[str, Any]:
    cited = [
        {"doc_id": c.doc_id, "value": c.value, "score": c.score}
        | ({"unread": c.unread} if c.unread else {})
        for c in sentence.citations
    ]
    record = {"index": sentence.index, "text": sentence.text, "citations": cited}
    return record | ({"written": sentence.written} if sentence.written else {})


def response_of(record: dict[str, Any]) -> Response:
    """Return the response of a record. Raises KeyError, TypeError or ValueError if it is none."""
    for name in NAMES:
        if not isinstance(record[name], str):
            raise ValueError(f"{name} is {shown(record[name])}")
    if record.get("retrieved") == REFERENCES:
        record = record | {"retrieved": record["references"]}
    # Each once: many responses have the name of a run or topic, and who scores them keeps it.
    run_id, topic_id, team_id = (sys.intern(record[name]) for name in NAMES)
    sentences = tuple(
        Sentence(
            s["index"],
            s["text"],
            tuple(Citation(**c) for c in s["citations"]),
            s.get("written", ""),
        )
        for s in record["sentences"]
    )
    return Response(
        run_id=run_id,
        topic_id=topic_id,
        team_id=team_id,
        sentences=sentences,
        references=tuple(record["references"]),
        documents_given=record["documents_given"],
        **{name: _typed(record, name) for name in _OPTIONAL if name in record},
    )


def _typed(record: dict[str, Any], name: str) -> Any:
    """Return an optional field. Raises ValueError."""
    try:
        return adapter_of(_OPTIONAL[name][1]).validate_python(record[name])
    except ValidationError as error:
        raise ValueError(f"{name} is wrong: {error.errors()[0]['msg']}") from error
