"""TREC RAG 2025 and 2026: `answer` with citations by index or by id, `references`, `metadata`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trecjudge.inputs.formats.draft import Draft, from_metadata
from trecjudge.inputs.pipelines.parts import with_contexts

NAME = "rag25"
DATASET = "rag"
OF_2026 = "rag2026-"
"""How the ids of the topics of 2026 begin."""
SUMMARY = "TREC RAG 2025/2026: `answer` with citations by index or id, `references`, `metadata`"


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    if "answer" not in record or record.get("responses") is not None:
        return None
    if "metadata" in record:
        return "it has `answer` and `metadata`"
    return "it has `answer` and `narrative_id`" if is_flat_rag25(record) else None


def is_flat_rag25(record: Mapping[str, Any]) -> bool:
    """Return whether a record without `metadata` names its topic as RAG 2025 and 2026 do."""
    ours = record.get("narrative_id") is not None or "narrative" in record
    return "metadata" not in record and ours and record.get("topic_id") is None


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the record's parts."""
    found = with_contexts(from_metadata(record, "answer"), record)
    # In 2025 the references are what was retrieved; in 2026 they are only what is cited.
    return replace(found, references_ranked=not (found.topic_id or "").startswith(OF_2026))
