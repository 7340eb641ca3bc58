"""Where the documents of runs are: looked up source by source, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding
from trecjudge.inputs.documents.pack import LACKS, NOT_KNOWN, NOT_LOOKED_FOR, NOT_THERE, Lack
from trecjudge.inputs.documents.store import DocumentStore, DocumentStores
from trecjudge.job.job import Job, JobInputs
from trecjudge.models.documents.opening import source_name
from trecjudge.records import Document, Response
from trecjudge.text.credentials import public

SHOWN = 3
"""Ids of the sources that are shown where they have none that is cited."""
CARRIED = "in the run itself"
Where = int | str
"""The number of a source, or else CARRIED or a key of LACKS."""


def look_up(stores: Sequence[DocumentStore], doc_id: str) -> tuple[Document, int] | Lack:
    """Return the document of an id and the number of the first source that has it, or the lack."""
    lack: Lack = NOT_KNOWN if any(store.lost for store in stores) else NOT_THERE
    for number, store in enumerate(stores):
        found = store.get(doc_id)
        if found is not None and (found.complete or found.has_text):
            return found, number
        lack = lack if found is None else NOT_LOOKED_FOR
    return lack


def stores_of(job: Job, inputs: JobInputs) -> DocumentStores:
    """Return the sources of documents. Raises InputError where none is given."""
    if inputs.store is None:
        runs = ", ".join(map(str, job.runs))
        raise InputError(f"{runs}: no --documents: what is judged is what the runs carry")
    return inputs.store


def cited_in(response: Response) -> Iterator[str]:
    """Yield the id of each citation of a response, as often as it is cited."""
    for sentence in response.sentences:
        yield from (c.doc_id for c in sentence.citations if c.doc_id is not None)


@dataclass(frozen=True, slots=True)
class Checked:
    """Where the documents are that runs cite: citations of each run, and ids of all, by place."""

    sources: Sequence[str]
    runs: Mapping[str, Counter[Where]]
    ids: Mapping[Where, Sequence[str]]
    others: Sequence[str] = ()
    """A few ids that the sources have, whether they are cited or not."""

    @property
    def citations(self) -> Counter[Where]:
        """The citations of all runs."""
        return sum(self.runs.values(), Counter())

    @property
    def none_found(self) -> bool:
        """Whether there are citations, and no source has a document of any."""
        return bool(self.ids) and not any(isinstance(where, int) for where in self.ids)

    def worst(self) -> list[str]:
        """Return the runs whose documents are not all known, those with the fewest first."""
        shares = {run: known(found) / max(1, found.total()) for run, found in self.runs.items()}
        return sorted((run for run in shares if shares[run] < 1), key=lambda run: shares[run])

    def rows(self) -> Iterator[tuple[str, int, int]]:
        """Yield the name of each place, and how many citations and documents are there."""
        citations = self.citations
        for where in (*range(len(self.sources)), CARRIED, *LACKS):
            name = self.sources[where] if isinstance(where, int) else where
            yield name, citations[where], len(self.ids.get(where, ()))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        names = "source", "citations", "documents"
        rows = [dict(zip(names, row, strict=True)) for row in self.rows()]
        count = len(self.sources)
        runs = [
            {"run_id": run, "citations": found.total(), "found": known(found)}
            | {str(lack): found[lack] for lack in LACKS}
            for run, found in self.runs.items()
        ]
        return {"sources": rows[:count], "others": rows[count:], "runs": runs}


def known(found: Counter[Where]) -> int:
    """Return how many citations have a document, from a source or of the run's own."""
    return sum(count for where, count in found.items() if where not in LACKS)


def check_documents(job: Job, report: OnFinding) -> Checked:
    """Return where the documents are that the runs of a job cite. Raises InputError."""
    runs: dict[str, Counter[Where]] = {}
    ids: dict[Where, dict[str, None]] = {}
    places: dict[str, Where] = {}
    with closing(JobInputs.read(job, report)) as inputs:
        sources = stores_of(job, inputs)
        stores, others = sources.stores, sources.some_ids(SHOWN)
        for _, response in inputs.responses():
            run = runs.setdefault(response.run_id, Counter())
            for doc_id in cited_in(response):
                if doc_id not in places:
                    found = look_up(stores, doc_id)
                    places[doc_id] = found if isinstance(found, str) else found[1]
                where, carried = places[doc_id], response.documents.get(doc_id)
                if where in LACKS and carried is not None and carried.own and carried.has_text:
                    where = CARRIED
                run[where] += 1
                ids.setdefault(where, {})[doc_id] = None
    names = [public(source_name(path)) for path in job.documents]
    return Checked(names, runs, {where: list(found) for where, found in ids.items()}, others)
