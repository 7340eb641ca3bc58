"""A bank of nuggets: what a good answer to one topic says, the same for all formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    def raw_for(self, name: str) -> Raw:
        """Return the record if the bank is from the format of this name, else nothing."""
        return self.raw if self.format == name else {}

    def raw_nugget(self, name: str, nugget: Nugget) -> Raw:
        """Return a nugget's part of the record if the bank is from that format, else nothing."""
        return self.raw_nuggets.get(nugget.nugget_id, {}) if self.format == name else {}


def without(raw: Raw, *keys: str) -> dict[str, Any]:
    """Return a record without these keys."""
    return {key: value for key, value in raw.items() if key not in keys}


def updated(raw: Raw, **known: Any) -> dict[str, Any]:
    """Return a record in its own order with these values; a key whose value is None is left out."""
    found = {**raw, **{key: value for key, value in known.items() if value is not None}}
    return {key: value for key, value in found.items() if known.get(key, value) is not None}


def with_items(bank: Bank, name: str, items: Sequence[Raw]) -> dict[str, Any]:
    """Return the record of a format that lists `items` under a query, as several do."""
    raw = bank.raw_for(name)
    return updated(
        raw,
        query_id=bank.topic_id,
        test_collection=raw.get("test_collection", ""),
        query_text=bank.title or raw.get("query_text", ""),
        hash=raw.get("hash", 0),
        items=items,
    )
