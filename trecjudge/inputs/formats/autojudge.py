"""The AutoJudge round trip: a run of any track as AutoJudge writes it out again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trecjudge.inputs.formats.draft import ABSENT, Draft, from_metadata

NAME = "autojudge"
DATASET = "any"
SUMMARY = "AutoJudge round trip: `responses` and `answer` alike, citations by id or by index"
# Before the formats of the tracks, whose keys it has too.
RANK = 10


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    if "is_ragtime" in record:
        return "it has `is_ragtime`"
    if record.get("responses") is not None and record.get("answer") is not None:
        return "it has both `responses` and `answer`"
    return None


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the record's parts; of `responses` and `answer` the first that is there counts."""
    # An empty one comes second: some runs have both keys and fill only one.
    here = [key for key in ("responses", "answer") if record.get(key) is not None]
    key, *others = sorted(here, key=lambda key: not record[key]) or ["responses"]
    again = record[others[0]] if others else ABSENT
    return replace(from_metadata(record, key, team_expected=False), again=again)
