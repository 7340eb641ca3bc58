"""A table in LaTeX, with booktabs and siunitx: it compiles as it is where its packages are loaded.

What pdfLaTeX has no letter for is shown by its code point; XeLaTeX and LuaLaTeX set it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from trecjudge.findings import visible
from trecjudge.show.paper.grid import Cell, Grid, GridColumn

MOST_ROWS = 40
"""Longer tables go over pages."""
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
