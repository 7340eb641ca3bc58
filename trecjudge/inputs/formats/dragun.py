"""DRAGUN 2025 task 2: `responses` with lists of segment ids; files carry no extension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trecjudge.inputs.formats.draft import Draft, from_metadata, metadata_of

NAME = "dragun"
DATASET = "dragun"
SUMMARY = "DRAGUN 2025 reports: `responses` with lists of segment ids, `use_starter_kit`"


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    ours = "responses" in record and "use_starter_kit" in metadata_of(record)
    return "its metadata has `use_starter_kit`" if ours else None


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the record's parts."""
    return from_metadata(record, "responses")
