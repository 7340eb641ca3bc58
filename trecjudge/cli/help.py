"""The page of a command: its usage, what it does, examples, its commands and flags; as text."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from trecjudge.cli.parameters import Option, options_of

FIRST_FLAGS = (
    "--rag-responses --rag-topics --documents --nuggets --topic --run --judge --judgments-from"
    " --workflow --set --use-env-llm --plan --max-cost --out-dir --name --report --quiet --json"
    " --version --help-all --help"
)
"""The flags of the main job that most people need first, in the order of the help."""
UNSHOWN = "--show-completion"
"""A flag for those who install completion by hand."""
ARGUMENTS, FLAGS, GENERAL = "Arguments", "Flags", "General"
WIDEST = 100
"""Columns beyond which lines are hard to read."""
LEAST = 24
"""Columns that the text beside a name gets at least."""
WIDEST_NAME = 24  # a longer name stands on a line of its own, above its text
NO_BREAK = "\N{NO-BREAK SPACE}"
VALUE = re.compile(r" (?!-)")
"""The blank before a value, which keeps it on the line of its flag."""


@dataclass(frozen=True, slots=True)
class HelpPage:
    """What the help of a command shows."""

    program: str
    """How the program is called."""
    name: str
    """The command with the groups it is in; empty for the main job."""
    paragraphs: tuple[str, ...]
    examples: Mapping[str, str]
    """Command lines, without the program, by what they are for."""
    commands: Mapping[str, str]
    """The commands of a group, each with one line."""
    options: tuple[Option, ...]

    @property
    def usage(self) -> list[str]:
        """How it is called, a line for each way."""
        start = f"{self.program} {self.name}".rstrip()
        if self.commands:
            job = f"{start} --rag-responses FILE... [FLAGS]"
            return [*([] if self.name else [job]), f"{start} COMMAND [FLAGS]"]
        arguments = [o for o in self.options if o.is_argument]
        words = [o.shown if o.is_required else f"[{o.shown}]" for o in arguments]
        words += [o.shown for o in self.options if o.is_required and not o.is_argument]
        has_flags = len(arguments) < len(self.options)
        return [" ".join([start, *words, *(["[FLAGS]"] if has_flags else [])])]

    def panels(self) -> dict[str, list[Option]]:
        """Return arguments and flags by the heading that they stand under."""
        found: dict[str, list[Option]] = {}
        for option in self.options:
            # Only the main job has so many flags that headings help.
            of_flag = FLAGS if self.name else option.panel or GENERAL
            found.setdefault(ARGUMENTS if option.is_argument else of_flag, []).append(option)
        if GENERAL in found:
            found[GENERAL] = found.pop(GENERAL)
        return found


def page_of(command: Any, context: Any) -> HelpPage:
    """Return the page of a command, called in a context."""
    names, outer = [], context
    while outer.parent:
        names.append(str(outer.info_name))
        outer = outer.parent
    program = str(outer.info_name or "run_judge.py")
    name = " ".join(reversed(names))
    text = inspect.cleandoc(command.help or "")
    shown = (o for o in options_of(command, context) if UNSHOWN not in o.flags)
    return HelpPage(
        program=f"python {program}" if program.endswith(".py") else program,
        name=name,
        paragraphs=tuple(" ".join(part.split()) for part in text.split("\n\n") if part),
        examples=all_examples().get(name, {}),
        commands={n: c.help.split("\n\n")[0] for n, c in getattr(command, "commands", {}).items()},
        # Groups may bring arguments too, which belong first whatever class declares them.
        options=tuple(sorted(shown, key=lambda option: not option.is_argument)),
    )


@cache
def all_examples() -> dict[str, dict[str, str]]:
    """Return the examples of each command: its command lines by what they are for."""
    found: dict[str, dict[str, str]] = {}
    name = what = ""
    for line in Path(__file__).with_name("examples.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif line.startswith("# "):
            what = line.removeprefix("# ")
        elif line:
            found.setdefault(name, {})[what] = line
    return found


def help_text(page: HelpPage, everything: bool = False) -> str:
    """Return a page as `--help` shows it; `everything` adds the main job's other flags."""
    width = max(40, min(shutil.get_terminal_size((80, 24)).columns, WIDEST))
    return "".join(f"{line.rstrip()}\n" for line in _lines(page, everything, width))


def _lines(page: HelpPage, everything: bool, width: int) -> Iterator[str]:
    for start, usage in zip(("Usage: ", "       "), page.usage, strict=False):
        yield from _wrap(usage, width, start, " " * 11)
    for paragraph in page.paragraphs:
        yield ""
        yield from _wrap(paragraph, width)
    if page.commands:
        yield from _section("Commands (`help COMMAND` explains one)", page.commands.items(), width)
    if page.examples:
        yield from ("", "Examples")
        for what, words in page.examples.items():
            yield from _wrap(f"# {what}", width, "  ", "  # ")
            yield from _command(f"{page.program} {words}", width)
    if page.name or everything:
        for title, options in page.panels().items():
            yield from _section(title, map(_row, options), width)
    else:
        title = "Flags that most people need (`...`: several values; `--help-all`: all flags)"
        by_flag = {flag: option for option in page.options for flag in option.flags}
        first = (by_flag[flag] for flag in FIRST_FLAGS.split())
        yield from _section(title, map(_short_row, first), width)
    yield from ("", *_wrap("Manual: docs/; docs/cli.md has every command and flag.", width))


def _row(option: Option) -> tuple[str, str]:
    default = f" (default: {option.default})" if option.default else ""
    return option.shown, f"{option.help}{default}"


def _short_row(option: Option) -> tuple[str, str]:
    """Return a row with the first sentence of its help."""
    return option.shown, option.help.split(". ")[0].rstrip(".") + "."


def _section(title: str, rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Yield a title and its rows: a name, its text beside it or, for a long name, below."""
    pairs = list(rows)
    column = min(max(len(name) for name, _ in pairs), WIDEST_NAME, width - LEAST - 4)
    yield from ("", title)
    for name, text in pairs:
        beside = list(_wrap(text, width - column - 4)) or [""]
        if len(name) <= column:
            yield f"  {name:<{column}}  {beside.pop(0)}"
        else:
            yield from _wrap(name, width, "  ", "    ")
        for line in beside:
            yield f"  {'':<{column}}  {line}"


def _command(text: str, width: int) -> Iterator[str]:
    """Yield a command as it can be copied: lines that go on end with a backslash."""
    joined = VALUE.sub(NO_BREAK, text)
    lines = [line.replace(NO_BREAK, " ") for line in _wrap(joined, width - 2, "  ", "    ")]
    yield from (f"{line} \\" for line in lines[:-1])
    yield lines[-1]


def _wrap(text: str, width: int, first: str = "", further: str = "") -> Iterator[str]:
    yield from textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
