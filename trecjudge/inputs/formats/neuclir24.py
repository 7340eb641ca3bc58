"""NeuCLIR 2024 report generation: flat records, `sentences` with lists of document ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trecjudge.inputs.formats.draft import Draft, from_metadata

NAME = "neuclir24"
DATASET = "ragtime"
SUMMARY = "NeuCLIR 2024 reports: flat record, `request_id`, `sentences` with lists of ids"


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    ours = "sentences" in record and "responses" not in record and "answer" not in record
    return "it has `sentences`" if ours else None


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the record's parts; the format names no team."""
    return from_metadata(record, "sentences", team_expected=False)
