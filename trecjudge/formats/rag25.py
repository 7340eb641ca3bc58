"""TREC RAG 2025 and 2026: `answer` with citations by index or by id, `references`, `metadata`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trecjudge.formats.draft import Draft, from_metadata

NAME = "rag25"
DATASET = "rag"
SUMMARY = "TREC RAG 2025/2026: `answer` with citations by index or id, `references`, `metadata`"


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    ours = "answer" in record and "metadata" in record and record.get("responses") is None
    return "it has `answer` and `metadata`" if ours else None


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the record's parts."""
    return from_metadata(record, "answer")
