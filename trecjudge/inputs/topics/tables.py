"""Topics in TSV and CSV files, with and without a header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_rows, delimiter_of
from trecjudge.inputs.sources.containers import ENDINGS
from trecjudge.inputs.sources.streams import too_large
from trecjudge.inputs.sources.values import decoded_lines
from trecjudge.inputs.topics.record import ID_KEYS, TEXT_KEYS, Record, name_of
from trecjudge.records import Place
from trecjudge.settings.limits import limits

MOST_COLUMNS = 1000


def table_topics(path: Path, report: OnFinding) -> Iterator[tuple[Place, Record]]:
    """Yield a record for each row: by the names of a header, or of id and text without one."""
    rows = _rows(path, report)
    place, first = next(rows, (Place(str(path)), []))
    names = header_of(first)
    if not names and first:
        yield from _row(place, first, report)
    for place, cells in rows:
        if names:
            yield place, _by_name(names, cells)
        else:
            yield from _row(place, cells, report)


def header_of(cells: Sequence[str]) -> list[str]:
    """Return the names of the columns, if a first row is a header; else none.

    A header names only known columns, or at least an id and a text. Where all columns are of text
    (`topic`, `title`), the first holds the ids. A row without tabs or commas is read word by word.
    """
    parted = cells[0].split() if len(cells) == 1 else cells[:MOST_COLUMNS]
    # Headers are often commented out: `#qid`.
    names = [name_of(cell.lstrip("#")) for cell in parted]
    ids = [name for name in names if name in ID_KEYS]
    texts = [name for name in names if name in TEXT_KEYS]
    if len(set(names)) < len(names):
        return []
    if len(texts) == len(names) > 1:
        return ["topic_id", *names[1:]]
    return names if ids and (texts or len(ids) == len(names)) else []


def _rows(path: Path, report: OnFinding) -> Iterator[tuple[Place, list[str]]]:
    """Yield the cells of every row, by commas or `;` where the file's name or header shows them."""
    texts = decoded_lines(path, report)
    number, first = next(texts, (0, ""))
    rest = chain([(number, first)] if number else [], texts)
    if delimiter := _csv_delimiter(path, first):
        yield from _csv_rows(path, rest, delimiter, report)
        return
    for n, text in rest:
        if text.count("\t") > limits().entries:
            report(too_large(Place(str(path), n), limits().too_many))
        else:
            yield Place(str(path), n), text.split("\t")


def _csv_delimiter(path: Path, first: str) -> str | None:
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    if "\t" in first:
        return None
    inside = next((separator for separator in ",;" if separator in first), None)
    return delimiter_of(first, header_of) or (inside if name.endswith(".csv") else None)


def _csv_rows(
    path: Path, texts: Iterator[tuple[int, str]], delimiter: str, report: OnFinding
) -> Iterator[tuple[Place, list[str]]]:
    """Yield the rows of a CSV file at the lines where they end; cells may hold line ends."""
    try:
        for number, cells in csv_rows(texts, delimiter):
            yield Place(str(path), number), cells
    except BrokenCsv as error:
        message = f"is no CSV from here on: {error}"
        report(Finding("topic_unreadable", Place(str(path), error.line), message))


def _by_name(names: Sequence[str], cells: Sequence[str]) -> Record:
    """Return a row by the names of its columns; surplus cells belong to the last."""
    last = len(names) - 1
    fitted = [*cells[:last], "\t".join(cells[last:])]
    return {name: cell.strip() for name, cell in zip(names, fitted, strict=False)}


def _row(place: Place, cells: Sequence[str], report: OnFinding) -> Iterator[tuple[Place, Record]]:
    topic_id, *rest = cells
    # A binary file has words of control characters.
    is_id = topic_id.strip().lstrip("\ufeff").isprintable() and len(topic_id.split()) == 1
    if is_id and not topic_id.startswith(("{", "[")):
        yield place, {"topic_id": topic_id, "title": "\t".join(rest).strip()}
    else:
        message = "is neither JSON nor id<TAB>text"
        report(Finding("topic_unreadable", place, message, shown(topic_id)))
