"""The documents of files, in every container that the field uses, one at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.documents.index_file import NOT_THERE, lack_of, lacking
from trecjudge.inputs.documents.markup import begins_documents, marked_up
from trecjudge.inputs.documents.names import (
    IDENTIFYING,
    KNOWN,
    TEXTS,
    TITLES,
    USUAL_IDS,
    USUAL_TEXTS,
    plain,
)
from trecjudge.inputs.documents.parquet import Entry, is_parquet, parquet_entries
from trecjudge.inputs.documents.record import document_of, documents_within
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_records, delimiter_of
from trecjudge.inputs.sources.containers import Opened, tar_members
from trecjudge.inputs.sources.packing import CHUNK
from trecjudge.inputs.sources.values import (
    JsonStream,
    decoded_lines,
    first_members,
    is_multi_line,
    values,
)
from trecjudge.records import Document, Place

CHOICES = (
    "JSON or JSONL of records with an id and a text, one object {id: document}, TSV (id, text),"
    " CSV with a header line, TREC SGML or XML (<DOC>), Parquet, candidates lists; plain, gzip,"
    " bzip2, xz or zstd, or in a tar archive"
)
NAMES = f"ids are called {USUAL_IDS}; texts {USUAL_TEXTS}"
BESIDE = re.compile(
    r"(readme|licen[cs]e|copying|notice|changelog|makefile)\b.*|.*\.(md|rst|pdf|md5|sha\d*|py|sh|ya?ml)",
    re.IGNORECASE,
)
"""Names of files that lie beside a collection and hold no document."""
MOST_COLUMNS = 4
"""Of a table without a header line: id, address, title and text."""
ADDRESS = re.compile(r"https?://\S+$")
Layout = Literal[
    "empty", "lines", "values", "array on a line", "members", "markup", "parquet", "table", ""
]
Choose = Callable[[bytes], bool]
Found = tuple[Path, int, Document, object]
"""(file, line, document, its record)."""


def documents_of(files: Iterable[Path], report: OnFinding) -> Iterator[Found]:
    """Yield the documents of files; records that are none are reported."""
    for file in files:
        for part in parts_of(file):
            records = Records(part.path, report)
            found = entries(part, report)
            if found is None:
                report(file_unusable(part.path))
                continue
            for line, record, key in found:
                for document, entry in records.documents(line, record, key):
                    yield part.path, line, document, entry
            records.report_guesses()


def parts_of(file: Path) -> Iterator[Opened]:
    """Yield a file, or those in an archive; each is to be read before the next."""
    members = tar_members(file)
    if members is None:
        yield Opened(file)
    else:
        yield from members


def entries(
    file: Path | Opened, report: OnFinding, chosen: Choose | None = None
) -> Iterator[Entry] | None:
    """Return the records of a file of documents, None for an unknown kind of file.

    Records that cannot be read are reported and passed over. With `chosen`, of TSV and markup only
    those records are read of whose bytes it is true. Raises InputError if the file cannot be read.
    """
    opened = Opened.of(file)
    match layout_of(opened):
        case "empty":
            return iter(())
        case "lines" | "values":
            return _without_key(values(opened, report))
        case "array on a line":  # it is the whole collection
            return _without_key(JsonStream(opened, report).read())
        case "members":
            members = JsonStream(opened, report).members()
            return ((line, value, key) for line, key, value in members)
        case "markup":
            return _without_key(marked_up(opened, report, chosen))
        case "parquet":
            return parquet_entries(opened, report)
        case "table":
            return _without_key(_table_rows(opened, report, chosen))
        case _:
            return None


def _without_key(found: Iterable[tuple[int, Any]]) -> Iterator[Entry]:
    return ((line, record, None) for line, record in found)


def layout_of(opened: Opened) -> Layout:
    """Return how a file holds documents, by its beginning; `lines` are of JSON, "" is unknown."""
    first = opened.beginning()
    start = first.lstrip()[:1]
    if not start:
        return "empty"
    if start == b"[":
        is_one_line = b"\n" not in first.lstrip() and len(first) >= CHUNK
        return "array on a line" if is_one_line else "values"
    if start == b"{":
        if _are_documents(first.decode(errors="replace").lstrip()):
            return "members"
        held = opened.first(2)
        return "values" if held and is_multi_line(*held) else "lines"
    if start == b"<" and begins_documents(first):
        return "markup"
    if is_parquet(first):
        return "parquet"
    if _delimiter(first) is not None:
        return "table"
    return "lines" if b"\n{" in first else ""  # JSONL whose first line is broken


def _are_documents(text: str) -> bool:
    """Return whether a text begins with an object of documents by id, not with a record.

    No key of it is the name of a field, and a second object, if one follows, has other keys.
    """
    members, rest = first_members(text)
    if not members or any(plain(key) in KNOWN for key in members):
        return False
    if not all(isinstance(value, str | dict | None) for value in members.values()):
        return False
    others = first_members(rest)[0] if rest and rest.startswith("{") else {}
    return not set(others) & set(members)


def _delimiter(first: bytes) -> str | None:
    """Return what separates the cells of a table that begins so, None for what is none."""
    line = first.lstrip(b"\r\n").partition(b"\n")[0].decode(errors="replace").rstrip("\r")
    if "\0" in line:  # in binary files only
        return None
    if delimiter := delimiter_of(line, _is_header):
        return delimiter
    doc_id, tab, rest = line.partition("\t")
    return "\t" if tab and rest.strip() and len(doc_id.split()) == 1 else None


def _is_header(cells: Sequence[str]) -> bool:
    """Return whether cells are a header: they name an id, and a text or a title."""
    names = {plain(cell) for cell in cells}
    return not (names.isdisjoint(IDENTIFYING) or names.isdisjoint((*TEXTS, *TITLES)))


def _table_rows(
    opened: Opened, report: OnFinding, chosen: Choose | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, record) of a table; rows that cannot be read are reported and passed over.

    Of TSV, after the first line, only lines that are `chosen`, and those that are no rows.
    """
    delimiter = _delimiter(opened.beginning()) or ","
    if delimiter == "\t":
        some = chosen and (lambda line: chosen(line) or b"\t" not in line)
        yield from _tab_separated(decoded_lines(opened, report, some), opened.path, report)
        return
    try:
        yield from csv_records(decoded_lines(opened, report), delimiter)
    except BrokenCsv as error:
        message = f"is not CSV from here on: {error}"
        report(Finding("collection_unreadable", Place(str(opened.path), error.line), message))


def _tab_separated(
    decoded: Iterator[tuple[int, str]], path: Path, report: OnFinding
) -> Iterator[tuple[int, dict[str, Any]]]:
    header: list[str] = []
    columns = 0
    for number, line in decoded:
        if not columns:
            cells = [_unquote(cell) for cell in line.split("\t")]
            header = cells if _is_header(cells) else []
            columns = len(cells) if header else min(len(cells), MOST_COLUMNS)
            if header:
                continue
        # Further tabs belong to the text, which comes last.
        cells = [_unquote(cell) for cell in line.split("\t", columns - 1)]
        if len(cells) > 1:
            yield (
                number,
                dict(zip(header, cells, strict=False)) if header else _record_of_cells(cells),
            )
            continue
        message = f"has no tab between an id and a text: {brief(line)}"
        report(Finding("documents_unusable", Place(str(path), number), message, brief(line)))


def _unquote(cell: str) -> str:
    """Return a cell without the quotation marks of CSV, where its marks are such."""
    inner = cell[1:-1].replace('""', "")
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner
    return cell[1:-1].replace('""', '"') if quoted else cell


def _record_of_cells(cells: list[str]) -> dict[str, Any]:
    """Return the record of a row without a header: id first, text last, an address by its form."""
    doc_id, *middle, text = cells
    urls = [cell for cell in middle if ADDRESS.match(cell.strip())]
    titles = [cell for cell in middle if cell not in urls and cell.strip()]
    record = {"id": doc_id, "title": " ".join(titles), "text": text}
    return record | ({"url": urls[0]} if urls else {})


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
            self.report(field_guessed(Place(str(self.path)), name))


def _within(record: object) -> Iterator[tuple[Document | None, object]]:
    """Yield (document, entry) of a record's lists, such as `candidates`; None for what is none."""
    if isinstance(record, dict):
        for entry in documents_within(record):
            yield document_of(entry), entry


def file_unusable(path: Path) -> Finding:
    """Return the finding on a file of an unknown kind; a README is only noted."""
    message = f"is no collection of documents; give {CHOICES}"
    if BESIDE.fullmatch(path.name):
        return Finding("file_not_documents", Place(str(path)), message)
    return Finding("collection_unreadable", Place(str(path)), message)


def record_unusable(path: Path, line: int, record: object) -> Finding:
    """Return the finding on a record that is no document."""
    place = Place(str(path), line)
    if not isinstance(record, dict):
        message = f"holds {type(record).__name__}, not an object"
        return Finding("record_not_an_object", place, message, brief(record))
    keys = brief(sorted(record))
    message = f"has no document id that is known ({USUAL_IDS}): keys {keys}"
    return Finding("documents_unusable", place, message, keys)


def nothing_in(path: Path) -> InputError:
    """Return the error where a path holds no document."""
    return InputError(f"{path}: no documents found; give {CHOICES}; {NAMES}")


def field_guessed(place: Place, name: str) -> Finding:
    """Return the finding on a field from which texts were taken by guess."""
    message = f"has texts in the field {name!r}, whose name is not known"
    return Finding("text_field_guessed", place, message, name)
