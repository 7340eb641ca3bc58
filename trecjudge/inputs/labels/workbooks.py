"""Labels in a workbook (.xlsx): a row for each item, marked in a `label` column or with an x."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError, why
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.labels.label_files import column_of
from trecjudge.records import Place
from trecjudge.settings.limits import SWELLS, limits

EXTRA = "a workbook needs a package: pip install 'trecjudge[xlsx]'"
KEYS = ("topic_id", "run_id", "sentence_index", "doc_id", "nugget")
"""The columns that say which item a row is."""
TEXTS = ("topic", "context", "sentence", "look_for", "passage", "comment", "labeller", "sampled")
"""Columns with text that is no mark, whatever it says."""
MOST_COLUMNS = 500
"""Columns of a sheet that are looked at."""
Row = tuple[int, Sequence[Any]]
"""The number of a row, and its cells."""
MARKS = ("x", "✓", "✔", "☒", "☑")
"""What stands in the column of a label that an item has."""


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook, by its name."""
    return path.suffix.casefold() == ".xlsx"


def read_workbook(path: Path, report: OnFinding) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (row, record) of each row of the sheets that have columns topic_id and run_id.

    A label is in the column `label`, or a column that is named after it has an x. A row with
    several labels is reported. Raises InputError for what is no workbook.
    """
    for title, ((_, head), *rows) in _sheets(path):
        columns = [_known("" if cell is None else str(cell).strip()) for cell in head]
        if not {"topic_id", "run_id"} <= {*columns}:
            continue
        for number, cells in rows:
            record = {c: v for c, v in zip(columns, cells, strict=True) if c and v is not None}
            labels = _take_labels(record)
            if len(labels) > 1:
                said = " and ".join(map(repr, labels))
                message = f"sheet {title!r}, row {number} is marked {said}: give it one label"
                report(Finding("label_contradicted", Place(str(path), number), message))
            else:
                yield number, record | dict.fromkeys(["label"], *labels) if labels else record


def _known(name: str) -> str:
    column = column_of(name)
    return column if column in (*KEYS, *TEXTS, "label") else name


def _take_labels(record: dict[str, Any]) -> Sequence[Any]:
    """Return the labels of a row, each once; its marks are no fields of it any more."""
    crossed = [
        name
        for name, value in record.items()
        if name not in (*KEYS, *TEXTS, "label") and str(value).strip().casefold() in MARKS
    ]
    for name in crossed:
        del record[name]
    own = record.pop("label", None)
    chosen = own.strip() if isinstance(own, str) else own
    return list(dict.fromkeys([*crossed, *([] if chosen in (None, "") else [chosen])]))


def _sheets(path: Path) -> list[tuple[str, list[Row]]]:
    """Return the sheets that have any row, formulas by their values. Raises InputError."""
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise InputError(f"{path}: {EXTRA}, or save it as CSV") from error
    try:
        _check_size(path)
        with warnings.catch_warnings(action="ignore"):  # of lists to choose from, and the like
            book = load_workbook(path, read_only=True, data_only=True)
            found = [(sheet.title, list(_rows(sheet))) for sheet in book.worksheets]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {why(error)}") from error
    except (zipfile.BadZipFile, KeyError, ValueError, SyntaxError, TypeError) as error:
        raise InputError(f"{path}: is no workbook (.xlsx): {error}") from error
    return [(title, rows) for title, rows in found if rows]


def _check_size(path: Path) -> None:
    with zipfile.ZipFile(path) as packed:
        size = sum(part.file_size for part in packed.infolist())
    most = max(limits().unpacked, SWELLS * path.stat().st_size)
    if size > most:
        raise InputError(f"{path}: becomes {size:,} bytes, more than {most:,} (unpacked)")


def _rows(sheet: Any) -> Iterator[Row]:
    """Yield the rows that have anything in them: the others may be a million."""
    every = sheet.iter_rows(max_col=MOST_COLUMNS, values_only=True)
    return ((number, cells) for number, cells in enumerate(every, 1) if any(cells))
