"""A workbook to label in: the items of a page as rows, for people who work in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from trecjudge.errors import OutputError
from trecjudge.files import open_target
from trecjudge.findings import brief, visible
from trecjudge.inputs.labels.workbooks import EXTRA, KEYS
from trecjudge.inputs.sources.comma_separated import FORMULA

NEAR = 2
"""Sentences around the one to label, as on the page."""
MOST_PASSAGE = 4000
"""Characters of a document, around what the judge looked at."""
MOST_CELL = 32_000
"""Characters of a cell; the format takes 32,767."""
MOST_CROSSED = 8
"""Labels that have a column each to put an x in; of more there is only the list to choose from."""
WIDTHS = {"topic": 30, "context": 50, "sentence": 45, "look_for": 35, "passage": 70, "comment": 35}
"""Widths of columns, in characters; of others by their heads."""
LABELS = "Labels"
"""The sheet that says what the labels mean, from which lists of labels are chosen."""


@dataclass(frozen=True)
class LabelWorkbook:
    """What a workbook is made of: items as a page takes them, and the texts that they name.

    `documents` has the texts of each topic, `topics` what it asks, `sets` the labels.
    """

    items: Sequence[Mapping[str, Any]]
    responses: Sequence[Sequence[str]]
    documents: Mapping[str, Sequence[Mapping[str, str]]]
    topics: Mapping[str, str]
    sets: Sequence[Mapping[str, Any]]
    guideline: Sequence[tuple[str, Sequence[str]]]
    labeller: str = ""

    @cached_property
    def crossed(self) -> list[str]:
        """The labels that have a column each."""
        used = [self.sets[one] for one in sorted({item["set"] for item in self.items})]
        labels = list(dict.fromkeys(one["label"] for own in used for one in own["labels"]))
        return labels if len(labels) <= MOST_CROSSED else []

    def row(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the cells of an item by column; those for people are empty."""
        sentences, at = self.responses[item["response"]], item["at"]
        whole = at is None
        start = 0 if whole else max(0, at - NEAR)
        near = sentences if whole else sentences[start : at + NEAR + 1]
        word, reason = item.get("verdict") or ("", "")
        return {
            "topic": self.topics[item["topic"]],
            "context": " ".join(near),
            "sentence": "" if whole else sentences[at],
            "look_for": item["about"],
            "passage": self.passage(item),
            "label": None,
            **dict.fromkeys(self.crossed),
            "comment": None,
            **{name: item["key"].get(name) for name in KEYS},
            "sampled": item["sampled"],
            "labeller": self.labeller,
            "verdict": f"{word}: {reason}" if word else "",
        }

    def passage(self, item: Mapping[str, Any]) -> str:
        """Return the text of an item's document, of a long one what is around the passage."""
        if item["document"] is None:
            return ""
        text = self.documents[item["topic"]][item["document"]]["text"]
        start, end = item["looked"] or (0, 0)
        begin = max(0, min((start + end - MOST_PASSAGE) // 2, len(text) - MOST_PASSAGE))
        stop = min(len(text), begin + MOST_PASSAGE)
        return f"{'…' * (begin > 0)}{text[begin:stop]}{'…' * (stop < len(text))}"


def write_workbook(path: Path, made: LabelWorkbook) -> None:
    """Write a workbook of items, one of labels with what they mean, and one of the guideline.

    Every text is a text, whatever it begins with. Raises OutputError, also for a missing package.
    """
    try:
        from openpyxl import Workbook
    except ImportError as error:
        raise OutputError(f"{path}: {EXTRA}; a page needs none: --page FILE.html") from error
    book = Workbook()
    rows = list(map(made.row, made.items))
    _check_keys(path, rows)
    used = [name for name in rows[0] if _is_kept(name, rows, made)] if rows else []
    items, labels = book.active, book.create_sheet(LABELS)
    items.title = "Items"
    _fill(items, [used, *([row[name] for name in used] for row in rows)])
    items.freeze_panes = "A2"
    _fill(labels, [("label", "word", "meaning"), *_meanings(made)])
    if made.guideline:
        lines = [[line] for _, part in made.guideline for line in part]
        _fill(book.create_sheet("Guideline"), lines)
    _let_choose(items, used, made)
    with open_target(path) as file:
        book.save(file)


def _check_keys(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise OutputError for an id that a cell would change: its label could not be found again."""
    for row in rows:
        for text in (row[name] for name in KEYS if isinstance(row[name], str)):
            if _text_of_cell(text) != text:
                raise OutputError(
                    f"{path}: a workbook cannot hold {brief(text)}; a page can: --page FILE.html"
                )


def _text_of_cell(text: str) -> str:
    plain = visible(text[:MOST_CELL]).encode(errors="replace").decode()
    return plain.replace("\ufffe", "?").replace("\uffff", "?")[:MOST_CELL]


def _is_kept(name: str, rows: Sequence[Mapping[str, Any]], made: LabelWorkbook) -> bool:
    """Return whether a column is for people to fill in, or has something in it."""
    return name in ("label", "comment", *made.crossed) or any(
        row[name] not in (None, "") for row in rows
    )


def _meanings(made: LabelWorkbook) -> Iterator[tuple[str, str, str]]:
    for own in made.sets:
        yield from ((one["label"], one["word"], one["means"]) for one in own["labels"])


def _fill(sheet: Any, rows: Sequence[Sequence[Any]]) -> None:
    from openpyxl.styles import Alignment, Font

    top, bold = Alignment(wrap_text=True, vertical="top"), Font(bold=True)
    for number, cells in enumerate(rows, 1):
        for column, value in enumerate(cells, 1):
            cell = sheet.cell(number, column)
            if isinstance(value, str):
                _put_text(cell, value)
            elif value is not None:
                cell.value = value
            cell.alignment = top
            if number == 1:
                cell.font = bold
    for column, name in enumerate(rows[0] if rows else (), 1):
        letter = sheet.cell(1, column).column_letter
        sheet.column_dimensions[letter].width = WIDTHS.get(name, max(12, len(name) + 2))
        sheet.column_dimensions[letter].hidden = name == "verdict"


def _put_text(cell: Any, text: str) -> None:
    """Put a text into a cell, where nothing calculates it, now or when somebody edits it."""
    cell.value = _text_of_cell(text)
    cell.data_type = "s"
    cell.quotePrefix = bool(FORMULA.match(text))


def _let_choose(sheet: Any, used: Sequence[str], made: LabelWorkbook) -> None:
    """Let the label of each item be chosen from a list, and an x put into the columns of labels."""
    from openpyxl.worksheet.datavalidation import DataValidation

    begin, lists = 2, []
    for own in made.sets:
        end = begin + len(own["labels"])
        lists.append(DataValidation("list", f"{LABELS}!$A${begin}:$A${end - 1}", allow_blank=True))
        begin = end
    cross = DataValidation("list", '"x"', allow_blank=True)
    for number, item in enumerate(made.items, 2):
        lists[item["set"]].add(sheet.cell(number, used.index("label") + 1))
        for one in made.sets[item["set"]]["labels"] if made.crossed else ():
            cross.add(sheet.cell(number, used.index(one["label"]) + 1))
    for one in (*lists, cross):
        if one.sqref:
            sheet.add_data_validation(one)
