"""The page of a command as text for a terminal."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator

from trecjudge.cli.pages import Page
from trecjudge.cli.parts import Part

WIDEST = 100
"""Columns beyond which lines are hard to read."""
LEAST = 24
"""Columns that the text beside a name gets at least."""
WIDEST_NAME = 24  # a longer name stands on a line of its own, above its text
NO_BREAK = "\N{NO-BREAK SPACE}"
VALUE = re.compile(r" (?!-)")
"""The blank before a value, which keeps it on the line of its flag."""


def help_text(page: Page, everything: bool = False) -> str:
    """Return a page as `--help` shows it; `everything` adds the main job's other flags."""
    width = max(40, min(shutil.get_terminal_size((80, 24)).columns, WIDEST))
    return "".join(f"{line.rstrip()}\n" for line in _lines(page, everything, width))


def _lines(page: Page, everything: bool, width: int) -> Iterator[str]:
    for start, usage in zip(("Usage: ", "       "), page.usage, strict=False):
        yield from _wrapped(usage, width, start, " " * 11)
    for paragraph in page.paragraphs:
        yield ""
        yield from _wrapped(paragraph, width)
    if page.commands:
        yield from _section("Commands (`help COMMAND` explains one)", page.commands.items(), width)
    if page.examples:
        yield from ("", "Examples")
        for example in page.examples:
            yield from _wrapped(f"# {example.what}", width, "  ", "  # ")
            yield from _command(f"{page.program} {example.words}", width)
    if page.name or everything:
        for title, parts in page.panels().items():
            yield from _section(title, (_row(part) for part in parts), width)
    else:
        title = "Flags that most people need (`...`: several values; `--help-all`: all flags)"
        yield from _section(title, (_short_row(part) for part in page.first), width)
    yield from ("", *_wrapped("Manual: docs/; docs/cli.md has every command and flag.", width))


def _row(part: Part) -> tuple[str, str]:
    default = f" (default: {part.default})" if part.default else ""
    return part.shown, f"{part.help}{default}"


def _short_row(part: Part) -> tuple[str, str]:
    """Return a row with the first sentence of its help."""
    return part.shown, part.help.split(". ")[0].rstrip(".") + "."


def _section(title: str, rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Yield a title and its rows: a name, its text beside it or, for a long name, below."""
    pairs = list(rows)
    column = min(max(len(name) for name, _ in pairs), WIDEST_NAME, width - LEAST - 4)
    yield from ("", title)
    for name, text in pairs:
        beside = list(_wrapped(text, width - column - 4)) or [""]
        if len(name) <= column:
            yield f"  {name:<{column}}  {beside.pop(0)}"
        else:
            yield from _wrapped(name, width, "  ", "    ")
        for line in beside:
            yield f"  {'':<{column}}  {line}"


def _command(text: str, width: int) -> Iterator[str]:
    """Yield a command as it can be copied: lines that go on end with a backslash."""
    joined = VALUE.sub(NO_BREAK, text)
    lines = [line.replace(NO_BREAK, " ") for line in _wrapped(joined, width - 2, "  ", "    ")]
    yield from (f"{line} \\" for line in lines[:-1])
    yield lines[-1]


def _wrapped(text: str, width: int, first: str = "", further: str = "") -> Iterator[str]:
    yield from textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
