"""Which text of a document is judged: the run's own, or that of --documents; how they differ."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

from trecjudge.findings import brief
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.records import Document, Response

# A table of digests in little memory: a million documents in 50 MB at most.
_FIRST_SIZE = 1 << 10
# `digest` never returns it.
_FREE = 0


class DigestTable:
    """A table from digests of 8 bytes to others: 24 to 48 bytes a pair, where a dict takes 150.

    A key is at the place of its last bits, or at the next free one (open addressing).
    """

    def __init__(self) -> None:
        self._count = 0
        self._keys, self._values = _free(_FIRST_SIZE), _free(_FIRST_SIZE)

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: int) -> bool:
        return self._keys[self._place(key)] != _FREE

    def setdefault(self, key: int, value: int) -> int:
        """Return the value of `key`; it becomes `value` where there is none yet."""
        place = self._place(key)
        if self._keys[place] != _FREE:
            return self._values[place]
        self._keys[place], self._values[place] = key, value
        self._count += 1
        # Above two thirds the searches for a free place become long.
        if 3 * self._count > 2 * len(self._keys):
            self._grow()
        return value

    def _place(self, key: int) -> int:
        """Return the place of a key, or the free place where it would be put."""
        last = len(self._keys) - 1
        place = key & last
        while self._keys[place] not in (_FREE, key):
            place = (place + 1) & last
        return place

    def _grow(self) -> None:
        keys, values = self._keys, self._values
        self._keys, self._values = _free(2 * len(keys)), _free(2 * len(keys))
        for key, value in zip(keys, values, strict=True):
            if key != _FREE:
                place = self._place(key)
                self._keys[place], self._values[place] = key, value


def digest(*parts: object) -> int:
    """Return a digest of 64 bits, never 0; it is the same only within one process."""
    return (hash(parts) & 0xFFFFFFFFFFFFFFFF) or 1


def _free(size: int) -> array[int]:
    return array("Q", bytes(8 * size))


@dataclass(slots=True)
class JudgedTexts:
    """Finds the documents of responses, in `store` and among those that the run carries.

    A document is judged by its text in `store`, or with `own_text` by the run's own, where these
    have text. For each id the text carried first is remembered, as two digests: of its words, and
    of its exact form.
    """

    store: DocumentStore | None = None
    own_text: bool = False
    first: DigestTable = field(default_factory=DigestTable)
    reported: DigestTable = field(default_factory=DigestTable)
    """The pairs of run and document whose difference was reported."""

    def find(self, doc_id: str, own: Mapping[str, Document]) -> Document | None:
        """Return the document that is judged; None if it is nowhere.

        Where neither has text it is the one of `store`, if there is one: then the missing text is
        not the run's fault.
        """
        mine = own.get(doc_id)
        if self.store is None:
            return mine
        with_text = mine is not None and mine.has_text
        if self.own_text and with_text:
            return mine
        given = self.store.get(doc_id)
        return mine if given is None or (with_text and not given.has_text) else given

    def lacks(self, mine: Document) -> bool:
        """Return whether a run carries the text of a document that `store` does not have."""
        return self.store is not None and mine.has_text and self.store.get(mine.doc_id) is None

    def differs(self, run: str, mine: Document) -> str:
        """Return how a text that a run carries differs from that of `store`; empty if it does not.

        Each pair of run and document is reported once; a difference in white space is not.
        """
        if self.store is None or not mine.has_text:
            return ""
        if self._was_reported(run, mine):
            return ""
        given = self._text_in_store(mine.doc_id)
        if given is None:
            return ""
        how = _other_text(mine, given)
        judged = "its own text" if self.own_text else "that of --documents"
        return self._report_once(run, mine, f"{how}; {judged} is judged" if how else "")

    def varies(self, run: str, mine: Document) -> str:
        """Return how a text differs from one carried before under its id; empty if it does not.

        Documents of `store` are left to `differs`. Each is reported once, as there.
        """
        if not mine.has_text:
            return ""
        # Two digests: most texts are exactly the same, and then need no normalising.
        to_the_letter = digest(mine.doc_id, mine.text)
        if (
            to_the_letter in self.first
            or self._was_reported(run, mine)
            or self._text_in_store(mine.doc_id)
        ):
            return ""
        now = digest(_plain(mine.text))
        same = self.first.setdefault(digest(mine.doc_id), now) == now
        if same:
            self.first.setdefault(to_the_letter, now)
        how = f"carries {brief(mine.doc_id)} with another text than an earlier record"
        return self._report_once(run, mine, "" if same else how)

    def is_first(self, *what: object) -> bool:
        """Return whether something is reported for the first time."""
        key = digest(*what)
        is_new = key not in self.reported
        self.reported.setdefault(key, 1)
        return is_new

    def _text_in_store(self, doc_id: str) -> Document | None:
        given = self.store.get(doc_id) if self.store is not None else None
        return given if given is not None and given.has_text else None

    def _was_reported(self, run: str, mine: Document) -> bool:
        return digest(run, mine.doc_id) in self.reported

    def _report_once(self, run: str, mine: Document, how: str) -> str:
        if how:
            self.reported.setdefault(digest(run, mine.doc_id), 1)
        return how


def _other_text(mine: Document, given: Document) -> str:
    """Return how a run's text differs from the one given; empty if only in white space."""
    if mine.text == given.text:
        return ""
    ours, theirs, whole = _plain(mine.text), _plain(given.text), _plain(given.full_text)
    if ours in (theirs, whole):
        return ""
    name = brief(mine.doc_id)
    # A cut text ends in dots of its own.
    if ours.rstrip(" .…") in whole:
        return f"carries only {len(ours):,} of the {len(theirs):,} characters of {name}"
    if theirs in ours:
        return f"carries {name} with {len(ours) - len(theirs):,} characters more than --documents"
    return f"carries {name} with another text than --documents"


def _plain(text: str) -> str:
    return " ".join(text.split())


# Whether the documents given with --documents are those that the runs cite.
# Runs cite some documents that no collection has; below this it is another collection.
FEW = 0.05
"""Below this share of citations the documents are hardly those of the runs."""
SHOWN = 3
"""Ids of each side that a message shows."""
MOST_DISTINCT = 1000
"""Different ids that are kept, to be compared with the number of lost records."""


@dataclass(slots=True)
class Overlap:
    """How many citations have a document, in the responses of one run or of all.

    `there` counts those whose document is there, from the store or carried by the run, `stored`
    those that a store has. `distinct` holds the first different ids.
    """

    citations: int = 0
    there: int = 0
    stored: int = 0
    distinct: dict[str, None] = field(default_factory=dict)

    def add(self, response: Response, store: DocumentStore | None = None) -> None:
        """Count the citations of a response; without `store` none is looked up."""
        for doc_id in response.named_ids():
            self.citations += 1
            self.there += doc_id in response.documents
            self.stored += store is not None and store.get(doc_id) is not None
            if len(self.distinct) < (SHOWN if store is None else MOST_DISTINCT):
                self.distinct[doc_id] = None

    def is_few(self, found: int) -> bool:
        """Return whether so many are hardly any of the citations; False without citations."""
        return found < FEW * self.citations

    def figures(self, found: int, store: DocumentStore) -> str:
        """Return, for a message, how many citations were found, and ids of each side."""
        message = f"{found} of {self.citations} citations are of documents in --documents"
        message += f"; cited are {_list_ids(list(self.distinct)[:SHOWN])}"
        there = store.some_ids(SHOWN)
        return f"{message}; --documents has {_list_ids(there)}" if there else message


def _list_ids(ids: list[str]) -> str:
    return ", ".join(repr(doc_id if len(doc_id) < 60 else f"{doc_id[:60]}…") for doc_id in ids)
