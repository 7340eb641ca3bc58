"""Tables of words and of expressions: text files beside the code that reads them.

Whoever speaks a language can read and correct its lines without the code. In all of them a line
that begins with "#" is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple


# Regular expressions that are made when they are first used: large ones take long to make.
@cache
def expression(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a compiled expression, compiled once and kept."""
    return re.compile(pattern, flags)


def read_entries(path: Path) -> Iterator[str]:
    """Yield the lines of a table that are neither empty nor a comment."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line


def read_words(path: Path) -> dict[str, list[str]]:
    """Return the words of each list of a table: a line that ends in ":" is the name of a list."""
    found: dict[str, list[str]] = {}
    words: list[str] = []
    for line in read_entries(path):
        if line.endswith(":"):
            words = found.setdefault(line[:-1], [])
        else:
            words += line.split()
    return found


def read_rows(path: Path, between: str = ": ") -> list[tuple[list[str], list[str]]]:
    """Return the words before and after the colon, or another sign, of each line of a table."""
    rows = (entry.partition(between) for entry in read_entries(path))
    return [(before.split(), after.split()) for before, _, after in rows]


class ExpressionGroup(NamedTuple):
    """A section of a table of expressions: its name, its named parts, and its expressions."""

    name: str
    parts: dict[str, str]
    expressions: list[str]


_HEAD = re.compile(r"\[([a-z ]+)\]")
_NAMED = re.compile(r"(\w+) = (.*)")
# Never a quantity such as "{0,60}": a name begins with a letter.
_PART = re.compile(r"\{([a-z]\w*)\}")


def read_expressions(path: Path) -> list[ExpressionGroup]:
    """Return the sections of a table of regular expressions, in their order.

    "[name]" begins a section. `name = expression` names a part, which later lines of the section
    have as `{name}`; all sections have what is named before the first. Any other line is an
    expression. A line that begins with a space goes on with the line above.
    """
    shared: dict[str, str] = {}
    sections = [ExpressionGroup("", shared, [])]
    for entry in _join_lines(read_entries(path)):
        if head := _HEAD.fullmatch(entry):
            sections.append(ExpressionGroup(head[1], dict(shared), []))
            continue
        _, parts, expressions = sections[-1]
        whole = _fill(entry, parts)
        if named := _NAMED.fullmatch(whole):
            parts[named[1]] = named[2]
        else:
            expressions.append(whole)
    return sections[1:]


def _fill(entry: str, parts: Mapping[str, str]) -> str:
    """Return an entry with the named parts in place of their names."""
    return _PART.sub(lambda name: parts[name[1]], entry)


def _join_lines(lines: Iterator[str]) -> Iterator[str]:
    """Yield entries whole: lines that begin with a space are joined to the one before."""
    entry = ""
    for line in lines:
        if line.startswith(" "):
            entry += line.strip()
            continue
        if entry:
            yield entry
        entry = line
    if entry:
        yield entry
