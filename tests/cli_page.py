"""docs/cli.md from the parser: `python -m tests.cli_page` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from run_judge import app
from trecjudge.cli.commands import command_of
from trecjudge.cli.flags import SharedFlags
from trecjudge.cli.help import ARGUMENTS, TOPICS, HelpPage, by_topic, page_of
from trecjudge.cli.parameters import Option, bind_flags, options_of

PATH = Path(__file__).parent.parent / "docs" / "cli.md"
PROGRAM = "run_judge.py"
INTRODUCTION = f"""# The command line

`{PROGRAM} judge RUN...` judges runs; so does `{PROGRAM} --rag-responses RUN...`, with the same
flags. The other commands check runs, read what a job has written, or make what a job needs. Those
that most people need are at the top; others are in families, such as `labels next`. A command
comes before its flags. `help COMMAND` prints one of these sections, and `--help-all` after a
command explains all its flags. `python -m trecjudge` and, where the package is installed,
`run-judge` start the same program. [Words](words.md) explains the terms.

Flags that several commands share are explained once, under [Shared flags](#shared-flags); the
section of a command ends with the names of those that it takes.

Flags with `...` take several values: `--judge support citation`, or the flag again before each.
Commas separate the values of `--judge`, `--also`, `--correlation` and `--limit`. In a command that
also has arguments, a word after such a flag is an argument if it names an existing file.

Names of commands and flags from before version 0.17 still work: a line on standard error says what
a command is called now, unless `--quiet` or `--json` is given.

A shell completes the commands and flags of an installed `run-judge`, not those of a script that
Python runs: `run-judge --install-completion`.

A mistake in the command line is printed in one line, `error: ...`, with exit status 2. Bad input
is printed in one line too, with exit status 1.

This page is written from the program: `python -m tests.cli_page`."""


def commands(command: Any = None, context: Any = None) -> Iterator[tuple[Any, Any]]:
    """Yield each command with a context that it may be called in, the program itself first."""
    command = command or get_command(app)
    context = context or typer.Context(command, info_name=PROGRAM)
    yield command, context
    for name, stand_in in getattr(command, "commands", {}).items():
        found = command.load(name) if hasattr(command, "load") else stand_in
        yield from commands(found, typer.Context(found, info_name=name, parent=context))


def pages() -> list[HelpPage]:
    """Return the page of each command, that of the program first."""
    return [page_of(command, context) for command, context in commands()]


def shared_flags() -> dict[str, list[Option]]:
    """Return the flags that commands share, by what they are about."""
    shared = command_of("help", bind_flags(SharedFlags)(lambda *_: None))
    return by_topic(options_of(shared, typer.Context(shared, info_name="help")))


def text() -> str:
    """Return what docs/cli.md has to be."""
    main, *others = pages()
    sections = [_program(main), _shared(), *map(_section, others)]
    return "\n\n".join([INTRODUCTION, *("\n\n".join(parts) for parts in sections)]) + "\n"


def _program(page: HelpPage) -> Iterator[str]:
    yield "## Commands"
    yield _block(page.usage)
    yield _list(f"{_link(name, _code(name))}: {line}" for name, line in page.commands.items())


def _shared() -> Iterator[str]:
    yield "## Shared flags"
    for topic, options in shared_flags().items():
        yield f"### Flags: {topic}"
        yield TOPICS[topic]
        yield _list(map(_row, options))


def _section(page: HelpPage) -> Iterator[str]:
    yield f"## {page.name}"
    yield _block(page.usage)
    yield from page.paragraphs
    if page.commands:
        called = ((f"{page.name} {name}", line) for name, line in page.commands.items())
        yield _list(f"{_link(name, _code(name))}: {line}" for name, line in called)
    if page.examples:
        yield _block([f"# {what}\n{page.program} {words}" for what, words in page.examples.items()])
    for title, options in page.own.items():
        if title == ARGUMENTS:
            yield _list(f"{_code(o.shown)}: {o.help}" for o in options)
        elif own := [option for option in options if "--help" not in option.flags]:
            yield _list(map(_row, own))
    if page.shared:
        yield _list(
            f"[{topic}](#flags-{topic}): {', '.join(_code(option.flags[0]) for option in options)}"
            for topic, options in page.shared.items()
        )


def _row(option: Option) -> str:
    default = f" (default: `{option.default}`)" if option.default else ""
    required = " (required)" if option.is_required else ""
    return f"{_code(option.shown)}: {option.help}{default}{required}"


def _link(called: str, shown: str) -> str:
    return f"[{shown}](#{called.replace(' ', '-')})"


def _list(rows: Iterable[str]) -> str:
    return "\n".join(f"- {row}" for row in rows)


def _code(words: str) -> str:
    return f"`{words}`"


def _block(lines: list[str]) -> str:
    return "\n".join(("```sh", *lines, "```"))


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
