"""NeuCLIR 2024 and report_gen_eval: items of a question and its gold answers with citations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trecjudge.inputs.nuggets.bank import Bank, Raw, updated, with_items, without
from trecjudge.inputs.nuggets.entry import Entry
from trecjudge.inputs.sources.values import as_text
from trecjudge.records import GoldAnswer, Nugget

NAME = "neuclir24"
SUMMARY = "NeuCLIR 2024: `items` of `question_text` and `gold_answers` with `citations`"
FILE_NAME = "{topic}.json"
RANK = 20  # before `exam`, which has `items` too
TOPIC_KEYS = ("query_id",)
TITLE_KEY = "query_text"
EXAM_KEYS = ("facet_id", "facet_text", "nugget_id", "nugget_text")


def claims(record: Raw) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    items = record.get("items")
    if not isinstance(items, list):
        return None
    found = [item for item in items if isinstance(item, dict)]
    if any(key in item for item in (record, *found) for key in EXAM_KEYS):
        return None
    with_answers = any("gold_answers" in item for item in found)
    return "it has `items` with `gold_answers`" if with_answers else None


def nuggets(entry: Entry) -> Iterator[Nugget | None]:
    """Yield each question once, with the answers of all items that have it."""
    by_text: dict[str, list[Raw]] = {}
    for raw in entry.objects(entry.raw.get("items"), "items"):
        by_text.setdefault(as_text(raw.get("question_text")), []).append(raw)
    for text, items in by_text.items():
        if len(items) > 1:
            entry.complain("nugget_repeated", f"question {text!r} is in {len(items)} items")
        info = items[0].get("info")
        known = info if isinstance(info, dict) else {}
        answers = [answer for raw in items for answer in _answers(entry, raw)]
        found = {**items[0], **{k: known.get(k) for k in ("importance", "aggregator_type")}}
        yield entry.question(found, text, answers, nugget_id=items[0].get("question_id"))


def _answers(entry: Entry, raw: Raw) -> Iterator[GoldAnswer]:
    listed = raw.get("gold_answers")
    for answer in listed if isinstance(listed, list) else []:
        if isinstance(answer, str):  # older files
            yield GoldAnswer(answer)
        elif isinstance(answer, dict):
            yield GoldAnswer(
                as_text(answer.get("answer")), entry.documents(answer.get("citations"))
            )
        else:
            entry.complain("nugget_unusable", "one of the gold_answers is no answer", answer)


def record(bank: Bank) -> dict[str, Any]:
    """Return the bank as a record of this format."""
    items = [_item(bank, nugget, number) for number, nugget in enumerate(bank.nuggets)]
    return with_items(bank, NAME, items)


def _item(bank: Bank, nugget: Nugget, number: int) -> dict[str, Any]:
    # The format keeps them in `info`; outside of it they are only what the reader put there.
    raw = without(bank.raw_nugget(NAME, nugget), "importance", "aggregator_type")
    known = raw.get("info")
    info = updated(
        known if isinstance(known, dict) else {"importance": "", "used": False},
        importance=nugget.importance,
        aggregator_type="AND" if nugget.together else None,
    )
    answers = [{"answer": a.text, "citations": list(a.documents)} for a in nugget.gold_answers]
    return updated(
        raw,
        query_id=bank.topic_id,
        info=info,
        question_id=raw.get("question_id") or f"{bank.topic_id}_{number}",
        question_text=nugget.text,
        gold_answers=answers,
    )
