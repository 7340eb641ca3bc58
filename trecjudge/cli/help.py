"""The page of a command: its usage, what it does, examples, its commands and flags; as text."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from trecjudge.cli.parameters import Option, options_of

FIRST_FLAGS = (
    *("--rag-topics", "--documents", "--topic", "--judge", "--judgments-from", "--workflow"),
    *("--set", "--use-env-llm", "--plan", "--max", "--out-dir", "--name", "--report"),
)
"""The flags of the main job that most people need first, in the order of the help."""
TOPICS: Mapping[str, str] = {
    "input": "The runs, and what they are judged by.",
    "judging": "The judges, their settings, and labels of people.",
    "model": "The model that is asked, and what it may cost.",
    "output": "The files and tables that are written.",
    "retrieval": "How passages of an index are found.",
}
"""What the flags that commands share are about: `help TOPIC` explains them."""
UNSHOWN = ("--show-completion", "--install-completion")
"""Flags that a shell needs once."""
ARGUMENTS, FLAGS = "Arguments", "Flags"
MAIN_JOB = "judge"
SCREEN = 40
"""Lines that the help of a command has at most, where that can be."""
CLAUSE = re.compile(r"\. |; (?=by default|else)")
"""What ends the first clause of a help text."""
FEW_EXAMPLES = 1
"""Those of a page that would not fit a screen."""
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
    families: Mapping[str, tuple[str, ...]]
    """Those of the commands that have commands of their own, with the names of these."""
    options: tuple[Option, ...]

    @property
    def usage(self) -> list[str]:
        """How it is called, a line for each way."""
        start = f"{self.program} {self.name}".rstrip()
        if not self.name:
            return [f"{start} judge RUN... [FLAGS]", f"{start} COMMAND [FLAGS]"]
        if self.commands:
            return [f"{start} COMMAND [FLAGS]"]
        arguments = [o for o in self.options if o.is_argument]
        words = [o.shown if o.is_required else f"[{o.shown}]" for o in arguments]
        words += [o.shown for o in self.options if o.is_required and not o.is_argument]
        has_flags = len(arguments) < len(self.options)
        return [" ".join([start, *words, *(["[FLAGS]"] if has_flags else [])])]

    @property
    def own(self) -> dict[str, list[Option]]:
        """Its arguments, and the flags that only it has, by their heading."""
        found: dict[str, list[Option]] = {}
        for option in self.options:
            if option.is_argument or option.panel.lower() not in TOPICS:
                found.setdefault(ARGUMENTS if option.is_argument else FLAGS, []).append(option)
        return found

    @property
    def shared(self) -> dict[str, list[Option]]:
        """The flags that it shares with other commands, by what they are about."""
        return by_topic(self.options)

    def of_flags(self, flags: Iterable[str]) -> list[Option]:
        """Return the options of flags, where it has them."""
        known = {flag: option for option in self.options for flag in option.flags}
        return [known[flag] for flag in flags if flag in known]


def page_of(command: Any, context: Any) -> HelpPage:
    """Return the page of a command, called in a context."""
    names, outer = [], context
    while outer.parent:
        names.append(str(outer.info_name))
        outer = outer.parent
    program = str(outer.info_name or "run_judge.py")
    name = " ".join(reversed(names))
    text = inspect.cleandoc(command.help or "")
    shown = (
        option
        for option in options_of(command, context)
        if not (option.is_hidden or set(UNSHOWN) & set(option.flags))
    )
    commands = getattr(command, "commands", {})
    families = getattr(command, "lazy", {}) if not name else {}
    return HelpPage(
        program=f"python {program}" if program.endswith(".py") else program,
        name=name,
        paragraphs=tuple(" ".join(part.split()) for part in text.split("\n\n") if part),
        examples=all_examples().get(name, {}),
        commands={n: c.help.split("\n\n")[0] for n, c in commands.items()},
        families={n: tuple(f) for n, (f, _) in families.items() if isinstance(f, Mapping)},
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
    """Return a page as `-h` shows it, on one screen where that can be.

    `everything` has the whole text of every flag, and the shared flags too.
    """
    if not page.name:
        return _joined(_main_lines(page, everything, _width()))
    lines = [*_lines(page, everything, _width())]
    if len(lines) > SCREEN and not everything:
        lines = [*_lines(_short(page), everything, _width())]
    return _joined(lines)


def _short(page: HelpPage) -> HelpPage:
    """Return a page with a line for each flag, for one that would not fit a screen."""
    room = _width() - WIDEST_NAME - 4
    return replace(
        page,
        examples=dict(islice(page.examples.items(), FEW_EXAMPLES)),
        options=tuple(_short_option(option, room) for option in page.options),
    )


def _short_option(option: Option, room: int) -> Option:
    if option.is_argument:
        return option
    whole = option.wanted if option.parts and "" not in option.parts else option.help
    text = textwrap.shorten(CLAUSE.split(whole)[0].rstrip("."), room - 1, placeholder=" …")
    metavar = option.metavar if len(option.shown) <= WIDEST_NAME else option.metavar and "VALUE"
    flags = option.flags if len(option.shown) <= WIDEST_NAME else option.flags[:1]
    end = "" if text.endswith("…") else "."
    return replace(option, flags=flags, metavar=metavar, default="", help=f"{text}{end}")


def topic_text(topic: str, options: Iterable[Option]) -> str:
    """Return what `help TOPIC` shows: the flags on a topic that commands share."""
    intro = f"{TOPICS[topic]} A command takes those of these flags that its help lists."
    rows = map(_row, by_topic(options)[topic])
    return _joined([*_wrap(intro, _width()), *_section("Flags", rows, _width())])


def _width() -> int:
    return max(40, min(shutil.get_terminal_size((80, 24)).columns, WIDEST))


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line.rstrip()}\n" for line in lines)


def by_topic(options: Iterable[Option]) -> dict[str, list[Option]]:
    """Return the flags that are shared and shown, by what they are about."""
    every = [option for option in options if not option.is_hidden]
    found = {topic: [o for o in every if o.panel.lower() == topic] for topic in TOPICS}
    return {topic: shared for topic, shared in found.items() if shared}


def _main_lines(page: HelpPage, everything: bool, width: int) -> Iterator[str]:
    """Yield the page of the program: the commands most needed, and families of others."""
    yield from _head(page, width)
    core = [(n, line) for n, line in page.commands.items() if n not in page.families]
    yield from _section("Commands", core, width)
    verbs = [(name, " ".join(verbs)) for name, verbs in page.families.items()]
    yield from _section("Families of commands, as `labels next`", verbs, width)
    yield from _examples(page, width)
    if everything:
        for topic, options in (page.own | page.shared).items():
            yield from _section(f"Flags: {topic.lower()}", map(_row, options), width)
    topics = ", ".join(TOPICS)
    explained = f"`help COMMAND` explains one; `help TOPIC` the flags that many share: {topics}."
    yield from ("", *_wrap(f"{explained} --help-all shows them here. Manual: docs/.", width))


def _lines(page: HelpPage, everything: bool, width: int) -> Iterator[str]:
    yield from _head(page, width)
    if page.commands:
        yield from _section("Commands", page.commands.items(), width)
    yield from _examples(page, width)
    first = page.of_flags(FIRST_FLAGS) if page.name == MAIN_JOB and not everything else []
    for title, options in page.own.items():
        shown = [*first, *options] if title == FLAGS else options
        yield from _section(title, map(_row, shown), width)
    if everything:
        for topic, options in page.shared.items():
            yield from _section(f"Flags: {topic}", map(_row, options), width)
        return
    names = {
        topic: ", ".join(option.flags[0] for option in options if option not in first)
        for topic, options in page.shared.items()
    }
    if names:
        title = (
            f"Shared flags (explained by --help-all, or by `help {next(iter(names))}` and so on)"
        )
        yield from _section(title, names.items(), width)


def _row(option: Option) -> tuple[str, str]:
    default = f" (default: {option.default})" if option.default else ""
    return option.shown, f"{option.help}{default}"


def _head(page: HelpPage, width: int) -> Iterator[str]:
    for start, usage in zip(("Usage: ", "       "), page.usage, strict=False):
        yield from _wrap(usage, width, start, " " * 11)
    for paragraph in page.paragraphs:
        yield ""
        yield from _wrap(paragraph, width)


def _examples(page: HelpPage, width: int) -> Iterator[str]:
    if page.examples:
        yield from ("", "Examples")
        for what, words in page.examples.items():
            yield from _wrap(f"# {what}", width, "  ", "  # ")
            yield from _command(f"{page.program} {words}", width)


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
