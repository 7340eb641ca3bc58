"""A response as a judgments file has it: without documents, and without where it was read."""

from __future__ import annotations

import sys
from typing import Any

from pydantic import TypeAdapter, ValidationError

from trecjudge.findings import shown
from trecjudge.records import Citation, Copies, ProvenanceLine, Response, Sentence

NAMES = "run_id", "topic_id", "team_id"
_COPIES = TypeAdapter(Copies | None)
_PROVENANCE = TypeAdapter(tuple[ProvenanceLine, ...])


def response_record(response: Response) -> dict[str, Any]:
    """Return a response as stored. Copies and provenance are written only where they are known."""
    record = {
        "record": "response",
        "run_id": response.run_id,
        "topic_id": response.topic_id,
        "team_id": response.team_id,
        "sentences": response.sentences,
        "references": response.references,
        "documents_given": response.documents_given,
    }
    if response.copies is not None:
        record["copies"] = response.copies
    if response.provenance:
        record["provenance"] = response.provenance
    return record


def response_of(record: dict[str, Any]) -> Response:
    """Return the response of a record. Raises KeyError, TypeError or ValueError if it is none."""
    for name in NAMES:
        if not isinstance(record[name], str):
            raise ValueError(f"{name} is {shown(record[name])}")
    # Each once: many responses have the name of a run or topic, and who scores them keeps it.
    run_id, topic_id, team_id = (sys.intern(record[name]) for name in NAMES)
    sentences = tuple(
        Sentence(s["index"], s["text"], tuple(Citation(**c) for c in s["citations"]))
        for s in record["sentences"]
    )
    return Response(
        run_id=run_id,
        topic_id=topic_id,
        team_id=team_id,
        sentences=sentences,
        references=tuple(record["references"]),
        documents_given=record["documents_given"],
        copies=_typed(_COPIES, record, "copies", None),
        provenance=_typed(_PROVENANCE, record, "provenance", ()),
    )


def _typed(adapter: TypeAdapter[Any], record: dict[str, Any], name: str, missing: Any) -> Any:
    """Return an optional field, which older files lack. Raises ValueError."""
    if name not in record:
        return missing
    try:
        return adapter.validate_python(record[name])
    except ValidationError as error:
        raise ValueError(f"{name} is wrong: {error.errors()[0]['msg']}") from error
