"""Auto-ARGUE's bank, version 3: questions and claims by their text, answers by theirs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from trecjudge.inputs.nuggets.bank import Bank, Raw, updated
from trecjudge.inputs.nuggets.entry import Entry
from trecjudge.inputs.sources.values import as_id, as_text
from trecjudge.records import GoldAnswer, Nugget

NAME = "autoargue"
SUMMARY = "Auto-ARGUE v3: `nugget_bank` and `claim_bank` by question and claim"
FILE_NAME = "nuggets_{topic}.v3.json"
HUMAN, MODEL = "human", "model"
BANKS = ("nugget_bank", "claim_bank")
TOPIC_KEYS = ("query_id",)
TITLE_KEY = "title_query"


def claims(record: Raw) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    if not any(isinstance(record.get(bank), dict | list) for bank in BANKS):
        return None
    if "title_query" in record or "query_id" in record or "format_version" in record:
        return "it has `nugget_bank` or `claim_bank` and `query_id` or `title_query`"
    return "it has `claim_bank`" if "claim_bank" in record else None


def nuggets(entry: Entry) -> Iterator[Nugget | None]:
    """Yield the questions, those inside them, and the claims."""
    for raw in entry.objects(entry.raw.get("nugget_bank"), "questions"):
        yield from _nested(entry, raw)
    for raw in entry.objects(entry.raw.get("claim_bank"), "claims"):
        yield from _nested(entry, raw)


def _nested(entry: Entry, raw: Raw) -> Iterator[Nugget | None]:
    documents = entry.documents(raw.get("references"))
    if "claim" in raw:
        text, given = as_text(raw["claim"]), raw.get("claim_id")
        yield entry.nugget(raw, text, given, documents=documents, source=_creator(raw))
    else:
        text, given = as_text(raw.get("question")), raw.get("question_id")
        answers = _answers(entry, raw)
        yield entry.question(
            raw, text, answers, nugget_id=given, documents=documents, source=_creator(raw)
        )
    for inner in entry.objects(raw.get("sub_nuggets"), "sub_nuggets"):
        yield from _nested(entry, inner)


def _answers(entry: Entry, raw: Raw) -> Iterator[GoldAnswer]:
    listed = raw.get("answers")
    if isinstance(listed, list) and all(isinstance(answer, str) for answer in listed):
        yield from map(GoldAnswer, listed)
        return
    for answer in entry.objects(listed, "answers"):
        yield GoldAnswer(as_text(answer.get("answer")), entry.documents(answer.get("references")))


def _creator(raw: Raw) -> str:
    if named := as_text(raw.get("source")):
        return named
    listed = raw.get("creator")
    people = [c.get("is_human") for c in listed or [] if isinstance(c, dict)]
    if not people:
        return ""
    return HUMAN if any(people) else MODEL


def _source(raw: Raw, nugget: Nugget) -> str | None:
    """Return who a nugget is from; None where its `creator` names the same."""
    return nugget.source if nugget.source and nugget.source != _creator(raw) else None


def record(bank: Bank) -> dict[str, Any]:
    """Return the bank as a record of this format."""
    raw = bank.raw_for(NAME)
    questions = {n.text: _question(bank, n) for n in bank.nuggets if n.is_question}
    statements = {n.text: _claim(bank, n) for n in bank.nuggets if not n.is_question}
    return updated(
        raw,
        query_id=bank.topic_id,
        title_query=bank.title or raw.get("title_query", ""),
        format_version=raw.get("format_version", "v3"),
        nugget_bank=questions,
        claim_bank=statements or None,
    )


def _question(bank: Bank, nugget: Nugget) -> dict[str, Any]:
    raw = bank.raw_nugget(NAME, nugget)
    before = raw.get("answers")
    kept = before if isinstance(before, dict) else {}
    answers = {
        answer.text: updated(
            kept.get(answer.text, {}),
            answer=answer.text,
            references=_references(answer.documents, kept.get(answer.text, {})),
        )
        for answer in nugget.answers
    }
    return updated(
        raw,
        question=nugget.text,
        answers=answers,
        question_id=raw.get("question_id") or _digest(nugget.text),
        aggregator_type="AND" if nugget.together else "OR",
        query_id=bank.topic_id,
        importance=nugget.importance or None,
        references=_references(nugget.documents, raw) or None,
        source=_source(raw, nugget) or raw.get("source"),
        sub_nuggets=None,  # they are nuggets of their own here
    )


def _claim(bank: Bank, nugget: Nugget) -> dict[str, Any]:
    raw = bank.raw_nugget(NAME, nugget)
    return updated(
        raw,
        claim=nugget.text,
        claim_id=raw.get("claim_id") or _digest(nugget.text),
        query_id=bank.topic_id,
        importance=nugget.importance or None,
        references=_references(nugget.documents, raw),
        source=_source(raw, nugget) or raw.get("source"),
        sub_nuggets=None,
    )


def _references(documents: tuple[str, ...], before: Raw) -> list[Any]:
    """Return references to documents, each as the record has it already, if it does."""
    listed = before.get("references")
    known = {_doc_id(raw): raw for raw in (listed if isinstance(listed, list) else ())}
    return [known.get(doc_id, {"doc_id": doc_id}) for doc_id in documents]


def _doc_id(reference: object) -> str | None:
    return as_id(reference.get("doc_id") if isinstance(reference, dict) else reference)


def _digest(text: str) -> str:
    """Return the id that the format makes of a text."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
