"""docs/commands.md from the parser: `python -m tests.cli_page` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from run_judge import app
from trecjudge.cli.commands import command_of
from trecjudge.cli.flags import SharedFlags
from trecjudge.cli.help import ARGUMENTS, HelpPage, by_topic, page_of
from trecjudge.cli.parameters import Option, bind_flags, options_of

PATH = Path(__file__).parent.parent / "docs" / "commands.md"
PROGRAM = "run_judge.py"
INTRODUCTION = f"""# Commands

`{PROGRAM} judge RUN...` judges runs; so does `{PROGRAM} --rag-responses RUN...`, with the same
flags. The other commands check runs, read what a job has written, or make what a job needs. A
command comes before its flags. `COMMAND -h` prints its section with examples, `--help-all` the
shared flags too. `python -m trecjudge` and an installed `run-judge` start the same program.

- Flags with `...` take several values: `--judge support citation`, or the flag again before each.
  A word after them that names an existing file is an argument, where the command has any.
- Commas separate `NAME=VALUE` pairs, and the values of `--judge`, `--also`, `--correlation` and
  `--limit`.
- Former names of commands and flags work. For a command a line on standard error says the new
  one, unless `--quiet` or `--json` is given.
- A shell completes the commands and flags of an installed `run-judge`, not of a script that Python
  runs: `run-judge --install-completion`.
- A mistake in the command line is one line with exit status 2; bad input one with 1.
  [Files](files.md#exit-statuses) has all statuses."""


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
    """Return what docs/commands.md has to be."""
    _, *others = pages()
    sections = [_contents(others), _shared(), *map(_section, others)]
    return "\n\n".join([INTRODUCTION, *("\n\n".join(parts) for parts in sections)]) + "\n"


def _contents(others: list[HelpPage]) -> Iterator[str]:
    core = [page.name for page in others if " " not in page.name and not page.commands]
    families = [page for page in others if page.commands]
    rows = [", ".join(_link(name, name) for name in core)]
    for page in families:
        verbs = ", ".join(_link(f"{page.name} {verb}", verb) for verb in page.commands)
        rows.append(f"{_code(page.name)}: {verbs}")
    yield _list(rows)


def _shared() -> Iterator[str]:
    yield "## Shared flags"
    yield "`COMMAND -h` lists those that a command takes."
    for topic, options in shared_flags().items():
        yield f"### Flags: {topic}"
        yield _list(map(_row, options))


def _section(page: HelpPage) -> Iterator[str]:
    yield f"## {page.name}"
    (usage,) = page.usage
    yield f"`{usage.removeprefix(f'{page.program} ')}`: {page.paragraphs[0]}"
    for title, options in page.own.items():
        if title == ARGUMENTS:
            yield _list(f"{_code(o.shown)}: {o.help}" for o in options)
        elif own := [option for option in options if "--help" not in option.flags]:
            yield _list(map(_row, own))


def _row(option: Option) -> str:
    default = f" (`{option.default}`)" if option.default.strip("-")[:3] not in ("", "no-") else ""
    required = " (required)" if option.is_required else ""
    text, _, choices = option.help.rpartition(" One of ")
    is_said = text and all(choice in text for choice in choices.rstrip(".").split(", "))
    return f"{_code(option.shown)}: {text if is_said else option.help}{default}{required}"


def _link(called: str, shown: str) -> str:
    return f"[{shown}](#{called.replace(' ', '-')})"


def _list(rows: Iterable[str]) -> str:
    return "\n".join(f"- {row}" for row in rows)


def _code(words: str) -> str:
    return f"`{words}`"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
