"""Question, answer and contexts, as RAG pipelines and the tools around them write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trecjudge.inputs.formats.draft import ABSENT, Draft
from trecjudge.inputs.pipelines.contexts import documents_in, ids_made
from trecjudge.inputs.pipelines.parts import parts_of
from trecjudge.records import Document

NAME = "qa"
DATASET = "any"
SUMMARY = "question, answer and contexts: RAGAS, DeepEval, LangChain, LlamaIndex, chat messages..."
# Before the formats of the tracks: these would take any record with an `answer`.
RANK = 20


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    parts = parts_of(record)
    if parts is None:
        return None
    made = ["of topics from the question"] if parts.id_made else []
    made += ["of contexts from the text"] if ids_made(parts.contexts) else []
    return f"it has {parts.why}" + (f"; ids made: {', '.join(made)}" if made else "")


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the record's parts; the answer is one text, its contexts are what `[1]` counts."""
    parts = parts_of(record)
    assert parts is not None
    documents = documents_in(parts.contexts)
    given = parts.contexts is not None
    return Draft(
        run_id=parts.run_id or ABSENT,
        team_id=ABSENT,
        topic_ids=(("question", parts.topic_id),),
        sentences=parts.answer,
        references=[document.doc_id for document in documents] if given else ABSENT,
        documents={d.doc_id: _written(d) for d in documents} if given else ABSENT,
        narrative=parts.question,
        of_a_track=False,
        key="answer",
        spans=parts.spans,
        background=parts.background,
        retrieved=tuple(dict.fromkeys(d.doc_id for d in documents)) if parts.ranked else None,
    )


def _written(document: Document) -> dict[str, str]:
    """Return a document as a run carries it."""
    kept = ("text", "title", "url", "date", "version")
    return {name: value for name in kept if (value := getattr(document, name))}
