"""TREC RAG 2024: flat records, citations by index into `references`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trecjudge.inputs.formats.draft import Draft, from_metadata
from trecjudge.inputs.formats.rag25 import is_flat_rag25
from trecjudge.inputs.pipelines.parts import with_contexts

NAME = "rag24"
DATASET = "rag"
SUMMARY = "TREC RAG 2024: flat record, `answer` with citations by index into `references`"


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    flat = "answer" in record and record.get("responses") is None and "metadata" not in record
    ours = flat and not is_flat_rag25(record)
    return "it has `answer` and no `metadata`" if ours else None


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the record's parts; the format names no team."""
    found = with_contexts(from_metadata(record, "answer", team_expected=False), record)
    # In 2024 `topic` is the text of the topic; its id has a key of its own.
    return replace(found, narrative=record.get("topic", ""), references_ranked=True)
