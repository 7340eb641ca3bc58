"""What is indexed: documents of files, and those that runs carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from trecjudge.baseline.index.records import IndexSource
from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.documents.names import further_fields
from trecjudge.inputs.documents.shelf import DigestTable, digest
from trecjudge.inputs.documents.store import read_through
from trecjudge.inputs.runs import RunReader, find_runs, open_runs
from trecjudge.records import Place

Placed = tuple[Place, IndexSource]
OF_DOCUMENTS = frozenset(
    {"documents_unusable", "document_duplicate", "documents_by_position", "own_document_empty"}
)
"""Findings on runs that matter where only their documents are read."""


def sources_in(paths: Sequence[Path], report: OnFinding) -> Iterator[Placed]:
    """Yield the documents of files, or folders of them, with further fields of their records.

    Raises InputError where a path has none, or cannot be read through.
    """
    for place, document, record in read_through(paths, report):
        yield place, IndexSource(document, further_fields(record))


def sources_carried(paths: Sequence[Path], report: OnFinding) -> Iterator[Placed]:
    """Yield the documents with text that runs carry. Raises InputError where no file is a run."""

    def about_documents(finding: Finding) -> None:
        if finding.severity == "error" or finding.kind in OF_DOCUMENTS:
            report(finding)

    files = open_runs(find_runs(paths, report), report)
    for _, response in RunReader(files, about_documents):
        for document in response.documents.values():
            if document.own and document.has_text:
                yield response.place, IndexSource(document)


def at_least_one(sources: Iterator[IndexSource], paths: Sequence[Path]) -> Iterator[IndexSource]:
    """Return the documents of paths. Raises InputError if none has text, before one is used."""
    bare: list[IndexSource] = []
    for source in sources:
        if source.document.has_text:
            return chain([*bare, source], sources)
        bare.append(source)
    listed, what = ", ".join(map(str, paths)), "document with text" if bare else "document"
    raise InputError(f"{listed}: no {what} in it; the index stays as it is")


@dataclass(slots=True)
class DuplicateFilter:
    """Passes each document on once, the first of its id; another text is a finding.

    Memory: 24 to 48 bytes a document. `repeated` counts what was left out.
    """

    report: OnFinding
    repeated: int = 0
    _first: DigestTable = field(default_factory=DigestTable)

    def of(self, placed: Iterable[Placed]) -> Iterator[IndexSource]:
        """Yield the documents."""
        for place, source in placed:
            document = source.document
            key = digest(document.doc_id)
            is_new = key not in self._first
            text = digest(document.title, document.text)
            first = self._first.setdefault(key, text)
            if is_new:
                yield source
                continue
            self.repeated += 1
            if first != text:
                message = f"repeats document {brief(document.doc_id)} with another text"
                self.report(Finding("document_duplicate", place, message, document.doc_id))
