"""RAGTIME 2026: `metadata` and a list of questions with answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trecjudge.inputs.nuggets.bank import Bank, Raw, updated
from trecjudge.inputs.nuggets.entry import Entry
from trecjudge.inputs.sources.values import as_text
from trecjudge.records import GoldAnswer, Nugget

NAME = "ragtime26"
SUMMARY = "RAGTIME 2026: `metadata` and a list `nugget_bank` of questions with answers"
FILE_NAME = "{topic}.json"
RANK = 10  # before `autoargue`, which has a `nugget_bank` too
TOPIC_KEYS = ("topic_id",)


def claims(record: Raw) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    listed = isinstance(record.get("nugget_bank"), list)
    if listed and isinstance(record.get("metadata"), dict) and "query_id" not in record:
        return "it has `metadata` and a list `nugget_bank`"
    return None


def holder(record: Raw) -> Raw:
    """Return the part of the record that names the topic."""
    metadata: Raw = record["metadata"]
    return metadata


def nuggets(entry: Entry) -> Iterator[Nugget | None]:
    """Yield the questions."""
    for raw in entry.objects(entry.raw.get("nugget_bank"), "questions"):
        answers = (
            GoldAnswer(as_text(answer.get("answer")), entry.documents(answer.get("references")))
            for answer in entry.objects(raw.get("answers"), "answers")
        )
        text = as_text(raw.get("question"))
        yield entry.question(raw, text, answers, nugget_id=raw.get("question_id"))


def record(bank: Bank) -> dict[str, Any]:
    """Return the bank as a record of this format; a statement is a question that it answers."""
    raw = bank.raw_for(NAME)
    before = raw.get("metadata", {"team_id": "trecjudge"})
    metadata = {**before, "topic_id": bank.topic_id}
    for key in ("run_id", "run_desc"):
        metadata.setdefault(key, "bank")
    return updated(raw, metadata=metadata, nugget_bank=[_question(bank, n) for n in bank.nuggets])


def _question(bank: Bank, nugget: Nugget) -> dict[str, Any]:
    raw = bank.raw_nugget(NAME, nugget)
    before = {as_text(a.get("answer")): a for a in raw.get("answers") or [] if isinstance(a, dict)}
    answers = [
        updated(before.get(a.text, {}), answer=a.text, references=_references(before, a))
        for a in nugget.gold_answers
    ]
    return updated(
        raw,
        question=nugget.text,
        aggregator_type="AND" if nugget.together else "OR",
        importance=nugget.importance or None,
        answers=answers,
    )


def _references(before: Mapping[str, Raw], answer: GoldAnswer) -> list[Any]:
    """Return the references, as objects where the record has them so."""
    listed = before.get(answer.text, {}).get("references")
    if isinstance(listed, list) and any(isinstance(each, dict) for each in listed):
        return [{"doc_id": doc_id} for doc_id in answer.documents]
    return list(answer.documents)
