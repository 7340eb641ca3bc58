"""Values of a table's cells: JSON, and lists and arrays as Python, pandas and numpy print them."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import Any

from trecjudge.inputs.sources.values import loads_leniently
from trecjudge.settings.limits import limits

TOKEN = re.compile(
    r"""\s*(?:(?P<text>u?(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"))"""
    r"""|(?P<begin>array\(|[{(\[])|(?P<end>(?:,\s*dtype=[\w<>'"]+\s*)?\)|[]}])|(?P<mark>[:,])"""
    r"""|(?P<word>[\w+-][\w.+-]*))""",
    re.DOTALL,
)
DEEPEST = 500
"""Lists inside each other; Python reads no more of them."""


class Unsplit(str):
    """A text that looks like a list, and was not surely split."""

    __slots__ = ()


def cell_value(cell: str) -> Any:
    """Return a cell's value: a list or an object as JSON or Python writes it, else the text.

    What looks like a list of texts and cannot be read for sure is `Unsplit`.
    """
    text = cell.strip()
    if text.startswith(("[", "{", "array(")) and not limits().excess_of_text(text):
        with suppress(ValueError):
            return loads_leniently(text)
        # Nothing is evaluated but plain values.
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return ast.literal_eval(_with_commas(text))
    first = text.removeprefix("array(").lstrip(
        "[ \n"
    )  # a list or an object of texts begins with one of these
    return Unsplit(cell) if text != first and first[:1] in ("'", '"', "{") else cell


def _with_commas(text: str) -> str:
    """Return a printed list with commas, which numpy leaves out between the entries of an array.

    Python would join texts that stand side by side. Raises ValueError where a list has some commas
    and some gaps, or an array leaves entries out.
    """
    written: list[str] = []
    # Of every list that is open: whether its entries are separated by commas; None so far.
    commas: list[bool | None] = []
    position, after_value, most = 0, False, limits().entries
    while position < len(text):
        token = TOKEN.match(text, position)
        if token is None or len(commas) > DEEPEST or len(written) > most:
            raise ValueError("is no printed list")
        position, kind, found = token.end(), token.lastgroup, token[0].strip()
        gap = kind in ("text", "begin", "word")
        if after_value and commas and (gap or found == ","):
            if commas[-1] is gap or (gap and not token[0][0].isspace()):
                raise ValueError("has commas between some entries only")
            commas[-1] = not gap
            written += "," if gap else ""
        if kind == "begin":
            commas.append(None)
        elif kind == "end" and commas:
            commas.pop()
        plain = "None" if found in ("nan", "NaN", "null") else found.replace("\n", "\\n")
        written.append({"begin": found[-1], "end": found[-1]}.get(kind or "", plain))
        after_value = kind in ("text", "end", "word")
    return " ".join(written)
