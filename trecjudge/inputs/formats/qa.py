"""Question, answer and contexts, as RAG pipelines and the tools around them write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.formats.draft import ABSENT, Draft
from trecjudge.inputs.pipelines.contexts import ids_made, in_order, read_contexts
from trecjudge.inputs.pipelines.parts import is_list_of_sentences, parts_of, sample_of

NAME = "qa"
DATASET = "any"
SUMMARY = "question, answer and contexts: RAGAS, DeepEval, LangChain, LlamaIndex, chat messages..."
# Before the formats of the tracks: these would take any record with an `answer`.
RANK = 20
SOURCES = ("attribution", "attributions")
SAID = ("confidence", "grounded", "groundedness", "similarity")
"""What a system says of its answer, and of each of its contexts."""


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
    found = read_contexts(parts.contexts)
    given = record.get("answer")
    entries = in_order(parts.contexts) if isinstance(parts.contexts, list) else []
    of_contexts = [_said_beside(entry) if isinstance(entry, Mapping) else {} for entry in entries]
    listed = parts.contexts is not None and not found.unread
    return Draft(
        run_id=parts.run_id or ABSENT,
        team_id=ABSENT,
        topic_ids=(("question", parts.topic_id),),
        sentences=given if is_list_of_sentences(given) and given else parts.answer,
        references=[document.doc_id for document in found.documents] if listed else ABSENT,
        documents=found if parts.contexts is not None else ABSENT,
        narrative=parts.question,
        of_a_track=False,
        retrieved=tuple(d.doc_id for d in found.documents) if listed and parts.ranked else None,
        key="answer",
        spans=parts.spans,
        background=parts.background,
        said=_said_beside(record) | ({"contexts": of_contexts} if any(of_contexts) else {}),
        sample=sample_of(record),
        sources=_sources(record),
    )


def _sources(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sources that a record lists for the numbers of its answer, as ExpertQA does."""
    given = next((record[key] for key in record if plain(key) in SOURCES), None)
    return tuple(e for e in given if isinstance(e, str)) if isinstance(given, list) else ()


def _said_beside(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: record[key] for key in record if plain(key) in SAID}
