"""A bank of nuggets, the same for all formats; and its record while it is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.sources.values import as_id, as_text
from trecjudge.records import GoldAnswer, Nugget, Place
from trecjudge.records.nuggets import OKAY, VITAL

# A bank of nuggets: what a good answer to one topic says, the same for all formats.
Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bank:
    """The nuggets of a topic.

    `format` is the name of the format that it was read from, empty for one that was made; `raw` its
    record there, from which unknown keys are written again. `raw_nuggets` are the parts of the
    record by nugget_id.
    """

    topic_id: str
    nuggets: tuple[Nugget, ...]
    title: str = ""
    format: str = ""
    raw: Raw = field(default_factory=dict, compare=False, repr=False)
    raw_nuggets: Mapping[str, Raw] = field(default_factory=dict, compare=False, repr=False)
    place: Place | None = field(default=None, compare=False)

    @property
    def documents(self) -> dict[str, None]:
        """The ids of the documents of its nuggets and of their answers, each once, in order."""
        given = ((n.documents, *(a.documents for a in n.answers)) for n in self.nuggets)
        return {doc_id: None for every in given for documents in every for doc_id in documents}

    def raw_nugget(self, nugget: Nugget) -> Raw:
        """Return a nugget's part of the record, empty for one that is not from there."""
        return self.raw_nuggets.get(nugget.nugget_id, {})


def update_record(raw: Raw, **known: Any) -> dict[str, Any]:
    """Return a record in its own order with these values; a key whose value is None is left out."""
    found = {**raw, **{key: value for key, value in known.items() if value is not None}}
    return {key: value for key, value in found.items() if known.get(key, value) is not None}


def as_statements(bank: Bank) -> Iterator[tuple[Nugget, str]]:
    """Yield the nuggets with their texts as statements: a question with each of its answers."""
    for nugget in bank.nuggets:
        answers = [answer.text for answer in nugget.answers]
        joined = answers if nugget.together or not answers else [" / ".join(answers)]
        texts = [f"{nugget.text} {answer}" for answer in joined]
        yield from ((nugget, text) for text in (texts if nugget.is_question else [nugget.text]))


# A record of a bank while it is read: its values by kind, and the findings on them.
IMPORTANCE = {VITAL: VITAL, OKAY: OKAY, "ok": OKAY, "failed": "", "": ""}
"""Labels of importance as files have them, and the label that each stands for."""
RUBRIC_LETTERS = ("A", "B", "C")
DOCUMENT_KEYS = ("doc_id", "docid", "id")
ONE_WILL_DO = ("", "OR", "DEFAULT")
TOGETHER = "AND"


@dataclass(slots=True)
class BankRecord:
    """One record of a bank; `report` gets the findings on it, with its place and topic."""

    raw: Raw
    place: Place
    report: OnFinding
    topic_id: str
    raw_nuggets: dict[str, Raw] = field(default_factory=dict)

    def complain(self, kind: str, message: str, value: object = "") -> None:
        """Report a finding on this bank."""
        text = brief(value) if value != "" else ""
        self.report(Finding(kind, self.place, message, text, topic_id=self.topic_id))

    def objects(self, value: object, what: str) -> Iterator[Raw]:
        """Yield the objects of a list, or of an object of objects by any key."""
        if value is None:
            return
        if not isinstance(value, list | dict):
            self.complain("nugget_unusable", f"{what} are no list", value)
            return
        for part in value.values() if isinstance(value, dict) else value:
            if isinstance(part, dict):
                yield part
            else:
                self.complain("nugget_unusable", f"one of the {what} is no object", part)

    def question(
        self, raw: Raw, text: str, answers: Iterable[GoldAnswer], **more: Any
    ) -> Nugget | None:
        """Return a question with its answers; None, with a finding, where it has no text."""
        found = list(_unite_answers(answers))
        aggregator = as_text(raw.get("aggregator_type")).strip().upper()
        if aggregator not in (*ONE_WILL_DO, TOGETHER):
            message = f"question {text!r} has an aggregator that is neither AND nor OR"
            self.complain("nugget_aggregator_unknown", message, raw.get("aggregator_type"))
        together = aggregator == TOGETHER
        if together and len(found) == 1:
            self.complain("nugget_single_and", f"question {text!r} needs all answers and has one")
        if not found:
            self.complain("nugget_unanswerable", f"question {text!r} has no answer")
        for answer in found:
            if not answer.documents:
                message = f"question {text!r}: answer {answer.text!r} has no document"
                self.complain("nugget_answer_undocumented", message)
        given = {"is_question": True, "answers": tuple(found), "together": together}
        return self.nugget(raw, text, **given, **more)

    def nugget(self, raw: Raw, text: str, nugget_id: object = None, **more: Any) -> Nugget | None:
        """Return a nugget; None, with a finding, where it has no text."""
        if not text.strip():
            self.complain("nugget_unusable", "a nugget has no text", raw)
            return None
        wanted = self.id(nugget_id, "a nugget") or str(len(self.raw_nuggets) + 1)
        name, number = wanted, 1
        while name in self.raw_nuggets:
            number += 1
            name = f"{wanted}-{number}"
        self.raw_nuggets[name] = raw
        more.setdefault("importance", self.importance(raw.get("importance"), text))
        return Nugget(name, text, **more)

    def importance(self, value: object, text: str) -> str:
        """Return a label of importance, empty for none, with a finding for an unknown one."""
        label = as_id(value) or ""
        plain = label.strip().casefold()
        if plain in IMPORTANCE:
            if plain == "failed":
                message = f"nugget {text!r}: its importance was never decided"
                self.complain("nugget_importance_unknown", message, value)
            return IMPORTANCE[plain]
        letter, colon, _ = label.strip().upper().partition(":")
        if letter in RUBRIC_LETTERS and (colon or len(plain) == 1):
            return letter
        message = f"nugget {text!r} has an importance other than vital and okay"
        self.complain("nugget_importance_unknown", message, value)
        return ""

    def id(self, value: object, what: str) -> str:
        """Return an id as text, with a finding where it is a number."""
        if isinstance(value, int) and not isinstance(value, bool):
            self.complain("nugget_id_number", f"the id of {what} is a number, not text", value)
        return as_id(value) or ""

    def documents(self, value: object) -> tuple[str, ...]:
        """Return the ids of a list of references, each once: text, or objects with `doc_id`."""
        if value is None:
            return ()
        listed = value if isinstance(value, list) else [value]
        found: dict[str, None] = {}
        for reference in listed:
            doc_id = _document_id(reference)
            if doc_id:
                found.setdefault(doc_id)
            else:
                self.complain("nugget_reference_unusable", "a reference has no doc_id", reference)
        return tuple(found)


def _document_id(reference: object) -> str | None:
    if isinstance(reference, Mapping):
        return next((found for key in DOCUMENT_KEYS if (found := as_id(reference.get(key)))), None)
    return as_id(reference)


def _unite_answers(answers: Iterable[GoldAnswer]) -> Iterator[GoldAnswer]:
    """Yield each answer once, with the documents of all that have its text."""
    by_text: dict[str, GoldAnswer] = {}
    for answer in answers:
        before = by_text.get(answer.text)
        documents = (*(before.documents if before else ()), *answer.documents)
        answer_id = before.answer_id if before else answer.answer_id
        by_text[answer.text] = GoldAnswer(answer.text, tuple(dict.fromkeys(documents)), answer_id)
    yield from by_text.values()
