"""The documents of files, of those in archives too, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.documents.collection import entries, file_unusable, record_unusable
from trecjudge.inputs.documents.pack import NOT_THERE, lack_of, lacking
from trecjudge.inputs.documents.record import document_of, documents_within
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.tars import tar_members
from trecjudge.records import Document, Place

Found = tuple[Path, int, Document, object]
"""(file, line, document, its record)."""


def documents_of(files: Iterable[Path], report: OnFinding) -> Iterator[Found]:
    """Yield the documents of files; records that are none are reported."""
    for file in files:
        for part in parts_of(file):
            yield from _documents_of(part, report)


def parts_of(file: Path) -> Iterator[Opened]:
    """Yield a file, or those in an archive; each is to be read before the next."""
    members = tar_members(file)
    if members is None:
        yield Opened(file)
    else:
        yield from members


def _documents_of(part: Opened, report: OnFinding) -> Iterator[Found]:
    records = Records(part.path, report)
    found = entries(part, report)
    if found is None:
        report(file_unusable(part.path))
        return
    for line, record, key in found:
        for document, entry in records.documents(line, record, key):
            yield part.path, line, document, entry
    records.report_guesses()


@dataclass(slots=True)
class Records:
    """Makes documents of the records of one file, and reports those that are none."""

    path: Path
    report: OnFinding
    guessed: dict[str, None] = field(default_factory=dict)
    """The fields from which texts were taken by guess."""

    def documents(
        self, line: int, record: object, key: str | None = None
    ) -> Iterator[tuple[Document, object]]:
        """Yield (document, its part of the record) of a record, whose id may be a `key`."""
        document = document_of(record, key)
        if document is not None and document.has_text:
            yield document, record
            return
        if why := lack_of(record):  # of a pack that lies among other files
            if why != NOT_THERE:
                self.report(lacking(record, why, Place(str(self.path), line)))
            return
        within = list(_within(record))
        if document is not None and not within:
            document = document_of(record, key, tell=self.guessed.setdefault)
        for other, entry in within or [(document, record)]:
            if other is None:
                self.report(record_unusable(self.path, line, record))
            else:
                yield other, entry

    def report_guesses(self) -> None:
        """Report the fields from which texts were taken by guess."""
        for name in self.guessed:
            message = f"has texts in the field {name!r}, whose name is not known"
            self.report(Finding("text_field_guessed", Place(str(self.path)), message, name))


def _within(record: object) -> Iterator[tuple[Document | None, object]]:
    """Yield (document, entry) of a record's lists, such as `candidates`; None for what is none."""
    if isinstance(record, dict):
        for entry in documents_within(record):
            yield document_of(entry), entry
