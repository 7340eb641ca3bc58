"""A table in LaTeX, laid out for the page that it is to stand on: never wider than its text."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trecjudge.errors import InputError, unknown
from trecjudge.findings import visible
from trecjudge.show.paper.grid import Cell, Grid, GridColumn

LAYOUTS: Final = {"page": 345.0, "column": 219.0, "wide": 455.0, "landscape": 550.0}
"""Widths of the text in pt, those of the narrowest of the usual classes: a page with one column
(article), a column of a page with two, both of them (ACL), a page turned (article)."""
SHARES: Final = (0.5, 0.38, 0.28)
"""Of the width, what the leading columns take at most, those that say what a row is of: the most
that asks for no more parts than a smaller one."""
LONGEST = 131.0
"""The widest column of texts in pt; longer ones are broken."""
NARROWEST = 56.0
"""The narrowest column of texts that are broken."""
SEPARATION = 6.0
"""Between two columns, in pt."""
MOST_ROWS = 40
"""Longer tables go over pages."""
LINES = 43
"""Of the rows and the caption of a table that cannot go over pages."""
MOST_FLOATS = 12
"""LaTeX holds back no more than 18."""
MIN_WIDTH = 150
"""The narrowest text, in pt."""

# Widths of letters in pt, of Computer Modern at 10 pt: that of other fonts is about as wide.
WIDTHS: Final = {
    one: width
    for width, letters in (
        (2.9, "ijl.,:;'|!I "),
        (4.0, "frtsz()[]-/"),
        (5.1, "0123456789acegovxy_J?$*`"),
        (5.7, 'bdhknpqu+"<>#&^~{}\\'),
        (7.2, "ABCEFKLPRSTUVXYZw="),
        (8.4, "DGHNOQm%@"),
        (10.3, "MW"),
    )
    for one in letters
}
UNKNOWN, BY_CODE = 8.4, 44.0
SMALL, SCRIPT, BOLD = 0.93, 0.8, 1.16
"""What `\\small`, `\\scriptsize` and bold letters are of that."""

# What pdfLaTeX has no letter for is shown by its code point; XeLaTeX and LuaLaTeX set it.
ARROW = r"~$\downarrow$"
CHARACTER = r"\ifdefined\Umathcode %s\else\texttt{{[}U+%04X{]}}\fi{}"
"""Sets a character where the engine has its letter, else its code point; in captions too."""
BREAKS = re.compile(r"(\\_|[-./:])(?=.)")
WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z0-9]+")
WORDS = re.compile(r"[^_.@ ]+[_.@ ]*|[_.@ ]+")
"""The parts of a head, which is broken between them."""
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


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a table stands, one of LAYOUTS, and how wide the text is there, in pt.

    Numbers stand by their decimal points by siunitx, or to the right where they are `plain`.
    """

    name: str = "page"
    width: float = LAYOUTS["page"]
    plain: bool = False

    @classmethod
    def of(cls, given: str, plain: bool = False) -> Layout:
        """Return `page`, or `page:360` for a text of 360 pt. Raises InputError."""
        name, colon, width = given.partition(":")
        if name not in LAYOUTS:
            raise InputError(unknown("layout", name, LAYOUTS))
        if not colon:
            return cls(name, LAYOUTS[name], plain)
        if not re.fullmatch(r"\d{2,4}(\.\d+)?", width) or float(width) < MIN_WIDTH:
            raise InputError(f"--layout {given}: the width must be {MIN_WIDTH} to 9999, in pt")
        return cls(name, float(width), plain)

    @property
    def in_columns(self) -> bool:
        """Whether the page has two columns, on which no table goes over pages."""
        return self.name in ("column", "wide")


PAGE = Layout()


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a table that fits: its columns and rows; `widths` are those of broken texts."""

    grid: Grid
    widths: Sequence[float | None]
    number: int = 1
    of: int = 1


def latex(grid: Grid, layout: Layout = PAGE) -> str:
    """Return a table, in as many parts as keep it within the width of the text.

    One of more than MOST_ROWS rows is a `longtable`, or several floats on a page of two columns.
    """
    panels = min((list(_panels(grid, layout, share)) for share in SHARES), key=len)
    parts = [part for panel in panels for part in _by_height(panel, layout)]
    parts = [replace(part, number=n, of=len(parts)) for n, part in enumerate(parts, 1)]
    long = not layout.in_columns and (layout.name == "landscape" or len(grid.rows) > MOST_ROWS)
    lines = [*_opening(layout, long)]
    for part in parts:
        lines += _long(part, layout) if long else _floating(part, layout)
        if part.number % MOST_FLOATS == 0 and not long:
            lines.append(r"\clearpage")
    return "\n".join(lines) + "\n"


def _opening(layout: Layout, long: bool) -> list[str]:
    """Return the lines of a preamble that the table needs, as comments."""
    packages = ["[T1]{fontenc} % with pdfLaTeX", "{booktabs}"]
    packages += ["{array}"] if layout.plain else ["{siunitx}"]  # which loads the former
    packages += ["{longtable}"] if long else []
    packages += ["{pdflscape}"] if layout.name == "landscape" else []
    return ["% needs in the preamble:", *(rf"% \usepackage{package}" for package in packages)]


# What fits: columns side by side, rows below each other.
def _panels(grid: Grid, layout: Layout, share: float) -> Iterator[_Part]:
    """Yield the table in parts of columns; the leading ones stand in each."""
    leading = next((n for n, c in enumerate(grid.columns) if c.kind == "number"), 0)
    natural = [_natural(grid, place) for place in range(len(grid.columns))]
    natural[:leading] = map(max, natural[:leading], map(_head_width, grid.columns))
    # Ranks are never broken, and names not below what holds a long word.
    texts = [natural[n] for n in range(leading) if grid.columns[n].kind == "text"]
    ranks = sum(natural[:leading]) - sum(texts)
    cap = _cap(texts, share * layout.width - SEPARATION * leading - ranks)
    cap = min(LONGEST, max(NARROWEST, cap))
    taken = ranks + sum(min(width, cap) for width in texts) + SEPARATION * leading
    room = layout.width - taken
    broken = [
        limit if width > (limit := _limit(grid, place, leading, cap, room)) else None
        for place, width in enumerate(natural)
    ]
    own: list[int] = []
    for group in _groups(grid, natural, leading, room):
        if own and _together(grid, natural, [*own, *group]) > room:
            yield _slice(grid, [*range(leading), *own], broken)
            own = []
        own += group
    yield _slice(grid, [*range(leading), *own], broken)


def _limit(grid: Grid, place: int, leading: int, cap: float, room: float) -> float:
    """Return how wide a column may be before its texts are broken."""
    if place >= leading:
        return room - SEPARATION
    return cap if grid.columns[place].kind == "text" else math.inf


def _groups(grid: Grid, natural: Sequence[float], leading: int, room: float) -> Iterator[list[int]]:
    """Yield columns that stay together: those of one head, where they fit."""
    for _, start, end in grid.heads:
        group: list[int] = []
        for place in range(max(start, leading), end):
            if group and _together(grid, natural, [*group, place]) > room:
                yield group
                group = []
            group.append(place)
        if group:
            yield group


def _together(grid: Grid, natural: Sequence[float], places: Sequence[int]) -> float:
    """Return how wide columns are together, with their heads and what is between them."""
    width = 0.0
    for _, start, end in grid.heads:
        own = [place for place in places if start <= place < end]
        if own:
            columns = sum(natural[p] for p in own) + SEPARATION * (len(own) - 1)
            width += max(columns, _head_width(grid.columns[own[0]])) + SEPARATION
    return width


def _slice(grid: Grid, places: Sequence[int], broken: Sequence[float | None]) -> _Part:
    columns = [grid.columns[place] for place in places]
    rows = [[row[place] for place in places] for row in grid.rows]
    return _Part(replace(grid, columns=columns, rows=rows), [broken[place] for place in places])


def _by_height(part: _Part, layout: Layout) -> Iterator[_Part]:
    """Yield a part in as many floats as keep each on a page; one that goes over pages whole."""
    if not layout.in_columns:
        yield part
        return
    caption = len(_told(part.grid)) * WIDTHS["a"] / layout.width
    rows: list[Sequence[Cell]] = []
    left = LINES - caption
    for row in part.grid.rows:
        lines = max(_lines(cell, width) for cell, width in zip(row, part.widths, strict=True))
        if rows and lines > left:
            yield replace(part, grid=replace(part.grid, rows=rows))
            rows, left = [], LINES
        rows.append(row)
        left -= lines
    yield replace(part, grid=replace(part.grid, rows=rows))


def _lines(cell: Cell, width: float | None) -> int:
    # Lines end where a name may be broken, so that the last third of one may stay empty.
    return 1 if width is None else 1 + int(1.3 * _text_width(cell.text, SMALL) / width)


def _cap(widths: Sequence[float], room: float) -> float:
    """Return the width to which columns are cut so that all are in a room."""
    left = room
    for number, width in enumerate(sorted(widths)):
        each = left / (len(widths) - number)
        if width > each:
            return each
        left -= width
    return LONGEST


def _natural(grid: Grid, place: int) -> float:
    """Return how wide a column is where nothing is broken, in pt, without its head."""
    column = grid.columns[place]
    texts = [row[place].text for row in grid.rows]
    size = SCRIPT if column.kind == "detail" and column.head else SMALL
    bold = BOLD if column.kind == "number" or any(row[place].bold for row in grid.rows) else 1.0
    if column.kind == "number":
        sign, before, behind = _digits(texts)
        texts = [*texts, sign + before * "0" + "." * bool(behind) + behind * "0"]
    own = max((size * bold * _text_width(text) for text in texts), default=0.0)
    return max(own, SCRIPT * _text_width(column.part))


def _head_width(column: GridColumn) -> float:
    """Return the least width of a head: that of its longest part, and of the arrow."""
    parts = WORDS.findall(column.head) or [""]
    arrow = 10.0 if column.arrow else 0.0
    return max(_text_width(part, SMALL) for part in parts) + arrow


def _text_width(text: str, size: float = 1.0) -> float:
    return size * sum(
        WIDTHS.get(one) or (UNKNOWN if LETTERS.match(one) else BY_CODE) for one in text
    )


# What is written.
def _floating(part: _Part, layout: Layout) -> Iterator[str]:
    float_ = "table*" if layout.name == "wide" else "table"
    yield from (rf"\begin{{{float_}}}", r"\centering", r"\small", r"\setlength{\tabcolsep}{3pt}")
    yield _caption(part)
    yield rf"\label{{{_label(part)}}}"
    yield rf"\begin{{tabular}}{{{_columns(part, layout)}}}"
    yield r"\toprule"
    yield from _heads(part.grid)
    yield r"\midrule"
    yield from _rows(part)
    yield from (r"\bottomrule", r"\end{tabular}", rf"\end{{{float_}}}")


def _long(part: _Part, layout: Layout) -> Iterator[str]:
    heads = list(_heads(part.grid))
    around = ["landscape"] if layout.name == "landscape" else []
    yield from (rf"\begin{{{one}}}" for one in around)
    yield from (r"\begingroup", r"\small", r"\setlength{\tabcolsep}{3pt}")
    yield r"\setlength{\LTcapwidth}{\linewidth}"
    yield rf"\begin{{longtable}}{{{_columns(part, layout)}}}"
    yield rf"{_caption(part)} \label{{{_label(part)}}}\\"
    yield from (r"\toprule", *heads, r"\midrule", r"\endfirsthead")
    yield from (r"\toprule", *heads, r"\midrule", r"\endhead")
    yield from (r"\bottomrule", r"\endfoot")
    yield from _rows(part)
    yield from (r"\end{longtable}", r"\endgroup")
    yield from (rf"\end{{{one}}}" for one in around)


def _caption(part: _Part) -> str:
    """Return the caption: the name, also for the list of tables, and the notes of the first."""
    name = escape_latex(part.grid.name)
    if part.of > 1:
        name += f" ({part.number} of {part.of})"
    told = escape_latex(_told(part.grid)) if part.number == 1 else ""
    return rf"\caption[{name}]{{{name}. {told}}}"


def _told(grid: Grid) -> str:
    return " ".join(grid.notes)


def _label(part: _Part) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "-", part.grid.name).strip("-").lower()
    return f"tab:{name}" + (f"-{part.number}" if part.number > 1 else "")


def _columns(part: _Part, layout: Layout) -> str:
    """Return the types of the columns: numbers stand by their decimal points."""
    types = []
    for place, column in enumerate(part.grid.columns):
        if (width := part.widths[place]) is not None:
            types.append(rf">{{\raggedright\arraybackslash}}p{{{width:.0f}pt}}")
        elif column.kind != "number":
            types.append("r" if not column.head and not place else "l")
        elif layout.plain:
            types.append("r")
        else:
            sign, before, behind = _digits([row[place].text for row in part.grid.rows])
            format_ = f"{sign}{before}.{behind}"
            types.append(f"S[table-format={format_},detect-weight,mode=text]")
    return "".join(types)


def _digits(texts: Iterable[str]) -> tuple[str, int, int]:
    """Return what numbers need: a sign, and the most digits before and behind the point."""
    found = [one for one in map(NUMBER.fullmatch, texts) if one]
    sign = next((one[1] for one in found if one[1]), "")
    before = max((len(one[2]) for one in found), default=1)
    behind = max((len(one[3] or "") for one in found), default=0)
    return sign, before, behind


def _heads(grid: Grid) -> Iterator[str]:
    """Yield the row of heads, and rules under those of several columns with what parts them."""
    spans = grid.heads
    widths = [_natural(grid, place) for place in range(len(grid.columns))]
    cells = [
        rf"\multicolumn{{{end - start}}}{{c}}{{{head}}}" if end - start > 1 else f"{{{head}}}"
        for column, start, end in spans
        for head in [_head(column, sum(widths[start:end]) + SEPARATION * (end - start - 1))]
    ]
    yield " & ".join(cells) + r" \\"
    rules = [rf"\cmidrule(lr){{{s + 1}-{e}}}" for _, s, e in spans if e - s > 1]
    if any(column.part for column in grid.columns):
        yield " ".join(rules)
        parts = (rf"{{\scriptsize {escape_latex(c.part)}}}" if c.part else "" for c in grid.columns)
        yield " & ".join(parts) + r" \\"


def _head(column: GridColumn, room: float) -> str:
    """Return a head in as many lines as its columns are wide."""
    lines = [""]
    for part in WORDS.findall(column.head):
        if lines[-1] and _text_width(lines[-1] + part, SMALL) > room:
            lines.append("")
        lines[-1] += part
    texts = [escape_latex(line) for line in lines]
    texts[-1] += ARROW if column.arrow else ""
    stacked = r" \\ ".join(texts)
    return stacked if len(texts) == 1 else rf"\shortstack{{{stacked}}}"


def _rows(part: _Part) -> Iterator[str]:
    for row in part.grid.rows:
        cells = map(_cell, part.grid.columns, row, part.widths)
        yield " & ".join(cells) + r" \\"


def _cell(column: GridColumn, cell: Cell, broken: float | None) -> str:
    if column.kind == "number":
        is_number = NUMBER.fullmatch(cell.text)
        text = cell.text if is_number else f"{{{escape_latex(cell.text)}}}"
        return rf"\bfseries {text}" if cell.bold and is_number else text
    text = escape_latex(cell.text) if broken is None else _breakable(cell.text, broken)
    if column.kind == "detail" and column.head and text:
        return rf"{{\scriptsize {text}}}"
    return rf"\textbf{{{text}}}" if cell.bold else text


def _breakable(text: str, width: float) -> str:
    """Return a text that may be broken behind signs, and within words that are too wide."""

    def word(found: re.Match[str]) -> str:
        is_wide = _text_width(found[0] + "_", SMALL) > width
        return r"\allowbreak{}".join(found[0]) if is_wide else found[0]

    return WORD.sub(word, BREAKS.sub(r"\1\\allowbreak{}", escape_latex(text)))


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
