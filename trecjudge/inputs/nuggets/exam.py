"""RUBRIC and EXAM++: items of questions or nuggets, by facet, mostly without answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trecjudge.inputs.nuggets.bank import Bank, Raw, updated, with_items
from trecjudge.inputs.nuggets.entry import Entry
from trecjudge.inputs.sources.values import as_text
from trecjudge.records import GoldAnswer, Nugget

NAME = "exam"
SUMMARY = "RUBRIC and EXAM++: `items` of `question_text` or `nugget_text`, by `facet_id`"
FILE_NAME = "{topic}.json"
TOPIC_KEYS = ("query_id",)
TITLE_KEY = "query_text"


def claims(record: Raw) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    items = record.get("items")
    texts = ("question_text", "nugget_text")
    if not isinstance(items, list) or "query_id" not in record:
        return None
    found = any(key in item for item in items if isinstance(item, dict) for key in texts)
    return "it has `items` of `question_text` or `nugget_text`" if found else None


def nuggets(entry: Entry) -> Iterator[Nugget | None]:
    """Yield questions and statements, with the facet as their group."""
    facet = as_text(entry.raw.get("facet_text")) or as_text(entry.raw.get("facet_id"))
    for raw in entry.objects(entry.raw.get("items"), "items"):
        group = facet or as_text(raw.get("facet_id"))
        if "nugget_text" in raw:
            yield entry.nugget(raw, as_text(raw["nugget_text"]), raw.get("nugget_id"), group=group)
            continue
        listed = raw.get("gold_answers") or []
        answers = (GoldAnswer(a) for a in listed if isinstance(a, str))
        text = as_text(raw.get("question_text"))
        yield entry.question(raw, text, answers, nugget_id=raw.get("question_id"), group=group)


def record(bank: Bank) -> dict[str, Any]:
    """Return the bank as a record of this format."""
    items = [_item(bank, nugget) for nugget in bank.nuggets]
    return with_items(bank, NAME, items)


def _item(bank: Bank, nugget: Nugget) -> dict[str, Any]:
    raw = bank.raw_nugget(NAME, nugget)
    what = "question" if nugget.is_question else "nugget"
    answers = [answer.text for answer in nugget.answers]
    found = updated(
        raw,
        query_id=bank.topic_id,
        gold_answers=answers or None,
    )
    # Null where there is none: by this key the format is known.
    return (
        {"facet_id": nugget.group or None}
        | found
        | {
            f"{what}_id": raw.get(f"{what}_id") or f"{bank.topic_id}/{nugget.nugget_id}",
            f"{what}_text": nugget.text,
        }
    )
