"""Judgments in lines: one a judgment on a terminal, or as JSONL, CSV or TSV in a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import orjson
from rich.cells import cell_len

from trecjudge.errors import InputError, unknown
from trecjudge.findings import brief, visible
from trecjudge.records import Judgment, Vote
from trecjudge.results.leaderboards.spreadsheet import csv_line
from trecjudge.show.selection import verdict_of
from trecjudge.show.words import NumberedForms, cut

LOOKED_AT = 200
"""Judgments that set the widths of the columns, since the list starts before all are read."""
Row = tuple[Judgment, str]
"""A judgment and its sentence."""
COLUMNS = ("run", "topic", "#", "document", "label", "judge")
MOST = (16, 8, 5, 16, 16, 10)
"""Characters that each name may take in a line of 80; in longer lines more."""
FIELDS = (
    *("run_id", "topic_id", "sentence_index", "doc_id", "citation", "judge", "verdict", "label"),
    *(
        "grade",
        "value",
        "exists",
        "failure",
        "reason",
        "claim",
        "nugget",
        "evidence",
        "votes",
        "text",
    ),
)
NAMES = ("run_id", "topic_id", "doc_id")
LOST = re.compile(r"[ \r\n]\n|\n[ \r]")
"""Line ends of which a reader of tables keeps only one."""
TEXTS = ("failure", "reason", "claim", "nugget", "evidence", "votes", "text")
"""Fields that are no names."""
JSONL = ".jsonl"
SEPARATORS = {JSONL: "", ".csv": ",", ".tsv": "\t"}
"""What separates cells, by the ending of a file."""


def judgment_fields(row: Row) -> dict[str, Any]:
    """Return a judgment for a file: as it is stored, in one level, with its sentence.

    `verdict` is the label, `missing_document` or `unjudged`; `sentence_index` counts from 0.
    """
    judgment, text = row
    plain = {name: getattr(judgment, name, None) for name in FIELDS}
    return plain | {
        "verdict": verdict_of(judgment) or None,
        "failure": judgment.failure.kind if judgment.failure else None,
        "claim": judgment.claim.text if judgment.claim else None,
        "nugget": judgment.about if judgment.nugget else None,
        "votes": "; ".join(map(_vote, judgment.votes)) or None,
        "evidence": judgment.evidence.quote if judgment.evidence else None,
        "text": text or None,
    }


def _vote(vote: Vote) -> str:
    return f"{vote.voter}: {vote.label or vote.failure}"


def file_lines(path: Path, rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield judgments as lines of a file, its format by the ending; a pipe takes JSONL.

    Raises InputError for another ending, and an id that a table cannot hold.
    """
    separator = SEPARATORS[_ending(path)]
    if not separator:
        for row in rows:
            yield orjson.dumps(judgment_fields(row), option=orjson.OPT_APPEND_NEWLINE)
        return
    yield csv_line(FIELDS, separator).encode()
    for row in rows:
        cells = {name: _cell(value) for name, value in judgment_fields(row).items()}
        for name in NAMES:
            if LOST.search(cells[name]):
                message = f"{name} {brief(cells[name])}: a table does not keep its line ends"
                raise InputError(f"--output {path}: {message}; give a {JSONL} file")
        if separator == "\t":  # tools that read it take no line ends in a cell; ids are kept
            cells |= {name: " ".join(cells[name].split()) for name in TEXTS}
        yield csv_line(cells.values(), separator).encode()


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if not ending and path.is_relative_to("/dev"):
        return JSONL
    if ending not in SEPARATORS:
        raise InputError(f"--output {path}: {unknown('ending', ending, SEPARATORS)}")
    return ending


def _cell(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The widths of the columns of a line; the text has what is left."""

    widths: Sequence[int]
    text: int
    forms: Sequence[NumberedForms]

    def line(self, cells: Sequence[str], text: str) -> str:
        padded = (
            self._padded(self.forms[place].of(cell), width, place == 2)
            for place, (cell, width) in enumerate(zip(cells, self.widths, strict=True))
            if width
        )
        return " ".join((*padded, cut(text, self.text))).rstrip()

    def _padded(self, cell: str, width: int, is_number: bool) -> str:
        blanks = " " * (width - cell_len(cell))
        return f"{blanks}{cell}" if is_number else f"{cell}{blanks}"


def judgment_lines(rows: Iterable[Row], width: int, several_judges: bool) -> Iterator[str]:
    """Yield a header, and a line for each judgment, in so many columns; sentences count from 1."""
    rest = iter(rows)
    first = list(islice(rest, LOOKED_AT))
    if not first:
        return
    layout = _layout([_cells(row, several_judges) for row in first], width, several_judges)
    yield layout.line(COLUMNS if several_judges else (*COLUMNS[:-1], ""), "text")
    for row in chain(first, rest):
        yield layout.line(_cells(row, several_judges), visible(_text(row)))


def _layout(rows: Sequence[Sequence[str]], width: int, several_judges: bool) -> _Layout:
    spare = max(width - 80, 0) // 4
    widths = []
    for place, (header, most) in enumerate(zip(COLUMNS, MOST, strict=True)):
        cells = max(cell_len(row[place]) for row in rows)
        shown = place < len(COLUMNS) - 1 or several_judges
        limit = cells if place == 2 else most + spare
        widths.append(min(max(cells, len(header)), limit) if shown and cells else 0)
    taken = sum(widths) + sum(1 for own in widths if own)
    return _Layout(widths, max(width - taken, 8), list(map(NumberedForms, widths)))


def _cells(row: Row, several_judges: bool) -> tuple[str, ...]:
    judgment, _ = row
    index = judgment.sentence_index
    label = verdict_of(judgment)
    if not label and judgment.value is not None:
        label = f"{judgment.value:.3f}"
    cells = (
        judgment.run_id,
        judgment.topic_id,
        "" if index is None else str(index + 1),
        judgment.doc_id or judgment.citation or "",
        label,
        judgment.judge if several_judges else "",
    )
    return tuple(map(visible, cells))


def _text(row: Row) -> str:
    judgment, text = row
    return judgment.about or text


def with_texts(judgments: Iterable[Judgment], texts: Mapping[int, str]) -> Iterator[Row]:
    """Yield judgments with their sentences."""
    for judgment in judgments:
        index = judgment.sentence_index
        yield judgment, "" if index is None else texts.get(index, "")
