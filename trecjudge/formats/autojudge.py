"""The AutoJudge round trip: a run of any track as AutoJudge writes it out again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trecjudge.formats.draft import Draft, from_metadata

NAME = "autojudge"
DATASET = "any"
SUMMARY = "AutoJudge round trip: `responses` and `answer` alike, `documents`; `references` ignored"
RANK = 10


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    if "is_ragtime" in record:
        return "it has `is_ragtime`"
    if record.get("responses") is not None and record.get("answer") is not None:
        return "it has both `responses` and `answer`"
    return None


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the record's parts; citations are ids, `references` only lists them again."""
    key = "responses" if record.get("responses") is not None else "answer"
    return from_metadata(record, key, references=None, team_expected=False)
