"""The formats of nugget banks, a row each: how a record is recognised, read and written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from trecjudge.errors import InputError, unknown
from trecjudge.inputs.nuggets import criteria
from trecjudge.inputs.nuggets.bank import Bank, BankRecord, Raw, as_statements, update_record
from trecjudge.inputs.sources.values import as_id, as_text
from trecjudge.records import GoldAnswer, Nugget

Nuggets = Iterator[Nugget | None]
QUERY_KEYS = ("query_id",)
EXAM_KEYS = ("facet_id", "facet_text", "nugget_id", "nugget_text")
DEGREES = {"A": "A: Have to Know", "B": "B: Good to Know", "C": "C: Nice to Know"}
"""The importance of DRAGUN's questions."""
DEGREE_OF = {"vital": "A", "okay": "B"}
"""The degree for importance of other formats; none is the lowest."""
OKAY_IF_NONE = "okay"
"""The importance that AutoNuggetizer's format requires, where a bank has none."""


@dataclass(frozen=True, slots=True)
class BankFormat:
    """One format of banks.

    `claims` returns why a record is of this format, or None. `nuggets` yields what an entry has,
    None for a nugget that cannot be used. `write` makes the record of a bank whose `raw` is of this
    format, or empty. `FILE_NAME` is that of a topic's file in a folder; `holder` returns the part
    of a record that has the topic's id.
    """

    NAME: str
    SUMMARY: str
    TOPIC_KEYS: tuple[str, ...]
    claims: Callable[[Raw], str | None]
    nuggets: Callable[[BankRecord], Nuggets]
    write: Callable[[Bank], dict[str, Any]]
    TITLE_KEY: str = ""
    FILE_NAME: str = "{topic}.json"
    holder: Callable[[Raw], Raw] = lambda record: record

    def record(self, bank: Bank) -> dict[str, Any]:
        """Return a bank as a record of this format; keys unknown here stay as they were read."""
        ours = bank.format == self.NAME
        return self.write(bank if ours else replace(bank, raw={}, raw_nuggets={}))


def bank_formats() -> tuple[BankFormat, ...]:
    """Return every format in the order in which they are asked."""
    return FORMATS


def bank_format_named(name: str) -> BankFormat:
    """Return the format of this name. Raises InputError with the choices."""
    for format_ in FORMATS:
        if name == format_.NAME:
            return format_
    raise InputError(unknown("bank format", name, (f.NAME for f in FORMATS)))


def bank_format_of(record: Mapping[str, Any]) -> BankFormat | None:
    """Return the format of a record, None if it is no bank."""
    return next((f for f in FORMATS if f.claims(record)), None)


def _dicts(value: object) -> list[Raw]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _answers(entry: BankRecord, listed: object, what: str) -> Iterator[GoldAnswer]:
    for answer in entry.objects(listed, what):
        yield GoldAnswer(as_text(answer.get("answer")), entry.documents(answer.get("references")))


def _claims_ragtime(record: Raw) -> str | None:
    listed = isinstance(record.get("nugget_bank"), list)
    if listed and isinstance(record.get("metadata"), dict) and "query_id" not in record:
        return "it has `metadata` and a list `nugget_bank`"
    return None


def _read_ragtime(entry: BankRecord) -> Nuggets:
    for raw in entry.objects(entry.raw.get("nugget_bank"), "questions"):
        answers = _answers(entry, raw.get("answers"), "answers")
        text = as_text(raw.get("question"))
        yield entry.question(raw, text, answers, nugget_id=raw.get("question_id"))


def _write_ragtime(bank: Bank) -> dict[str, Any]:
    """Return the record; a statement is a question that it answers."""
    metadata = {**bank.raw.get("metadata", {"team_id": "trecjudge"}), "topic_id": bank.topic_id}
    for key in ("run_id", "run_desc"):
        metadata.setdefault(key, "bank")
    questions = [_ragtime_question(bank.raw_nugget(n), n) for n in bank.nuggets]
    return update_record(bank.raw, metadata=metadata, nugget_bank=questions)


def _ragtime_question(raw: Raw, nugget: Nugget) -> dict[str, Any]:
    before = {as_text(a.get("answer")): a for a in _dicts(raw.get("answers"))}
    answers = []
    for answer in nugget.gold_answers:
        known = before.get(answer.text, {})
        # As objects where the record has them so.
        as_objects = bool(_dicts(known.get("references")))
        references = [{"doc_id": d} if as_objects else d for d in answer.documents]
        answers.append(update_record(known, answer=answer.text, references=references))
    return update_record(
        raw,
        question=nugget.text,
        aggregator_type="AND" if nugget.together else "OR",
        importance=nugget.importance or None,
        answers=answers,
    )


def _claims_neuclir(record: Raw) -> str | None:
    found = _dicts(record.get("items"))
    if any(key in item for item in (record, *found) for key in EXAM_KEYS):
        return None
    with_answers = any("gold_answers" in item for item in found)
    return "it has `items` with `gold_answers`" if with_answers else None


def _read_neuclir(entry: BankRecord) -> Nuggets:
    """Yield each question once, with the answers of all items that have it."""
    by_text: dict[str, list[Raw]] = {}
    for raw in entry.objects(entry.raw.get("items"), "items"):
        by_text.setdefault(as_text(raw.get("question_text")), []).append(raw)
    for text, items in by_text.items():
        if len(items) > 1:
            entry.complain("nugget_repeated", f"question {text!r} is in {len(items)} items")
        info = items[0].get("info")
        known = info if isinstance(info, dict) else {}
        answers = [answer for raw in items for answer in _neuclir_answers(entry, raw)]
        found = {**items[0], **{k: known.get(k) for k in ("importance", "aggregator_type")}}
        yield entry.question(found, text, answers, nugget_id=items[0].get("question_id"))


def _neuclir_answers(entry: BankRecord, raw: Raw) -> Iterator[GoldAnswer]:
    listed = raw.get("gold_answers")
    for answer in listed if isinstance(listed, list) else []:
        if isinstance(answer, str):  # older files
            yield GoldAnswer(answer)
        elif isinstance(answer, dict):
            documents = entry.documents(answer.get("citations"))
            yield GoldAnswer(as_text(answer.get("answer")), documents)
        else:
            entry.complain("nugget_unusable", "one of the gold_answers is no answer", answer)


def _with_items(bank: Bank, items: Iterable[Raw]) -> dict[str, Any]:
    """Return a record that lists items under a query."""
    return update_record(
        bank.raw,
        query_id=bank.topic_id,
        test_collection=bank.raw.get("test_collection", ""),
        query_text=bank.title or bank.raw.get("query_text", ""),
        hash=bank.raw.get("hash", 0),
        items=list(items),
    )


def _write_neuclir(bank: Bank) -> dict[str, Any]:
    return _with_items(bank, (_neuclir_item(bank, n, at) for at, n in enumerate(bank.nuggets)))


def _neuclir_item(bank: Bank, nugget: Nugget, number: int) -> dict[str, Any]:
    # The format keeps them in `info`; outside of it they are only what the reader put there.
    raw = update_record(bank.raw_nugget(nugget), importance=None, aggregator_type=None)
    known = raw.get("info")
    info = update_record(
        known if isinstance(known, dict) else {"importance": "", "used": False},
        importance=nugget.importance,
        aggregator_type="AND" if nugget.together else None,
    )
    answers = [{"answer": a.text, "citations": list(a.documents)} for a in nugget.gold_answers]
    return update_record(
        raw,
        query_id=bank.topic_id,
        info=info,
        question_id=raw.get("question_id") or f"{bank.topic_id}_{number}",
        question_text=nugget.text,
        gold_answers=answers,
    )


def _claims_rag25(record: Raw) -> str | None:
    mapped = any("mapped_sub_narrative" in raw for raw in _dicts(record.get("nuggets")))
    return "its nuggets have `mapped_sub_narrative`" if mapped and "qid" in record else None


def _claims_nuggetizer(record: Raw) -> str | None:
    ours = "qid" in record and isinstance(record.get("nuggets"), list)
    return "it has `qid` and `nuggets`" if ours else None


def _read_nuggetizer(entry: BankRecord) -> Nuggets:
    for raw in entry.objects(entry.raw.get("nuggets"), "nuggets"):
        group, source = (as_text(raw.get(key)) for key in ("mapped_sub_narrative", "source"))
        yield entry.nugget(raw, as_text(raw.get("text")), group=group, source=source)


def _write_rag25(bank: Bank) -> dict[str, Any]:
    listed = [
        update_record(
            bank.raw_nugget(nugget),
            text=text,
            mapped_sub_narrative=nugget.group,
            importance=nugget.importance or OKAY_IF_NONE,
            source=nugget.source or "original",
        )
        for nugget, text in as_statements(bank)
    ]
    return update_record(bank.raw, qid=bank.topic_id, nuggets=listed)


def _write_nuggetizer(bank: Bank) -> dict[str, Any]:
    listed = [
        update_record(bank.raw_nugget(n), text=text, importance=n.importance or OKAY_IF_NONE)
        for n, text in as_statements(bank)
    ]
    query = bank.title or bank.raw.get("query", "")
    return update_record(bank.raw, query=query, qid=bank.topic_id, nuggets=listed)


def _claims_autoargue(record: Raw) -> str | None:
    banks = ("nugget_bank", "claim_bank")
    if not any(isinstance(record.get(bank), dict | list) for bank in banks):
        return None
    if "title_query" in record or "query_id" in record or "format_version" in record:
        return "it has `nugget_bank` or `claim_bank` and `query_id` or `title_query`"
    return "it has `claim_bank`" if "claim_bank" in record else None


def _read_autoargue(entry: BankRecord) -> Nuggets:
    for key, what in (("nugget_bank", "questions"), ("claim_bank", "claims")):
        for raw in entry.objects(entry.raw.get(key), what):
            yield from _autoargue_nuggets(entry, raw)


def _autoargue_nuggets(entry: BankRecord, raw: Raw) -> Nuggets:
    """Yield a question or a claim, and those inside it."""
    more = {"documents": entry.documents(raw.get("references")), "source": _creator(raw)}
    if "claim" in raw:
        yield entry.nugget(raw, as_text(raw["claim"]), raw.get("claim_id"), **more)
    else:
        listed = raw.get("answers")
        plain = isinstance(listed, list) and all(isinstance(answer, str) for answer in listed)
        answers = map(GoldAnswer, listed or ()) if plain else _answers(entry, listed, "answers")
        text = as_text(raw.get("question"))
        yield entry.question(raw, text, answers, nugget_id=raw.get("question_id"), **more)
    for inner in entry.objects(raw.get("sub_nuggets"), "sub_nuggets"):
        yield from _autoargue_nuggets(entry, inner)


def _creator(raw: Raw) -> str:
    if named := as_text(raw.get("source")):
        return named
    people = [creator.get("is_human") for creator in _dicts(raw.get("creator"))]
    return ("human" if any(people) else "model") if people else ""


def _write_autoargue(bank: Bank) -> dict[str, Any]:
    statements = {n.text: _autoargue_claim(bank, n) for n in bank.nuggets if not n.is_question}
    return update_record(
        bank.raw,
        query_id=bank.topic_id,
        title_query=bank.title or bank.raw.get("title_query", ""),
        format_version=bank.raw.get("format_version", "v3"),
        nugget_bank={n.text: _autoargue_question(bank, n) for n in bank.nuggets if n.is_question},
        claim_bank=statements or None,
    )


def _autoargue_question(bank: Bank, nugget: Nugget) -> dict[str, Any]:
    raw = bank.raw_nugget(nugget)
    before = raw.get("answers")
    kept: Raw = before if isinstance(before, dict) else {}
    answers = {}
    for answer in nugget.answers:
        known = kept.get(answer.text, {})
        references = _references(answer.documents, known)
        answers[answer.text] = update_record(known, answer=answer.text, references=references)
    return update_record(
        raw,
        question=nugget.text,
        answers=answers,
        question_id=raw.get("question_id") or _digest(nugget.text),
        aggregator_type="AND" if nugget.together else "OR",
        **_autoargue_rest(bank, nugget),
        references=_references(nugget.documents, raw) or None,
        sub_nuggets=None,  # they are nuggets of their own here
    )


def _autoargue_claim(bank: Bank, nugget: Nugget) -> dict[str, Any]:
    raw = bank.raw_nugget(nugget)
    return update_record(
        raw,
        claim=nugget.text,
        claim_id=raw.get("claim_id") or _digest(nugget.text),
        **_autoargue_rest(bank, nugget),
        references=_references(nugget.documents, raw),
        sub_nuggets=None,
    )


def _autoargue_rest(bank: Bank, nugget: Nugget) -> dict[str, Any]:
    raw = bank.raw_nugget(nugget)
    # Not where its `creator` names the same.
    source = nugget.source if nugget.source != _creator(raw) else ""
    return {
        "query_id": bank.topic_id,
        "importance": nugget.importance or None,
        "source": source or raw.get("source"),
    }


def _references(documents: tuple[str, ...], before: Raw) -> list[Any]:
    """Return references to documents, each as the record has it already, if it does."""
    listed = before.get("references")
    known = {_doc_id(raw): raw for raw in (listed if isinstance(listed, list) else ())}
    return [known.get(doc_id, {"doc_id": doc_id}) for doc_id in documents]


def _doc_id(reference: object) -> str | None:
    return as_id(reference.get("doc_id") if isinstance(reference, dict) else reference)


def _digest(text: str) -> str:
    """Return the id that Auto-ARGUE makes of a text."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _claims_dragun(record: Raw) -> str | None:
    listed = record.get("rubrics")
    if not isinstance(listed, list):
        return None
    # Other tools' rubrics have the same key: what is none of them is no bank of empty questions.
    known = not listed or any("question_text" in raw for raw in _dicts(listed))
    return "it has `rubrics` of `question_text`" if known else None


def _read_dragun(entry: BankRecord) -> Nuggets:
    for raw in entry.objects(entry.raw.get("rubrics"), "rubrics"):
        answers = (
            GoldAnswer(
                as_text(answer.get("answer")),
                entry.documents(answer.get("references")),
                as_id(answer.get("answer_id")) or "",
            )
            for answer in entry.objects(raw.get("short_answers"), "short_answers")
        )
        text = as_text(raw.get("question_text"))
        yield entry.question(raw, text, answers, nugget_id=raw.get("question_id"))


def _write_dragun(bank: Bank) -> dict[str, Any]:
    numbers, rubrics = count(1), []
    for rank, nugget in enumerate(bank.nuggets, start=1):
        found = bank.raw_nugget(nugget)
        before = {as_id(a.get("answer_id")): a for a in found.get("short_answers", [])}
        answers = []
        for answer, number in zip(nugget.gold_answers, numbers, strict=False):
            written = update_record(
                before.get(answer.answer_id or None, {}),
                answer_id=answer.answer_id or f"na-{number}",
                answer=answer.text,
                references=list(answer.documents),
            )
            answers.append(written)
        degree = DEGREE_OF.get(nugget.importance, nugget.importance or "C")
        question = update_record(
            found,
            question_id=found.get("question_id") or f"{bank.topic_id}-{rank}",
            question_text=nugget.text,
            importance=DEGREES[degree],
            short_answers=answers,
        )
        rubrics.append(question)
    return update_record(
        bank.raw, topic_id=bank.raw.get("topic_id", bank.topic_id), rubrics=rubrics
    )


def _claims_exam(record: Raw) -> str | None:
    texts = {"question_text", "nugget_text"}
    found = any(not texts.isdisjoint(item) for item in _dicts(record.get("items")))
    ours = found and "query_id" in record
    return "it has `items` of `question_text` or `nugget_text`" if ours else None


def _read_exam(entry: BankRecord) -> Nuggets:
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


def _write_exam(bank: Bank) -> dict[str, Any]:
    return _with_items(bank, (_exam_item(bank, nugget) for nugget in bank.nuggets))


def _exam_item(bank: Bank, nugget: Nugget) -> dict[str, Any]:
    raw = bank.raw_nugget(nugget)
    what = "question" if nugget.is_question else "nugget"
    answers = [answer.text for answer in nugget.answers]
    return {
        "facet_id": nugget.group or None,  # null where there is none: it shows the format
        **update_record(raw, query_id=bank.topic_id, gold_answers=answers or None),
        f"{what}_id": raw.get(f"{what}_id") or f"{bank.topic_id}/{nugget.nugget_id}",
        f"{what}_text": nugget.text,
    }


# The order of asking: `criteria` has `rubrics` as `dragun_rubric` has, `ragtime26` a `nugget_bank`,
# `neuclir24` has `items` as `exam` has, and `rag25_nuggets` has the keys of `nuggetizer`.
FORMATS = (
    BankFormat(
        "criteria",
        "weighted criteria: `qid` and `rubrics` of `criterion`, `weight` (or `points`) and `axis`",
        criteria.TOPIC_KEYS,
        criteria.claims_criteria,
        criteria.read_criteria,
        criteria.write_criteria,
        criteria.TITLE_KEY,
    ),
    BankFormat(
        "ragtime26",
        "RAGTIME 2026: `metadata` and a list `nugget_bank` of questions with answers",
        ("topic_id",),
        _claims_ragtime,
        _read_ragtime,
        _write_ragtime,
        holder=lambda record: record["metadata"],
    ),
    BankFormat(
        "neuclir24",
        "NeuCLIR 2024: `items` of `question_text` and `gold_answers` with `citations`",
        QUERY_KEYS,
        _claims_neuclir,
        _read_neuclir,
        _write_neuclir,
        "query_text",
    ),
    BankFormat(
        "rag25_nuggets",
        "TREC RAG 2025: `qid` and `nuggets` with `mapped_sub_narrative` and `source`",
        ("qid",),
        _claims_rag25,
        _read_nuggetizer,
        _write_rag25,
    ),
    BankFormat(
        "autoargue",
        "Auto-ARGUE v3: `nugget_bank` and `claim_bank` by question and claim",
        QUERY_KEYS,
        _claims_autoargue,
        _read_autoargue,
        _write_autoargue,
        "title_query",
        "nuggets_{topic}.v3.json",
    ),
    BankFormat(
        "dragun_rubric",
        "DRAGUN: `rubrics` of questions with `short_answers`",
        ("topic_id",),
        _claims_dragun,
        _read_dragun,
        _write_dragun,
    ),
    BankFormat(
        "exam",
        "RUBRIC and EXAM++: `items` of `question_text` or `nugget_text`, by `facet_id`",
        QUERY_KEYS,
        _claims_exam,
        _read_exam,
        _write_exam,
        "query_text",
    ),
    BankFormat(
        "nuggetizer",
        "AutoNuggetizer (TREC RAG): `qid` and `nuggets` of `text` and `importance`",
        ("qid",),
        _claims_nuggetizer,
        _read_nuggetizer,
        _write_nuggetizer,
        "query",
    ),
)
