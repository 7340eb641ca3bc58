"""Where the documents of runs are: looked up source by source, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.documents.pack import NOT_KNOWN, NOT_LOOKED_FOR, NOT_THERE, Lack
from trecjudge.inputs.documents.store import DocumentStore, DocumentStores, is_elsewhere
from trecjudge.job.job import Job, JobInputs
from trecjudge.models.documents.opening import source_name
from trecjudge.records import Document, Response
from trecjudge.text.credentials import public

FOUND, CARRIED = "found", "in the run itself"
STATES = (FOUND, CARRIED, NOT_THERE, NOT_LOOKED_FOR, NOT_KNOWN)
"""What can be said of a document that is cited."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What sources say of an id: its document and its source by number, or why it has none."""

    document: Document | None = None
    source: int | None = None
    lack: Lack = NOT_THERE


def look_up(stores: Sequence[DocumentStore], doc_id: str) -> LookedUp:
    """Return the document of an id, of the first source that has it."""
    lack: Lack = NOT_KNOWN if any(store.lost for store in stores) else NOT_THERE
    for number, store in enumerate(stores):
        found = store.get(doc_id)
        if found is not None and (found.complete or found.has_text):
            return LookedUp(found, number)
        lack = lack if found is None else NOT_LOOKED_FOR
    return LookedUp(lack=lack)


def sources_of(job: Job) -> list[str]:
    """Return what the sources of a job are called, without secrets."""
    return [public(source_name(path)) for path in job.documents]


def origin_of(doc_id: str, store: DocumentStore, path: Path) -> str:
    """Return where a document is from: a place in a file, an address, or what was given."""
    own = store.source_of(doc_id) if isinstance(store, KeptDocuments) else ""
    return public(own or (source_name(path) if is_elsewhere(path) else path.name))


def stores_of(job: Job, inputs: JobInputs) -> DocumentStores:
    """Return the sources of documents. Raises InputError where none is given."""
    if inputs.store is None:
        runs = ", ".join(map(str, job.runs))
        raise InputError(f"{runs}: no --documents: what is judged is what the runs carry")
    return inputs.store


@dataclass(slots=True)
class RunCitations:
    """How many citations of a run have a document, by state."""

    run_id: str
    states: Counter[str] = field(default_factory=Counter)

    @property
    def citations(self) -> int:
        """How many citations there are in all."""
        return self.states.total()

    @property
    def share(self) -> float:
        """The share of citations whose document is known; 1 without citations."""
        known = self.states[FOUND] + self.states[CARRIED]
        return known / self.citations if self.citations else 1.0


@dataclass(slots=True)
class Checked:
    """Where the documents are that runs cite: citations and documents by state and by source.

    `other_text` counts, by source, the documents of which a source before it has another text.
    """

    sources: Sequence[str]
    runs: dict[str, RunCitations] = field(default_factory=dict)
    documents: Counter[str] = field(default_factory=Counter)
    by_source: Counter[int] = field(default_factory=Counter)
    """Citations by the number of their source."""
    documents_by_source: Counter[int] = field(default_factory=Counter)
    other_text: Counter[int] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    """The first id of each state."""

    @property
    def citations(self) -> Counter[str]:
        """Citations of all runs, by state."""
        return sum((run.states for run in self.runs.values()), Counter())

    @property
    def none_found(self) -> bool:
        """Whether there are citations, and no document of any is found."""
        return bool(self.citations) and not self.by_source

    def worst(self) -> list[RunCitations]:
        """Return the runs, the one with the fewest documents first."""
        return sorted(self.runs.values(), key=lambda run: (run.share, run.run_id))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        sources = [
            {
                "source": name,
                "citations": self.by_source[number],
                "documents": self.documents_by_source[number],
                "other_text": self.other_text[number],
            }
            for number, name in enumerate(self.sources)
        ]
        return {
            "sources": sources,
            "citations": _named(self.citations),
            "documents": _named(self.documents),
            "runs": [{"run_id": run.run_id} | _named(run.states) for run in self.worst()],
        }


def _named(states: Counter[str]) -> dict[str, int]:
    return {state.replace(" ", "_"): states[state] for state in STATES}


def check_documents(job: Job, report: OnFinding) -> Checked:
    """Return where the documents are that the runs of a job cite. Raises InputError."""
    with closing(JobInputs.read(job, report)) as inputs:
        counting = _Counting(stores_of(job, inputs).stores, Checked(sources_of(job)))
        for _, response in inputs.responses():
            counting.add(response)
    return counting.checked


@dataclass(slots=True)
class _Counting:
    stores: Sequence[DocumentStore]
    checked: Checked
    found: dict[str, LookedUp] = field(default_factory=dict)
    counted: set[tuple[str, str]] = field(default_factory=set)
    """Documents in each of their states: one may be carried by one run only."""

    def add(self, response: Response) -> None:
        checked = self.checked
        run = checked.runs.setdefault(response.run_id, RunCitations(response.run_id))
        for doc_id in cited_in(response):
            found = self.found.get(doc_id) or self._first(doc_id)
            carried = response.documents.get(doc_id)
            state: str = found.lack
            if found.source is not None:
                state = FOUND
                checked.by_source[found.source] += 1
            elif carried is not None and carried.own and carried.has_text:
                state = CARRIED
            run.states[state] += 1
            checked.examples.setdefault(state, doc_id)
            checked.documents[state] += (doc_id, state) not in self.counted
            self.counted.add((doc_id, state))

    def _first(self, doc_id: str) -> LookedUp:
        """Look an id up; its texts in several sources are compared, and not kept."""
        found = look_up(self.stores, doc_id)
        if found.document is not None and found.source is not None:
            self.checked.documents_by_source[found.source] += 1
            words = found.document.text.split()
            for number in range(found.source + 1, len(self.stores)):
                other = self.stores[number].get(doc_id)
                if other and other.has_text and other.text.split() != words:
                    self.checked.other_text[number] += 1
        self.found[doc_id] = replace(found, document=None)
        return self.found[doc_id]


def cited_in(response: Response) -> Iterable[str]:
    """Yield the id of each citation of a response, as often as it is cited."""
    for sentence in response.sentences:
        for citation in sentence.citations:
            if citation.doc_id is not None:
                yield citation.doc_id
