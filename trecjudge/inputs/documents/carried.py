"""The documents that a run carries with its response: by id, in a list, or as plain texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from typing import Any

from trecjudge.findings import brief
from trecjudge.inputs.documents.names import KNOWN, plain
from trecjudge.inputs.documents.record import (
    document_of,
    guess_text,
    ids_of,
    leaf_keys,
    merge_chunks,
    names_text,
)
from trecjudge.inputs.sources.values import as_id
from trecjudge.records import Document

Complain = Callable[[str, str, object], None]
"""(kind of finding, message, value)."""
KEYS_SHOWN = 12
"""Keys of an object without a text that a message names."""
PLACE = "place"
"""An id that is not known yet: it follows from the document's place in the list."""


@dataclass(frozen=True, slots=True)
class ReadDocuments:
    """Documents that a format has read by itself, in the order that numbers count.

    `guessed` are the fields from which texts were taken by guess. `unread`: the whole could not be
    read, and stands as one document whose text is not known. `entries` are what each document was
    read from; none where that is not told.
    """

    documents: tuple[Document, ...]
    guessed: tuple[str, ...] = ()
    unread: bool = False
    entries: tuple[Any, ...] = ()


@dataclass(slots=True)
class Carried:
    """The documents of a run's `documents` field, by id.

    `given`: some of it could be read, or it is empty; `named`: some document has an id. `order` are
    the ids of a list, None for what is no document. `unread`: any id may be one of what could not
    be read. `chunks` are the documents of an id that has several.
    """

    documents: dict[str, Document] = field(default_factory=dict)
    given: bool = False
    named: bool = True
    order: list[str | None] = field(default_factory=list)
    unread: bool = False
    chunks: dict[str, list[Document]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CarriedReader:
    """Reads a run's `documents`.

    A text without an id is that of the reference at its place; without references its id is its
    place, counted from 0, so that a citation by index means it. `references` are the ids of the
    reference list, `known` the same as a set, `cited` returns those that sentences cite as text.
    """

    references: Sequence[str | None]
    known: frozenset[str]
    cited: Callable[[], Collection[str]]
    complain: Complain

    def read(self, value: Any) -> Carried:
        """Return the documents; entries that are none are reported."""
        if value is None:
            return Carried()
        carried = Carried(given=value in ([], {}))
        self._read_into(carried, value)
        for doc_id, parts in carried.chunks.items():
            carried.documents[doc_id] = merge_chunks(parts)
            message = f"has {len(parts)} chunks of document {doc_id!r}: one document"
            self.complain("document_chunks", message, doc_id)
        return carried

    def _read_into(self, carried: Carried, value: Any) -> None:
        if isinstance(value, ReadDocuments):
            self._read_already(carried, value)
            return
        if isinstance(value, dict):
            if not self._has_no_ids(value):
                self._by_key(value, carried)
                return
            value = [value] if self._is_one(value) else list(value.values())
        if isinstance(value, str) and len(self.references) > 1:
            self._refuse(value)  # one text for several references: whose is it?
            return
        self._by_place(value if isinstance(value, list) else [value], carried)

    def _read_already(self, carried: Carried, read: ReadDocuments) -> None:
        for name in read.guessed:
            self._report_guess(name)
        for document, entry in zip_longest(read.documents, read.entries):
            self._add(document, carried, entry, again=True)
        carried.given, carried.unread = True, read.unread
        carried.order = [] if read.unread else [d.doc_id for d in read.documents]

    def _has_no_ids(self, value: dict[Any, Any]) -> bool:
        """Return whether the keys of an object are no ids of documents.

        They are fields of one document, places in a list, or keys that nothing cites while the ids
        inside the object are cited.
        """
        if next(iter(value), None) in self.known:
            return False
        ids = [as_id(key) for key in value]
        if not self.known.isdisjoint(ids) or self._is_wanted(*ids):
            return False
        places = ids == [str(place) for place in range(len(self.references))]
        inside = (ids_of(entry)[0] for entry in value.values() if isinstance(entry, dict))
        return bool(ids) and (
            self._is_one(value) or places or any(self._is_wanted(*found) for found in inside)
        )

    def _is_one(self, value: dict[Any, Any]) -> bool:
        """Return whether an object is itself a document: all its keys are names of fields."""
        return names_text(value) and all(plain(key) in KNOWN for key in value)

    def _is_wanted(self, *ids: str | None) -> bool:
        return any(i in self.known or i in self.cited() for i in ids if i)

    def _by_key(self, value: dict[Any, Any], carried: Carried) -> None:
        for key, entry in value.items():
            document = document_of(entry, as_id(key), carried=True, tell=self._report_guess)
            if document is None:
                self._refuse(key)
            else:
                self._add(document, carried, entry)

    def _by_place(self, entries: list[Any], carried: Carried) -> None:
        found = [self._document(entry) for entry in entries]
        named = [d.doc_id for d in found if d is not None and d.doc_id != PLACE]
        order: list[str | None] = []
        unnamed = 0
        for place, document in enumerate(found):
            if document is None:
                self._refuse(entries[place])
                order.append(None)
                continue
            doc_id = document.doc_id
            if doc_id == PLACE:
                unnamed += 1
                doc_id = self._id_at(place, named)
                document = replace(document, doc_id=doc_id)
            order.append(doc_id)
            self._add(document, carried, entries[place])
        carried.order = order
        if unnamed:
            carried.named = bool(named) or any(self.references)
            self._report_unnamed(unnamed, len(entries))

    def _document(self, entry: Any) -> Document | None:
        """Return the document of a list's entry; its id is PLACE where it has none."""
        if isinstance(entry, str):
            written = entry.strip()
            # What is cited is an id and no text.
            if not written or self._is_wanted(written):
                return None
            return document_of(entry, PLACE, carried=True)
        if not isinstance(entry, dict):
            return None
        document = document_of(entry, by_address=False, carried=True, tell=self._report_guess)
        if document is None:
            return self._document_without_id(entry)
        if document.doc_id in self.known:
            return document
        ids, _ = ids_of(entry)
        if len(ids) < 2:
            return document
        wanted = next((i for i in ids if self._is_wanted(i)), document.doc_id)
        return replace(document, doc_id=wanted)

    def _document_without_id(self, entry: dict[str, Any]) -> Document | None:
        """Return the document of an object without id: by its address where that is cited."""
        if not names_text(entry) and not guess_text(entry).open:
            return None
        _, addresses = ids_of(entry)
        address = next((found for found in addresses if self._is_wanted(found)), PLACE)
        return document_of(entry, address, carried=True, tell=self._report_guess)

    def _id_at(self, place: int, named: Collection[str]) -> str:
        referred = self.references[place] if place < len(self.references) else None
        return referred if referred and referred not in named else str(place)

    def _add(
        self, document: Document, carried: Carried, entry: object, again: bool = False
    ) -> None:
        """Add what an entry holds; a document that is there is a finding, unless it may be."""
        carried.given = True
        doc_id = document.doc_id
        first = carried.documents.setdefault(doc_id, document)
        if first is document:
            self._check(document, entry)
        elif first.text != document.text:  # chunks of one document carry its id
            self._check(document, entry)
            carried.chunks.setdefault(doc_id, [first]).append(document)
        elif not again:
            self.complain("document_duplicate", f"has document {doc_id!r} twice", doc_id)

    def _check(self, document: Document, entry: object) -> None:
        if document.complete:
            return
        if document.has_text:
            message = f"has only an excerpt of {document.doc_id!r}, which is cut"
            self.complain("excerpt_cut", message, document.doc_id)
        else:
            message = f"has {document.doc_id!r} with no text that could be read for sure"
            if keys := list(islice(leaf_keys(entry), KEYS_SHOWN)):
                message += f"; its keys are {brief(keys, 200)}"
            self.complain("document_not_read", message, document.doc_id)

    def _report_guess(self, name: str) -> None:
        message = f"has texts of documents in the field {name!r}, whose name is not known"
        self.complain("text_field_guessed", message, name)

    def _refuse(self, entry: Any) -> None:
        message = f"has a document {brief(entry)} without id or text"
        self.complain("documents_unusable", message, entry)

    def _report_unnamed(self, unnamed: int, entries: int) -> None:
        what = f"has {unnamed} documents without id"
        if self.references:
            sure = len(self.references) == entries
            message = f"{what}: taken in the order of its {len(self.references)} references"
        else:
            sure = not any(not doc_id.isdecimal() for doc_id in self.cited())
            message = f"{what} and no references: cited by their places, from 0"
            message += "" if sure else "; what it cites by id may be any of them"
        if sure:
            self.complain("documents_by_position", message, unnamed)
        else:
            self.complain("documents_position_unsure", message, unnamed)
