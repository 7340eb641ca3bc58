"""Whether the documents given with --documents are those that the runs cite."""

from __future__ import annotations

from dataclasses import dataclass, field

from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.records import Response

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
        for doc_id in response.cited_ids():
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
