"""A table for a paper or a page, and its forms: Markdown, HTML, LaTeX, CSV."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Literal

from trecjudge.errors import InputError, unknown
from trecjudge.findings import visible
from trecjudge.results.leaderboards.writing import csv_line
from trecjudge.show.formats import cell_text
from trecjudge.show.templates import holdable


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column, or a part of one: columns in a row that have one `head` belong together.

    A `number` is set by its decimal point, a `detail` smaller. `arrow` marks a measure of which
    less is better. Where they share a cell, the text of a `named` one stands behind its `part`.
    """

    head: str
    kind: Literal["text", "number", "detail"] = "text"
    part: str = ""
    arrow: bool = False
    named: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a row and a column; `bold` where it is the best, or counts as different."""

    text: str
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its name, columns and rows, and notes, which are whole sentences.

    `records` are the same rows for a spreadsheet, numbers with all their digits.
    """

    name: str
    columns: Sequence[GridColumn]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str]
    records: Sequence[Mapping[str, object]]

    @property
    def heads(self) -> list[tuple[GridColumn, int, int]]:
        """The columns that belong together: the first of them, and from where to where."""
        found, start = [], 0
        for _, own in groupby(self.columns, lambda column: column.head):
            together = list(own)
            found.append((together[0], start, start + len(together)))
            start += len(together)
        return found

    def joined(self, row: Sequence[Cell]) -> Iterator[tuple[GridColumn, list[Cell]]]:
        """Yield what stands in a row, by columns that share a cell; `named` ones in parentheses."""
        for first, start, end in self.heads:
            parts = zip(self.columns[start:end], row[start:end], strict=True)
            yield (
                first,
                [
                    Cell(f"({column.part} {cell.text})", cell.bold) if column.named else cell
                    for column, cell in parts
                    if cell.text
                ],
            )


MOST_ROWS = 40
"""Longer tables go over pages."""
# What pdfLaTeX has no letter for is shown by its code point; XeLaTeX and LuaLaTeX set it.
ARROW = r"~$\downarrow$"
PREAMBLE = ("[T1]{fontenc} % with pdfLaTeX", "{booktabs}", "{siunitx}")
CHARACTER = r"\ifdefined\Umathcode %s\else\texttt{{[}U+%04X{]}}\fi{}"
"""Sets a character where the engine has its letter, else its code point; in captions too."""
LONGEST = 28
"""Characters of a text that need not be broken."""
BROKEN = r">{\raggedright\arraybackslash}p{4.6cm}"
"""A column of texts that are broken; siunitx loads what it needs."""
BREAKS = re.compile(r"(\\_|[-./:])(?=.)")
NUMBER = re.compile(r"([+-]?)(\d+)(?:\.(\d+))?")
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    # A bracket behind the end of a row would be read as its height, a star as its variant.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "…": r"\ldots{}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
}
LIGATURE = re.compile(r"([-',])(?=\1)")
"""Two in a row would become one sign."""
LETTERS = re.compile("[\xc0-\xd6\xd8-\xf6\xf8-\u017e]")
"""What T1 fonts have beside ASCII."""
NOT_IN_T1 = frozenset("ĦħĸĿŀŊŋŦŧŉſ")


def latex(grid: Grid) -> str:
    """Return a table; one of more than MOST_ROWS rows as a `longtable`."""
    long = len(grid.rows) > MOST_ROWS
    return "\n".join([*_opening(long), *(_long(grid) if long else _floating(grid))]) + "\n"


def _opening(long: bool) -> list[str]:
    """Return the lines of a preamble that the table needs, as comments."""
    packages = (*PREAMBLE, *(("{longtable}",) if long else ()))
    return ["% needs in the preamble:", *(rf"% \usepackage{package}" for package in packages)]


def _floating(grid: Grid) -> Iterator[str]:
    yield from (r"\begin{table}", r"\centering", r"\small", r"\setlength{\tabcolsep}{3pt}")
    yield _caption(grid)
    yield rf"\label{{{_label(grid)}}}"
    yield rf"\begin{{tabular}}{{{_columns(grid)}}}"
    yield r"\toprule"
    yield from _heads(grid)
    yield r"\midrule"
    yield from _rows(grid)
    yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}")


def _long(grid: Grid) -> Iterator[str]:
    heads = list(_heads(grid))
    yield from (r"\begingroup", r"\small", r"\setlength{\tabcolsep}{3pt}")
    yield rf"\begin{{longtable}}{{{_columns(grid)}}}"
    yield rf"{_caption(grid)} \label{{{_label(grid)}}}\\"
    yield from (r"\toprule", *heads, r"\midrule", r"\endfirsthead")
    yield from (r"\toprule", *heads, r"\midrule", r"\endhead")
    yield from (r"\bottomrule", r"\endfoot")
    yield from _rows(grid)
    yield from (r"\end{longtable}", r"\endgroup")


def _caption(grid: Grid) -> str:
    """Return the caption: the name, also for the list of tables, and the notes."""
    name = escape_latex(grid.name)
    return rf"\caption[{name}]{{{name}. {' '.join(map(escape_latex, grid.notes))}}}"


def _label(grid: Grid) -> str:
    return "tab:" + re.sub(r"[^A-Za-z0-9]+", "-", grid.name).strip("-").lower()


def _columns(grid: Grid) -> str:
    """Return the types of the columns: numbers stand by their decimal points."""
    types = []
    for place, column in enumerate(grid.columns):
        if _is_long(grid, place):
            types.append(BROKEN)
        elif column.kind == "number":
            texts = [row[place].text for row in grid.rows]
            types.append(f"S[table-format={_format(texts)},detect-weight,mode=text]")
        else:
            types.append("r" if not column.head and not place else "l")
    return "".join(types)


def _is_long(grid: Grid, place: int) -> bool:
    is_text = grid.columns[place].kind == "text"
    return is_text and any(len(row[place].text) > LONGEST for row in grid.rows)


def _format(texts: Iterable[str]) -> str:
    """Return what `table-format` reserves: the sign, and the most digits before and behind."""
    found = [one for one in map(NUMBER.fullmatch, texts) if one]
    sign = next((one[1] for one in found if one[1]), "")
    before = max((len(one[2]) for one in found), default=1)
    behind = max((len(one[3] or "") for one in found), default=0)
    return f"{sign}{before}.{behind}"


def _heads(grid: Grid) -> Iterator[str]:
    """Yield the row of heads, and rules under those of several columns with what parts them."""
    spans = grid.heads
    cells = [
        rf"\multicolumn{{{end - start}}}{{c}}{{{_head(column)}}}"
        if end - start > 1
        else f"{{{_head(column)}}}"
        for column, start, end in spans
    ]
    yield " & ".join(cells) + r" \\"
    rules = [rf"\cmidrule(lr){{{s + 1}-{e}}}" for _, s, e in spans if e - s > 1]
    if rules:
        yield " ".join(rules)
        parts = (rf"{{\scriptsize {escape_latex(c.part)}}}" if c.part else "" for c in grid.columns)
        yield " & ".join(parts) + r" \\"


def _head(column: GridColumn) -> str:
    return escape_latex(column.head) + (ARROW if column.arrow else "")


def _rows(grid: Grid) -> Iterator[str]:
    broken = [_is_long(grid, place) for place in range(len(grid.columns))]
    for row in grid.rows:
        cells = map(_cell, grid.columns, row, broken)
        yield " & ".join(cells) + r" \\"


def _cell(column: GridColumn, cell: Cell, broken: bool) -> str:
    if column.kind == "number":
        is_number = NUMBER.fullmatch(cell.text)
        text = cell.text if is_number else f"{{{escape_latex(cell.text)}}}"
        return rf"\bfseries {text}" if cell.bold and is_number else text
    text = escape_latex(cell.text)
    if broken:
        text = BREAKS.sub(r"\1\\allowbreak{}", text)
    if column.kind == "detail" and column.head and text:
        return rf"{{\scriptsize {text}}}"
    return rf"\textbf{{{text}}}" if cell.bold else text


def escape_latex(text: str) -> str:
    """Return a text that LaTeX sets as it is, on one line."""
    plain = unicodedata.normalize("NFC", " ".join(visible(text).split()))
    return LIGATURE.sub(r"\1{}", "".join(map(_character, plain)))


def _character(one: str) -> str:
    if one in SPECIAL:
        return SPECIAL[one]
    if one.isascii() or (LETTERS.match(one) and one not in NOT_IN_T1):
        return one
    return CHARACTER % (one, ord(one))


# A table in Markdown, as GitHub and pandoc read it.
MARKUP = re.compile(r"([\\`*_{}\[\]<>|~&#$^])")


def markdown(grid: Grid) -> str:
    """Return a table, a column for each head, with its notes below."""
    return "\n".join(_markdown_lines(grid)) + "\n"


def _markdown_lines(grid: Grid) -> Iterator[str]:
    yield _markdown_row(_markdown_head(column) for column, _, _ in grid.heads)
    yield _markdown_row(":--" if column.kind == "text" else "--:" for column, _, _ in grid.heads)
    for row in grid.rows:
        yield _markdown_row(" ".join(map(_markdown_cell, own)) for _, own in grid.joined(row))
    if grid.notes:
        yield ""
        yield escape_markdown(" ".join(grid.notes))


def _markdown_row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_head(column: GridColumn) -> str:
    return f"{escape_markdown(column.head)}{' ↓' if column.arrow else ''}"


def _markdown_cell(cell: Cell) -> str:
    return f"**{escape_markdown(cell.text)}**" if cell.bold else escape_markdown(cell.text)


def escape_markdown(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return MARKUP.sub(r"\\\1", " ".join(visible(text).split()))


# A table as a fragment of HTML, to be put into a page of any style.
def fragment(grid: Grid) -> str:
    """Return a `table` element with its notes as caption."""
    return "\n".join(_html_lines(grid)) + "\n"


def _html_lines(grid: Grid) -> Iterator[str]:
    yield "<table>"
    if grid.notes:
        yield f"<caption>{_html_text(' '.join(grid.notes))}</caption>"
    heads = "".join(f'<th scope="col">{_html_head(column)}</th>' for column, _, _ in grid.heads)
    yield f"<thead><tr>{heads}</tr></thead>"
    yield "<tbody>"
    for row in grid.rows:
        cells = (_html_cell(column, own) for column, own in grid.joined(row))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody>"
    yield "</table>"


def _html_head(column: GridColumn) -> str:
    return f"{_html_text(column.head)}{' &darr;' if column.arrow else ''}"


def _html_cell(column: GridColumn, cells: Sequence[Cell]) -> str:
    inside = " ".join(_html_part(cell, place) for place, cell in enumerate(cells))
    if column.head == "run":
        return f'<th scope="row">{inside}</th>'
    return f"<td>{inside}</td>"


def _html_part(cell: Cell, place: int) -> str:
    text = f"<b>{_html_text(cell.text)}</b>" if cell.bold else _html_text(cell.text)
    return f"<small>{text}</small>" if place else text


def _html_text(text: str) -> str:
    return escape(str(holdable(visible(text))))


# Tables written in a form by its name.
Form = Literal["markdown", "latex", "html", "csv"]


def spreadsheet(grid: Grid) -> str:
    """Return the rows as CSV with a header, numbers with all their digits."""
    names = list(grid.records[0]) if grid.records else []
    lines = [csv_line(names)]
    lines += [csv_line(cell_text(record[name]) for name in names) for record in grid.records]
    return "".join(lines)


FORMS: Mapping[str, Callable[[Grid], str]] = {
    "markdown": markdown,
    "latex": latex,
    "html": fragment,
    "csv": spreadsheet,
}


def render_table(grid: Grid, form: str) -> str:
    """Return a table in a form. Raises InputError for one that there is not."""
    if form not in FORMS:
        raise InputError(unknown("form of a table", form, FORMS))
    return FORMS[form](grid)
