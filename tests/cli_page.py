"""docs/cli.md from the parser: `python -m tests.cli_page` writes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from run_judge import app
from trecjudge.cli.help import ARGUMENTS, HelpPage, page_of
from trecjudge.cli.parameters import Option

PATH = Path(__file__).parent.parent / "docs" / "cli.md"
PROGRAM = "run_judge.py"
INTRODUCTION = f"""# The command line

`{PROGRAM}` judges runs with the flags of the [main job](#the-main-job). The commands below it check
runs, read what a job has written, or make what a job needs. A command comes before its flags.
`help COMMAND` prints one of these sections. `python -m trecjudge` and, where the package is
installed, `run-judge` start the same program. [Words](words.md) explains the terms.

Flags with `...` take several values: `--judge support citation`, or the flag again before each.
Commas separate the values of `--judge`, `--also`, `--correlation` and `--limit`. In a command that
also has arguments, a word after such a flag is an argument if it names an existing file.

A shell completes the commands and flags of an installed `run-judge`, not those of a script that
Python runs: `run-judge --install-completion`.

A mistake in the command line is printed in one line, `error: ...`, with exit status 2. Bad input
is printed in one line too, with exit status 1.

This page is written from the program: `python -m tests.cli_page`."""


def commands(command: Any = None, context: Any = None) -> Iterator[tuple[Any, Any]]:
    """Yield each command with a context that it may be called in, the main job first."""
    command = command or get_command(app)
    context = context or typer.Context(command, info_name=PROGRAM)
    yield command, context
    for name, stand_in in getattr(command, "commands", {}).items():
        found = command.load(name) if hasattr(command, "load") else stand_in
        yield from commands(found, typer.Context(found, info_name=name, parent=context))


def pages() -> list[HelpPage]:
    """Return the page of each command, that of the main job first."""
    return [page_of(command, context) for command, context in commands()]


def text() -> str:
    """Return what docs/cli.md has to be."""
    return "\n\n".join([INTRODUCTION, *("\n\n".join(_section(page)) for page in pages())]) + "\n"


def _section(page: HelpPage) -> Iterator[str]:
    yield f"## {page.name or 'The main job'}"
    yield _block(page.usage)
    yield from page.paragraphs
    if page.commands:
        lines = (f"[`{_called(page, name)}`](#{_anchor(page, name)})" for name in page.commands)
        rows = zip(lines, page.commands.values(), strict=True)
        yield _table(("command", "what it does"), rows)
    if page.examples:
        yield _block([f"# {what}\n{page.program} {words}" for what, words in page.examples.items()])
    for title, options in page.panels().items():
        if not page.name:
            yield f"### {title}"
        if title == ARGUMENTS:
            yield _table(("argument", "what it is"), ((_code(o.shown), o.help) for o in options))
        else:
            yield _table(("flag", "what it does", "default"), map(_row, options))


def _row(option: Option) -> tuple[str, ...]:
    shown = ", ".join(f"`{flag}`" for flag in option.flags[:-1])
    last = f"{option.flags[-1]} {option.metavar}{'...' * option.is_several}".rstrip()
    default = "required" if option.is_required else f"`{option.default}`" if option.default else ""
    return ", ".join(filter(None, (shown, _code(last)))), option.help, default


def _called(page: HelpPage, name: str) -> str:
    return f"{page.name} {name}".strip()


def _anchor(page: HelpPage, name: str) -> str:
    return _called(page, name).replace(" ", "-")


def _code(words: str) -> str:
    return f"`{words}`"


def _block(lines: list[str]) -> str:
    return "\n".join(("```sh", *lines, "```"))


def _table(head: tuple[str, ...], rows: Any) -> str:
    lines = (head, ("---",) * len(head), *(_cells(row) for row in rows))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(row: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(cell.replace("|", "\\|") for cell in row)


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
