"""The documents that are wanted of collections: those that responses ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from trecjudge.records import Document, Response, Topic


@dataclass(slots=True)
class WantedDocuments:
    """Ids of documents, in the order in which they are met.

    `named` are those that responses cite or list as references, `cited` the ones of these that
    sentences cite. `possible` are all texts that may be ids, as the number in `[3]` may be: a file
    is looked through for these too, a service is not asked for them. `beside` are those that only
    responses name which are not judged: no service is asked for them either.
    """

    named: dict[str, None] = field(default_factory=dict)
    cited: dict[str, None] = field(default_factory=dict)
    possible: dict[str, None] = field(default_factory=dict)
    beside: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of_ids(cls, ids: Iterable[str]) -> WantedDocuments:
        """Return documents that are wanted by id."""
        named = dict.fromkeys(ids)
        return cls(named, named, named)

    @classmethod
    def of(cls, read: Read) -> WantedDocuments:
        """Return the documents that responses ask for; `read` reads them with the store given."""
        store = AskedStore()
        wanted = cls(possible=store.ids)
        for _, response in read(store):
            wanted.add(response)
        return wanted

    def add(self, response: Response) -> None:
        """Add what a response cites and lists, if its documents were asked for."""
        for doc_id in filter(self.possible.__contains__, response.named_ids()):
            self.named[doc_id] = self.cited[doc_id] = None
        for doc_id in filter(self.possible.__contains__, response.references):
            self.named[doc_id] = None

    def add_ids(self, ids: Iterable[str]) -> None:
        """Add further documents, such as those that have a grade."""
        for doc_id in ids:
            self.named[doc_id] = self.possible[doc_id] = None


@dataclass(slots=True)
class AskedStore:
    """A store without documents that remembers which ones it was asked for."""

    ids: dict[str, None] = field(default_factory=dict)
    lost: int = 0

    def get(self, doc_id: str) -> Document | None:
        """Return None, and remember the id."""
        self.ids[doc_id] = None
        return None

    def some_ids(self, count: int) -> list[str]:
        """Return none: there are no documents."""
        return []


Read = Callable[[AskedStore], Iterable[tuple[Topic, Response]]]
