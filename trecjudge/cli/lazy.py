"""A group of commands; a module is imported when its command is run, or its help is printed."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from trecjudge.cli.exits import hiding
from trecjudge.cli.help import help_text, page_of
from trecjudge.cli.parameters import options_of
from trecjudge.cli.reading import WordReader
from trecjudge.errors import unknown
from trecjudge.findings import visible

USAGE_ERROR = cast("type[Exception]", typer.BadParameter.__base__)
"""What the parser raises for a mistake in the command line."""


class FlagCommand(TyperCommand):
    """A command that reads its words, and writes its help, as all commands here do."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments that are left. Raises BadParameter, naming the command."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, _read(self, ctx, args))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page of the command."""
        formatter.write(help_text(page_of(self, ctx)))


class CommandGroup(TyperGroup):
    """Commands under one name; `help X` shows what `X --help` shows."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments that are left: the command's name and its own."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        if args[:1] == ["help"]:
            args = [*(word for word in args if word != "help"), "--help"]
        where = _place(ctx)
        words = _read(self, ctx, args, self.commands)
        if not words and not self.invoke_without_command:
            names = ", ".join(self.commands)
            raise typer.BadParameter(f"{where}give one of its commands: {names}")
        ctx.has_command = bool(words) and words[0] in self.commands
        return super().parse_args(ctx, words)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the flags; none where a command follows, since to prepare them takes time."""
        return [] if getattr(ctx, "has_command", False) else super().get_params(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the name, the command itself and the arguments that are left."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            message = unknown("command", args[0], self.commands)
            raise typer.BadParameter(f"{_place(ctx)}{message}")
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page of the group."""
        formatter.write(help_text(page_of(self, ctx)))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **more: Any,
    ) -> Any:
        """Run a command line; a mistake in it prints one line and exits with status 2."""
        given = (args, prog_name, complete_var, False, windows_expand_args)
        run = partial(super().main, *given, **more)
        with hiding(sys.argv[1:] if args is None else args, os.environ):
            if not standalone_mode:
                return run()
            try:
                status = run()
            except USAGE_ERROR as error:
                typer.echo(f"error: {visible(getattr(error, 'message', str(error)))}", err=True)
                status = 2
        sys.exit(status)


class LazyGroup(CommandGroup):
    """Lists its commands by name and one line of help, and imports the one that is called.

    A subclass names them: `name: (module:attribute, help)`, of a module beside this one. The
    attribute is a function that can be a command, or a `Typer` with commands of its own.
    """

    lazy: ClassVar[Mapping[str, tuple[str, str]]] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Stand-ins with one line of help: --help lists them without importing their modules.
        for name, (_, line) in self.lazy.items():
            self.add_command(TyperCommand(name, help=line))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the name, the command itself and the arguments that are left."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, self.load(name) if name else command, rest

    def load(self, name: str) -> Any:
        """Return a command, its module imported."""
        return _load_command(name, self.lazy[name][0])


@cache
def _load_command(name: str, place: str) -> Any:
    """Return the command of this name, of `module:attribute`."""
    module, _, attribute = place.partition(":")
    found = getattr(importlib.import_module(f"{__package__}.{module}"), attribute)
    if isinstance(found, typer.Typer):
        group = get_command(found)
        group.name = name
        return group
    # get_command makes a plain command only of a Typer that has a single one.
    single = typer.Typer(add_completion=False)
    single.command(name, cls=FlagCommand)(found)
    return get_command(single)


def _read(command: Any, ctx: Any, args: list[str], commands: Collection[str] = ()) -> list[str]:
    """Return the words of a command for the parser. Raises BadParameter, naming the command."""
    try:
        return WordReader(options_of(command, ctx), commands).read(args)
    except typer.BadParameter as error:
        raise typer.BadParameter(f"{_place(ctx)}{error.message}") from None


def _place(ctx: Any) -> str:
    """Return the names of a command and of the groups it is in, for a message; none of the main."""
    names = []
    while ctx.parent:
        names.append(ctx.info_name)
        ctx = ctx.parent
    return f"{' '.join(reversed(names))}: " if names else ""
