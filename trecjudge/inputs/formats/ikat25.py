"""iKAT 2025: one record a turn, `references` as {id: score}, citations as {id: score}."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trecjudge.inputs.formats.draft import Draft, from_metadata

NAME = "ikat25"
DATASET = "rag"
SUMMARY = "iKAT 2025: `turn_id`, citations of `responses` and `references` as {id: score}"


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    return "it has `turn_id`" if "turn_id" in record and "responses" in record else None


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the record's parts; the turn is the topic."""
    found = from_metadata(record, "responses")
    return replace(found, topic_ids=(("turn_id", record["turn_id"]),))
