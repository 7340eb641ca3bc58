"""TREC RAG 2025's development nuggets: statements mapped to sub-narratives, without the query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trecjudge.inputs.nuggets import nuggetizer
from trecjudge.inputs.nuggets.bank import Bank, Raw, updated
from trecjudge.inputs.nuggets.entry import Entry
from trecjudge.records import Nugget

NAME = "rag25_nuggets"
SUMMARY = "TREC RAG 2025: `qid` and `nuggets` with `mapped_sub_narrative` and `source`"
FILE_NAME = "{topic}.json"
RANK = 30  # before `nuggetizer`, whose keys it has too
TOPIC_KEYS = nuggetizer.TOPIC_KEYS


def claims(record: Raw) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    listed = record.get("nuggets")
    if "qid" not in record or not isinstance(listed, list):
        return None
    mapped = any("mapped_sub_narrative" in raw for raw in listed if isinstance(raw, dict))
    return "its nuggets have `mapped_sub_narrative`" if mapped else None


def nuggets(entry: Entry) -> Iterator[Nugget | None]:
    """Yield the statements."""
    yield from nuggetizer.nuggets(entry)


def record(bank: Bank) -> dict[str, Any]:
    """Return the bank as a record of this format."""
    listed = [
        updated(
            bank.raw_nugget(NAME, nugget),
            text=text,
            mapped_sub_narrative=nugget.group,
            importance=nugget.importance or nuggetizer.OKAY_IF_NONE,
            source=nugget.source or "original",
        )
        for nugget in bank.nuggets
        for text in nuggetizer.statements_of(nugget)
    ]
    return updated(bank.raw_for(NAME), qid=bank.topic_id, nuggets=listed)
