"""Commands and groups of them: how their words are read, imported only when they are called."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from trecjudge.cli.exits import hiding
from trecjudge.cli.help import help_text, page_of
from trecjudge.cli.parameters import Option, first_clause, options_of
from trecjudge.errors import unknown
from trecjudge.findings import visible

HELP_ALL = "--help-all"
HELP = ("--help", "-h", HELP_ALL, "--version")
Listed: TypeAlias = Mapping[str, tuple["str | Listed", str]]
"""Commands by name, each with one line of help: `module:attribute`, or those of a family."""


@dataclass
class WordReader:
    """A command line on its way to the parser: each value has its flag before it.

    A flag that may be given several times takes all words up to the next flag. Where a command
    has arguments too, words that name existing files are its arguments, and so are the last words
    where it would lack some.
    """

    options: Sequence[Option]
    commands: Collection[str] = ()
    """The commands of a group; a command comes first, and reads the rest."""
    page: str = "--help"
    """What shows all flags, for a message."""
    done: list[str] = field(default_factory=list)
    free: list[str] = field(default_factory=list)
    """Words that no flag takes."""
    given: dict[Option, str] = field(default_factory=dict)
    """Flags so far, each as it was written."""

    def read(self, words: Sequence[str]) -> list[str]:
        """Return the words for the parser. Raises BadParameter for a mistake."""
        if self.commands and words and not _is_flag(words[0]):
            return list(words)
        for word in words:
            if word == "--":
                break
            if word in HELP and self._is_known(word):  # nothing else counts beside it
                return [word]
        rest = list(words)
        while rest:
            if rest[0] == "--":
                self.free += rest[1:]
                self.done += rest
                break
            if not _is_flag(rest[0]):
                self._take_free(rest.pop(0))
                continue
            self._flag(rest)
        self._check_arguments()
        return self.done

    def _take_free(self, word: str) -> None:
        if self.commands and self.given:
            option, name = list(self.given.items())[-1]
            takes = "no value" if option.is_switch else "one value"
            raise typer.BadParameter(
                f"the command {word!r} must come first, before {name}"
                if word in self.commands
                else f"{word!r} is a word too many: {name} takes {takes}"
            )
        self.free.append(word)
        self.done.append(word)

    def _flag(self, rest: list[str]) -> None:
        """Take a flag with its values from the words that are left."""
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        option = self._part(name)
        if option is None:  # short ones in a row, such as -qh
            self.done.append(word)
            return
        self.given[option] = name
        stands_for = option.old.get(name, "")
        if option.is_switch or (stands_for and not stands_for.endswith("=")):
            if equals:
                raise typer.BadParameter(f"{name}: takes no value")
            self.done += [name] if name in option.flags else [option.flags[0]]
            self.done += [stands_for] if stands_for else []
            return
        if not equals:
            if not rest or self._is_known(rest[0]):
                raise typer.BadParameter(f"{name}: a value is missing: give {option.wanted}")
            value = rest.pop(0)
        values = [f"{stands_for}{value}", *self._further(option, rest)]
        for one in values if not option.parts_at_commas else _split_at_commas(name, option, values):
            if (refused := option.refusal_of(one)) is not None:
                raise typer.BadParameter(f"{name}: {refused}")
            self._take_value(option, name, one)

    def _take_value(self, option: Option, name: str, value: str) -> None:
        if option.is_argument:
            self._take_free(value)
            return
        known = name if name in option.flags else option.flags[0]
        self.done += [f"{known}={value}"] if _is_flag(value) else [known, value]

    def _further(self, option: Option, rest: list[str]) -> Iterator[str]:
        """Yield the further values of a flag; words that are arguments are taken as such."""
        if not option.is_several:
            return
        count = next((i for i, word in enumerate(rest) if _is_flag(word)), len(rest))
        words = rest[:count]
        del rest[:count]
        arguments = [p for p in self.options if p.is_argument]
        lacking = sum(p.is_required for p in arguments) - len(self.free)
        lacking -= sum(not _is_flag(word) for word in rest)
        for place, word in enumerate(words):
            is_last = len(words) - place <= lacking
            is_file = arguments and option.kind is not Path and _is_there(word)
            if is_last or is_file:
                self._take_free(word)
                lacking -= not is_last
            else:
                yield word

    def _part(self, name: str) -> Option | None:
        """Return the flag of this name. Raises BadParameter where there is none."""
        known = {flag: o for o in self.options for flag in (*o.flags, *o.old)}
        if name in known:
            return known[name]
        if not name.startswith("--") and all(f"-{letter}" in known for letter in name[1:]):
            return None
        shown = [name for option in self.options if not option.is_hidden for name in option.names]
        if name.lstrip("-") in self.commands:
            shown_command = f"did you mean the command {name.lstrip('-')!r}?"
            raise typer.BadParameter(f"unknown flag {name!r}; {shown_command}")
        raise typer.BadParameter(unknown("flag", name, shown, self.page))

    def _is_known(self, word: str) -> bool:
        return any(word.partition("=")[0] in (*o.flags, *o.old) for o in self.options)

    def _check_arguments(self) -> None:
        """Raise BadParameter where an argument or a flag is missing, or a word is too many."""
        arguments = [option for option in self.options if option.is_argument]
        for place, option in enumerate(arguments):
            if (option.is_required and len(self.free) <= place) or "" in self.free:
                raise typer.BadParameter(
                    f"{option.metavar} is missing: give {first_clause(option.help)}"
                )
        if not any(option.is_several for option in arguments) and len(self.free) > len(arguments):
            word = self.free[len(arguments)]
            takes = " ".join(option.metavar for option in arguments) or "no words, only flags"
            raise typer.BadParameter(f"{word!r} is a word too many: it takes {takes}")
        for place, word in enumerate(self.free if arguments else ()):
            option = arguments[min(place, len(arguments) - 1)]
            if option.kind is Path and (refused := option.refusal_of(word)) is not None:
                raise typer.BadParameter(f"{option.metavar}: {refused}")
        for option in self.options:
            if option.is_required and not option.is_argument and option not in self.given:
                raise typer.BadParameter(f"{option.flags[0]} is missing: give {option.wanted}")


def _is_flag(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _is_there(word: str) -> bool:
    """Return whether a word names a file or folder, or a job's files by what they start with."""
    path = Path(word)
    try:
        return path.exists() or any(
            p.name.startswith(f"{path.name}.") for p in path.parent.iterdir()
        )
    except OSError:
        return False


def _split_at_commas(name: str, option: Option, values: Sequence[str]) -> list[str]:
    """Return the values between commas, at least one. Raises BadParameter."""
    found = [one.strip() for value in values for one in value.split(",") if one.strip()]
    if not found:
        raise typer.BadParameter(f"{name}: a value is missing: give {option.wanted}")
    return found


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
        formatter.write(help_text(page_of(self, ctx), HELP_ALL in ctx.meta))


class CommandGroup(TyperGroup):
    """Commands under one name; `help X` shows what `X --help` shows."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments that are left: the command's name and its own."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        if args[:1] == ["help"]:
            flag = HELP_ALL if HELP_ALL in args else "--help"
            args = [*(word for word in args if word not in ("help", *HELP)), flag]
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
            raise typer.BadParameter(f"{_place(ctx)}{self.no_such_command(args[0])}")
        return super().resolve_command(ctx, args)

    def no_such_command(self, word: str) -> str:
        """Return the message for a word that is no command."""
        return unknown("command", word, self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page of the group."""
        formatter.write(help_text(page_of(self, ctx), HELP_ALL in ctx.meta))

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

    A subclass names them, or `lazy` does: `name: (module:attribute, help)`, of a module beside
    this one. The attribute is a function that can be a command, or a `Typer` with commands of its
    own. In its place may be the commands of a family.
    """

    lazy: Listed = MappingProxyType({})

    def __init__(self, lazy: Listed | None = None, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.lazy = self.lazy if lazy is None else lazy
        # Of this group only: a command keeps the spellings of --help of the first context it meets.
        self._loaded: dict[str, Any] = {}
        # Stand-ins with one line of help: --help lists them without importing their modules.
        for name, (_, line) in self.lazy.items():
            self.add_command(TyperCommand(name, help=line))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the name, the command itself and the arguments that are left."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, self.load(name) if name else command, rest

    def load(self, name: str) -> Any:
        """Return a command, its module imported."""
        if name not in self._loaded:
            self._loaded[name] = _load_command(name, *self.lazy[name])
        return self._loaded[name]


def _load_command(name: str, place: str | Listed, line: str) -> Any:
    """Return the command of this name, of `module:attribute`, or the group of a family."""
    if not isinstance(place, str):
        return LazyGroup(place, name=name, help=line)
    module, _, attribute = place.partition(":")
    found = getattr(importlib.import_module(f"{__package__}.{module}"), attribute)
    if isinstance(found, typer.Typer):
        group = get_command(found)
        group.name = name
        return group
    return command_of(name, found)


def command_of(name: str, function: Any) -> Any:
    """Return a function with flags as a command."""
    # get_command makes a plain command only of a Typer that has a single one.
    single = typer.Typer(add_completion=False)
    single.command(name, cls=FlagCommand)(function)
    return get_command(single)


def _read(command: Any, ctx: Any, args: list[str], commands: Collection[str] = ()) -> list[str]:
    """Return the words of a command for the parser. Raises BadParameter, naming the command."""
    page = f"`help {_names(ctx)}`" if ctx.parent else "`help judge`"
    try:
        words = WordReader(options_of(command, ctx), commands, page).read(args)
        if words == [HELP_ALL]:
            ctx.meta[HELP_ALL] = True  # what writes the page is only asked for help
        return words
    except typer.BadParameter as error:
        raise typer.BadParameter(f"{_place(ctx)}{error.message}") from None


def _place(ctx: Any) -> str:
    """Return the names of a command and of the groups it is in, for a message; none of the main."""
    return f"{_names(ctx)}: " if ctx.parent else ""


def _names(ctx: Any) -> str:
    """Return the names of a command and of the groups it is in."""
    names = []
    while ctx.parent:
        names.append(ctx.info_name)
        ctx = ctx.parent
    return " ".join(reversed(names))
