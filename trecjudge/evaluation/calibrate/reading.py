"""Responses of the runs that were labelled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from trecjudge.files import default_folder
from trecjudge.findings import OnFinding, unreported
from trecjudge.inputs.collections.wanted import Wanted
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.formats.registry import check_dataset
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.models.documents.opening import open_documents
from trecjudge.records import Response, Topic


def read_responses(
    runs: Sequence[Path], documents: Sequence[Path], dataset: str, report: OnFinding
) -> Iterator[tuple[Topic, Response]]:
    """Return the responses of run files on all their topics. Raises InputError."""
    check_dataset(dataset)
    files = find_runs(runs, report)

    def read(store: DocumentStore | None, report: OnFinding = unreported) -> RunReader:
        return RunReader(files, report, store=store, dataset=dataset)

    if not documents:
        return iter(read(None, report))
    store = open_documents(documents, default_folder(), report, lambda: Wanted.of(read))
    return iter(read(store, report))
