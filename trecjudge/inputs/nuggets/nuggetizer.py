"""AutoNuggetizer's statements, of TREC RAG 2024 and 2025, with labels or without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trecjudge.inputs.nuggets.bank import Bank, Raw, updated
from trecjudge.inputs.nuggets.entry import Entry
from trecjudge.inputs.sources.values import as_text
from trecjudge.records import Nugget

NAME = "nuggetizer"
SUMMARY = "AutoNuggetizer (TREC RAG): `qid` and `nuggets` of `text` and `importance`"
FILE_NAME = "{topic}.json"
TOPIC_KEYS = ("qid",)
TITLE_KEY = "query"
RAG25_KEYS = ("mapped_sub_narrative", "source")


def claims(record: Raw) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    if "qid" not in record or not isinstance(record.get("nuggets"), list):
        return None
    return "it has `qid` and `nuggets`"


def nuggets(entry: Entry) -> Iterator[Nugget | None]:
    """Yield the statements."""
    for raw in entry.objects(entry.raw.get("nuggets"), "nuggets"):
        group, source = (as_text(raw.get(key)) for key in RAG25_KEYS)
        yield entry.nugget(raw, as_text(raw.get("text")), group=group, source=source)


def record(bank: Bank) -> dict[str, Any]:
    """Return the bank as a record of this format; the answers of a question become statements."""
    raw = bank.raw_for(NAME)
    nuggets_ = [
        updated(
            bank.raw_nugget(NAME, nugget), text=text, importance=nugget.importance or OKAY_IF_NONE
        )
        for nugget in bank.nuggets
        for text in statements_of(nugget)
    ]
    return updated(
        raw, query=bank.title or raw.get("query", ""), qid=bank.topic_id, nuggets=nuggets_
    )


OKAY_IF_NONE = "okay"
"""The importance that is written where the bank has none: the format requires one."""


def statements_of(nugget: Nugget) -> list[str]:
    """Return a nugget as statements: itself, or a question with each of its answers."""
    if not nugget.is_question:
        return [nugget.text]
    answers = [answer.text for answer in nugget.answers]
    joined = answers if nugget.together else [" / ".join(answers)] if answers else []
    return [f"{nugget.text} {answer}" for answer in joined]
