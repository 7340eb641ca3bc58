"""Documents in tables: TSV with or without a header line, CSV with one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from trecjudge.findings import Finding, OnFinding, shown
from trecjudge.inputs.documents.names import IDENTIFYING, TEXTS, TITLES, plain
from trecjudge.inputs.sources.comma_separated import BrokenCsv, csv_records
from trecjudge.inputs.sources.comma_separated import delimiter_of as delimiter_of_header
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.values import decoded_lines
from trecjudge.records import Place

MOST_COLUMNS = 4
"""Of a table without a header line: id, address, title and text."""
ADDRESS = re.compile(r"https?://\S+$")
Row = tuple[int, dict[str, Any]]


def delimiter_of(first_line: str) -> str | None:
    """Return what separates the cells of a table, None where the line is not one of a table."""
    if delimiter := delimiter_of_header(first_line, _is_header):
        return delimiter
    first, tab, rest = first_line.partition("\t")
    return "\t" if tab and rest.strip() and len(first.split()) == 1 else None


def rows(
    file: Path | Opened,
    delimiter: str,
    report: OnFinding,
    chosen: Callable[[bytes], bool] | None = None,
) -> Iterator[Row]:
    """Yield (line, record) of a table; rows that cannot be read are reported and passed over.

    Of TSV, after the first line, only lines that are `chosen`, and those that are no rows.
    """
    opened = Opened.of(file)
    if delimiter == "\t":
        some = chosen and (lambda line: chosen(line) or b"\t" not in line)
        return _tab_separated(decoded_lines(opened, report, some), opened.path, report)
    return _comma_separated(decoded_lines(opened, report), delimiter, opened.path, report)


def _is_header(cells: Sequence[str]) -> bool:
    """Return whether cells are a header: they name an id, and a text or a title."""
    names = [plain(cell) for cell in cells]
    said = (*TEXTS, *TITLES)
    return any(n in IDENTIFYING for n in names) and any(name in said for name in names)


def _tab_separated(
    decoded: Iterator[tuple[int, str]], path: Path, report: OnFinding
) -> Iterator[Row]:
    header: list[str] = []
    columns = 0
    for number, line in decoded:
        if not columns:
            cells = [_unquoted(cell) for cell in line.split("\t")]
            header = cells if _is_header(cells) else []
            columns = len(cells) if header else min(len(cells), MOST_COLUMNS)
            if header:
                continue
        # Further tabs belong to the text, which comes last.
        cells = [_unquoted(cell) for cell in line.split("\t", columns - 1)]
        if len(cells) > 1:
            yield number, dict(zip(header, cells, strict=False)) if header else _unnamed(cells)
            continue
        place = Place(str(path), number)
        message = f"has no tab between an id and a text: {shown(line)}"
        report(Finding("documents_unusable", place, message, shown(line)))


def _unquoted(cell: str) -> str:
    """Return a cell without the quotation marks of CSV, where its marks are such."""
    inner = cell[1:-1].replace('""', "")
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner
    return cell[1:-1].replace('""', '"') if quoted else cell


def _unnamed(cells: list[str]) -> dict[str, Any]:
    """Return the record of a row without a header: id first, text last, an address by its form."""
    doc_id, *middle, text = cells
    urls = [cell for cell in middle if ADDRESS.match(cell.strip())]
    titles = [cell for cell in middle if cell not in urls and cell.strip()]
    record = {"id": doc_id, "title": " ".join(titles), "text": text}
    return record | ({"url": urls[0]} if urls else {})


def _comma_separated(
    decoded: Iterator[tuple[int, str]], delimiter: str, path: Path, report: OnFinding
) -> Iterator[Row]:
    try:
        yield from csv_records(decoded, delimiter)
    except BrokenCsv as error:
        message = f"is not CSV from here on: {error}"
        report(Finding("collection_unreadable", Place(str(path), error.line), message))
