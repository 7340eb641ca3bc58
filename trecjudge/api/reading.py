"""Runs, topics and documents, read as a job reads them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from trecjudge.api.given import PathLike, Paths, paths
from trecjudge.files import default_folder
from trecjudge.findings import PREFIX, Finding, OnFinding, unreported
from trecjudge.inputs.collections.wanted import Wanted
from trecjudge.inputs.documents.store import DocumentStore, documents_in
from trecjudge.inputs.formats.registry import check_dataset
from trecjudge.inputs.runs import RunReader, find_runs, open_runs
from trecjudge.inputs.topics import read_topics as topics_by_id
from trecjudge.models.documents.opening import open_documents
from trecjudge.records import Document, Response, Topic
from trecjudge.text.credentials import public

PACKAGE = "trecjudge."


class FindingWarning(UserWarning):
    """A problem of the input, raised as a warning where no `on_finding` is given."""


def warn(finding: Finding) -> None:
    """Issue a Python warning for a finding, unless it is only a note."""
    if finding.severity != "note":
        text = public(f"{PREFIX[finding.severity]}: {finding}")
        warnings.warn(text, FindingWarning, stacklevel=_callers_level())


def _callers_level() -> int:
    """Return how many frames above `warn` the line stands that called this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def read_runs(
    runs: Paths,
    *,
    documents: Paths = (),
    dataset: str = "auto",
    own_documents: bool = False,
    on_finding: OnFinding = warn,
) -> Iterator[Response]:
    """Yield every response of run files, or folders of them, in the order of files and lines.

    `documents` are those whose text counts, as for `judge`. Raises InputError where nothing is
    there; any other problem is a finding.
    """
    check_dataset(dataset)
    given = paths(documents)
    found = find_runs(paths(runs), on_finding)

    def read(store: DocumentStore) -> RunReader:
        return RunReader(
            found, unreported, store=store, dataset=dataset, own_documents=own_documents
        )

    store = None
    if given:
        store = open_documents(given, default_folder(), on_finding, lambda: Wanted.of(read))
    files = open_runs(found, on_finding)
    reader = RunReader(files, on_finding, store=store, dataset=dataset, own_documents=own_documents)
    return (response for _, response in reader)


def read_topics(topics: PathLike, *, on_finding: OnFinding = warn) -> Iterator[Topic]:
    """Yield the topics of a file, in its order. Raises InputError where none is there."""
    return iter(topics_by_id(Path(topics), on_finding).values())


def read_documents(documents: Paths, *, on_finding: OnFinding = warn) -> Iterator[Document]:
    """Yield the documents of files, or folders of them, in their order, as often as they stand.

    Raises InputError for a file that cannot be one of documents.
    """
    return documents_in(paths(documents), on_finding)
