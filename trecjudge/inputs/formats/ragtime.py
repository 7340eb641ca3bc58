"""RAGTIME 2025 and 2026: `responses` whose citations are a dict id -> score, or a list of ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trecjudge.inputs.formats.draft import Draft, from_metadata

NAME = "ragtime"
DATASET = "ragtime"
SUMMARY = "RAGTIME 2025/2026: `responses` with citations as {id: score} or as a list of ids"
RANK = 200  # the shape that other formats add keys to, so asked last


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    return "it has `responses`" if "responses" in record and record.get("answer") is None else None


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the record's parts."""
    return from_metadata(record, "responses")
