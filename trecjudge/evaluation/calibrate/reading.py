"""Responses of the runs that were labelled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from trecjudge.files import default_folder
from trecjudge.findings import OnFinding
from trecjudge.inputs.documents.store import open_documents
from trecjudge.inputs.formats.registry import check_dataset
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.records import Response, Topic


def read_responses(
    runs: Sequence[Path], documents: Sequence[Path], dataset: str, report: OnFinding
) -> Iterator[tuple[Topic, Response]]:
    """Return the responses of run files on all their topics. Raises InputError."""
    check_dataset(dataset)
    store = open_documents(documents, default_folder(), report) if documents else None
    return iter(RunReader(find_runs(runs, report), report, store=store, dataset=dataset))
