"""A bank of nuggets: what a good answer to one topic says, the same for all formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trecjudge.records import Nugget, Place

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
