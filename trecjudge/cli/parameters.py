"""Flags as typed fields of a class: how they are declared, given to a command, and described."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from pathlib import Path
from types import GenericAlias, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)
from typing import get_type_hints as type_hints

import typer

from trecjudge.cli.exits import Later, exit_status
from trecjudge.errors import unknown
from trecjudge.text.credentials import is_secret_address

if TYPE_CHECKING:  # not for --help
    from trecjudge.settings import limits
else:
    limits = Later("trecjudge.settings.limits")

METAVARS = {Path: "FILE", int: "N", float: "NUMBER", str: "NAME"}
NUMBERS: Mapping[type, str] = {int: "a whole number", float: "a number"}
LEADS: Mapping[str, str] = {
    "--max": "At most so much",
    "--min": "At least so much",
    "--rows": "How rows count",
    "--by": "How they are chosen",
    "--format": "The format, by default recognised",
    "--chunk": "How documents are cut",
}
"""How the help of a flag begins whose values all have names."""
_DATABASE = re.compile(r"(postgres(?:ql)?://)(?:[^/?#:@]*@)?")
COMMAS = ("--judge", "--also", "--correlation", "--limit")
"""Flags of several values that have no comma in them, so that commas separate them."""


def option(
    help_text: str, default: Any = None, *names: str, old: Sequence[str] = (), **more: Any
) -> Any:
    """Return a field that a flag fills; `more` may be `metavar`, and the least value as `min`.

    The flag is called as the field is, unless `names` are given; without a default (`...`) it is
    required. `old` are spellings that are not shown: `--name`; `--name=VALUE` for a switch that
    stands for this value, and `--name=START=` for a flag whose value goes on after START.
    """
    return Declared(typer.Option(..., *names, help=help_text, **more), default, tuple(old))


def switch(help_text: str, *names: str, on: bool = False, **more: Any) -> Any:
    """Return a field that a flag without a value turns on, or off by `--flag/--no-flag`."""
    return option(help_text, on, *names, **more)


def several(help_text: str, *names: str, **more: Any) -> Any:
    """Return a field that a flag fills which takes several values; by default there are none."""
    return option(help_text, (), *names, **more)


def part(flag: str, name: str, help_text: str, default: Any = None, *old: str, **more: Any) -> Any:
    """Return a field that the value `NAME=VALUE` of a flag fills, or NAME only for one of bool.

    Several fields are given by one flag so: `--max calls=5 cost=2`. With an empty name the field is
    filled by a value without one, such as `FILE` in `--page FILE guideline=RULES`. `old` are flags
    that did it before; by default one that is called as the field is.
    """
    return Declared(typer.Option(..., flag, help=help_text, **more), default, old, name)


def argument(help_text: str, default: Any = ..., old: Sequence[str] = (), **more: Any) -> Any:
    """Return a field that a word without a flag fills; it is required without a default.

    `old` are flags that may stand before it, and are not shown.
    """
    return Declared(typer.Argument(..., help=help_text, **more), default, tuple(old))


OUTPUT = ("--output", "-o")
"""How a new file is named everywhere, also where a word without a flag is one."""


class Declared(NamedTuple):
    """A field of `Flags` as it is declared: the parameter of Typer that fills it."""

    parameter: Any
    default: Any
    """Its value where the parameter is left out; `...` where that cannot be."""
    old: tuple[str, ...] = ()
    """Its spellings that are not shown."""
    part: str | None = None
    """The name of a value of the flag, where that flag fills several fields."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Flags:
    """What a command line asks for: a field for each flag of a command, or of a group of them.

    A subclass has the fields of all groups that it names, and its own. No dataclass: to make as
    many as there are commands and groups would take a fifth of the time of `--help`.
    """

    PANEL: ClassVar[str] = ""
    """What its own flags are about, where several commands have them; not for subclasses."""
    WITHOUT: ClassVar[frozenset[str]] = frozenset()
    """Fields of its groups that a command has no flag for: they are as by default."""
    UNSHOWN: ClassVar[frozenset[str]] = frozenset()
    """Fields whose flags a command takes, but does not show."""

    def __init__(self, **given: Any) -> None:
        declared = declared_in(type(self))
        vars(self).update({name: one.default for name, one in declared.items()} | given)


class LimitFlags(Flags):
    """The most that is read."""

    PANEL: ClassVar = "Input"
    limit: Sequence[str] = several(
        "The largest input that is read: of a line or record record=16MB, depth=200 and"
        " entries=100000; of a leaderboard rows=2000000; stdin=1GB; of a packed file"
        " unpacked=256MB, or 100 times its size; held=256MB of memory for topics, nuggets, labels"
        " and runs. What is larger is reported with its line and left out. TRECJUDGE_LIMITS sets"
        " the same.",
        metavar="NAME=VALUE",
    )


F = TypeVar("F", bound=Flags)


def bind_flags(
    kind: type[F],
) -> Callable[[Callable[[typer.Context, F], None]], Callable[..., None]]:
    """Return a decorator that gives a function of a context and flags a parameter for each flag."""
    hints = type_hints(kind)
    context = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    signed, parts = [context], _parts_of(kind, hints)
    for name, (parameter, default, old, part) in declared_in(kind).items():
        if name in kind.WITHOUT or part is not None:
            continue
        if name in kind.UNSHOWN:  # a copy, since other commands show it
            parameter = copy(parameter)
            parameter.hidden = True
        hint: Any = hints[name]
        if get_origin(hint) is Sequence:  # Typer knows several values as a list, or as None
            hint = GenericAlias(list, get_args(hint))
            hint, default = (hint, default) if default is ... else (hint | None, None)
        signed.append(
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if default is ... else default,
                annotation=Annotated[hint, parameter, *old],
            )
        )
    signed += [one.signed for one in parts.values()]

    def decorate(command: Callable[[typer.Context, F], None]) -> Callable[..., None]:
        def run(ctx: typer.Context, **given: Any) -> None:
            # Left out, a flag of several values is the default of its field, and no list.
            fields = {n: v for n, v in given.items() if v is not None and n not in parts}
            for name, one in parts.items():
                fields |= one.filled(given.get(name) or ())
            command(ctx, kind(**fields))

        # Typer reads flags from the signature, so the fields are written into it.
        run.__doc__ = command.__doc__
        run.__annotations__ = {p.name: p.annotation for p in signed}
        run.__signature__ = Signature(signed)  # type: ignore[attr-defined]
        return run

    return decorate


class Part(NamedTuple):
    """A field that a value of a flag fills."""

    field: str
    declared: Declared
    hint: Any

    @property
    def option(self) -> Option:
        """How its value is described."""
        parameter = self.declared.parameter
        kind = _kind(self.hint)
        return Option(
            flags=(self.declared.part or "",),
            metavar="" if kind is bool else parameter.metavar or _taken(kind),
            help=parameter.help or "",
            kind=kind,
            least=parameter.min,
            most=parameter.max,
            is_several=get_origin(self.hint) is Sequence,
        )

    @property
    def old(self) -> tuple[str, ...]:
        """Flags that are not shown, with what they stand for."""
        name, kind = self.declared.part, _kind(self.hint)
        stands_for = f"={name}" if kind is bool else f"={name}=" if name else ""
        flags = self.declared.old or ((f"--{self.field.replace('_', '-')}",) if name else ())
        return tuple(f"{flag}{stands_for}" for flag in flags)


@dataclass(frozen=True, slots=True)
class Parts:
    """The fields that the values of one flag fill, by the name of the value."""

    flag: str
    by_name: Mapping[str, Part]
    options: Mapping[str, Option]
    is_hidden: bool

    @property
    def signed(self) -> Parameter:
        """The parameter of the flag: it takes several values."""
        first = self.by_name.get("")
        is_required = first is not None and first.declared.default is ...
        parameter = typer.Option(..., self.flag, help=self._help(), hidden=self.is_hidden)
        parameter.metavar = self.options[""].metavar if first else "NAME=VALUE"
        parameter.rich_help_panel = self.panel
        old = [spelled for one in self.by_name.values() for spelled in one.old]
        hint: Any = list[str] if is_required else list[str] | None
        return Parameter(
            _identifier(self.flag),
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if is_required else None,
            annotation=Annotated[hint, parameter, self.options, *old],
        )

    def filled(self, values: Iterable[str]) -> dict[str, Any]:
        """Return the fields that values fill."""
        found: dict[str, Any] = {}
        for value in values:
            name, text = part_of(value, self.options)
            field, _, hint = self.by_name[name]
            kind = _kind(hint)
            one = True if kind is bool else kind(text) if isinstance(kind, type) else text
            several = get_origin(hint) is Sequence
            if field in found and not several:
                given = f"{self.flag} {name}".rstrip()
                raise typer.BadParameter(
                    f"{given} is given twice: {found[field]} and {text or name}"
                )
            found[field] = (*found.get(field, ()), one) if several else one
        return found

    @property
    def panel(self) -> str:
        """What the flag is about: that of a group where commands share all its parts."""
        panels = [one.declared.parameter.rich_help_panel for one in self.by_name.values()]
        return panels[-1] if all(panels) else ""

    def _help(self) -> str:
        options = self.options
        first = [options[""].help.rstrip(".") if "" in options else LEADS[self.flag]]
        shared = [n for n, one in self.by_name.items() if one.declared.parameter.rich_help_panel]
        shared = [] if self.panel else shared
        named = [
            f"{_shown_part((name, o))}: {first_clause(o.help)}"
            for name, o in options.items()
            if name and name not in shared
        ]
        more = [f"and {', '.join(shared)}, as `help model` has them"] if shared else []
        return f"{'; '.join([*first, *named, *more])}."


def part_of(value: str, parts: Mapping[str, Option]) -> tuple[str, str]:
    """Return which part of a flag a value is, and its text; the part "" has no name."""
    name, equals, text = value.partition("=")
    is_named = name in parts and (equals or parts[name].is_switch)
    return (name, text) if name and is_named else ("", value)


def _parts_of(kind: type[Flags], hints: Mapping[str, Any]) -> dict[str, Parts]:
    """Return the flags of a command that fill several fields, by the name of their parameter."""
    found: dict[str, dict[str, Part]] = {}
    hidden: dict[str, bool] = {}
    for name, declared in declared_in(kind).items():
        if declared.part is None or name in kind.WITHOUT:
            continue
        (flag,) = declared.parameter.param_decls
        found.setdefault(flag, {})[declared.part] = Part(name, declared, hints[name])
        hidden[flag] = hidden.get(flag, True) and name in kind.UNSHOWN
    return {
        _identifier(flag): Parts(flag, by, {n: one.option for n, one in by.items()}, hidden[flag])
        for flag, by in found.items()
    }


def _identifier(flag: str) -> str:
    return f"values_of_{flag.strip('-').replace('-', '_')}"


def declared_in(kind: type[Flags]) -> dict[str, Declared]:
    """Return the fields of flags: a command's own first, then those of its groups."""
    found: dict[str, Declared] = {}
    # A command's own come first in its help, and take the place of those of a group.
    for name, declared in (*_own_fields(kind), *_all_fields(kind)):
        found.setdefault(name, declared)
    return found


def _own_fields(group: Any) -> Iterator[tuple[str, Declared]]:
    for name, declared in vars(group).items():
        if isinstance(declared, Declared):
            # Named here, since a declaration does not know the field that it fills; Typer would
            # give a switch that has no name a `--no-` form too.
            if isinstance(declared.parameter, typer.models.OptionInfo):
                parameter = declared.parameter
                parameter.param_decls = parameter.param_decls or (f"--{name.replace('_', '-')}",)
                panel = parameter.rich_help_panel or vars(group).get("PANEL", "")
                parameter.rich_help_panel = panel
                if OUTPUT[0] in parameter.param_decls:
                    declared = declared._replace(old=(*declared.old, OUTPUT[1]))
            yield name, declared


def _all_fields(group: type) -> Iterator[tuple[str, Declared]]:
    for base in group.__bases__:
        yield from _all_fields(base)
    yield from _own_fields(group)


def command_with(kind: type[F]) -> Callable[[Callable[[F], int]], Callable[..., None]]:
    """Return a decorator that makes a function of flags a command, which exits with its status.

    The limits of `--limit` hold meanwhile, where the command has it.
    """

    def decorate(command: Callable[[F], int]) -> Callable[..., None]:
        def run(ctx: typer.Context, flags: F) -> None:
            def work() -> int:
                limit = flags.limit if isinstance(flags, LimitFlags) else ()
                with limits.apply_limits(limit) if limit else nullcontext():
                    return command(flags)

            raise typer.Exit(exit_status(work, getattr(flags, "quiet", False)))

        run.__doc__ = command.__doc__
        return bind_flags(kind)(run)

    return decorate


@dataclass(frozen=True, slots=True)
class Option:
    """A flag or an argument of a command, as its help and its messages describe it."""

    flags: tuple[str, ...]
    """All its spellings; none for an argument."""
    metavar: str
    """What it takes; empty for a switch."""
    help: str
    default: str = ""
    panel: str = ""
    kind: type | tuple[str, ...] = str
    """The type of a value, or the values that there are."""
    least: float | None = None
    most: float | None = None
    is_several: bool = False
    is_required: bool = False
    is_hidden: bool = False
    """Whether no help shows it."""
    parts: Mapping[str, Option] = field(default_factory=dict, hash=False)
    """What its values fill, by their names."""
    old: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Spellings that no help shows; each with the value, or start of one, that it stands for."""

    @property
    def shown(self) -> str:
        """How it is written: its flags and what it takes."""
        taken = self.metavar + ("..." if self.is_several else "")
        return " ".join(filter(None, (", ".join(self.flags), taken)))

    @property
    def names(self) -> list[str]:
        """What may be meant by a flag that there is not: its flags, and the parts of its values."""
        named = [f"{self.flags[0]} {name}" for name in self.parts if name]
        return [*self.flags, *(f"{n}=" if self.parts[n.split()[1]].metavar else n for n in named)]

    @property
    def is_argument(self) -> bool:
        """Whether it is known by its place, not by a flag."""
        return not self.flags

    @property
    def is_switch(self) -> bool:
        """Whether it takes no value."""
        return not self.metavar

    @property
    def parts_at_commas(self) -> bool:
        """Whether commas separate its values."""
        one_each = self.parts and all(part.kind is not Path for part in self.parts.values())
        return bool(one_each or set(self.flags) & set(COMMAS))

    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        if self.parts:
            return ", ".join(map(_shown_part, self.parts.items()))
        if isinstance(self.kind, tuple):
            return f"one of {', '.join(self.kind)}"
        if self.kind not in NUMBERS:
            return f"{self.metavar}: {first_clause(self.help)}"
        bounds = [("least", self.least), ("most", self.most)]
        within = " and ".join(f"at {word} {n:g}" for word, n in bounds if n is not None)
        return f"{NUMBERS[self.kind]}{within and f' of {within}'}"

    def _fault_of_address(self, value: str) -> str:
        """Return what is wrong with an address in the place of a path, if anything."""
        if "--documents" in self.flags and (database := _DATABASE.match(value)):
            # A name without a password is none: it says who asks.
            plain = f"{database[1]}{value[database.end() :]}"
            hint = "set PGPASSWORD, and leave the password out"
            return f"holds a secret: {hint}" if is_secret_address(plain) else ""
        in_file = "holds a secret: write it as ${NAME} into a file that describes the service"
        return in_file if "{docid}" in value else "is an address, not a path"

    def refusal_of(self, value: str) -> str | None:
        """Return why this cannot be a value, and what to give instead; None if it can."""
        if not value:
            return f"a value is missing: give {self.wanted}"
        if self.parts:
            name, text = part_of(value, self.parts)
            part = self.parts.get(name)
            if part is not None and not part.is_switch:
                return part.refusal_of(text)
            named = value.partition("=")[0]
            if named in self.parts and named != value:
                return f"{named} takes no value; give {self.wanted}"
            if named in self.parts:
                return None if part else f"{named} takes a value; give {self.wanted}"
            return unknown("name", named, self.parts)
        if self.kind is Path and is_secret_address(value):
            what = self._fault_of_address(value)
            return f"{value!r} {what}; give {self.wanted}" if what else None
        if self.kind is not Path and not is_encodable(value):
            return f"{value!r} is not UTF-8; give {self.wanted}"
        if isinstance(self.kind, tuple):
            return None if value in self.kind else unknown("value", value, self.kind)
        if self.kind not in NUMBERS:
            return None
        try:
            number = self.kind(value)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            return f"{value} is not {NUMBERS[self.kind]}; give {self.wanted}"
        if self.least is not None and number < self.least:
            return f"{value} is too small; give {self.wanted}"
        if self.most is not None and number > self.most:
            return f"{value} is too large; give {self.wanted}"
        return None


def options_of(command: Any, context: Any) -> list[Option]:
    """Return the flags and arguments of a command, in its order; `--help` last.

    Those that no help shows are among them.
    """
    hints = type_hints(command.callback, include_extras=True) if command.callback else {}
    return [_describe(p, hints.get(p.name)) for p in command.get_params(context)]


def _describe(parameter: Any, hint: Any) -> Option:
    declared, *old = getattr(hint, "__metadata__", ()) or (None,)
    parts = old.pop(0) if old and isinstance(old[0], dict) else {}
    is_argument = parameter.param_type_name == "argument"
    kind = _kind(get_args(hint)[0]) if declared is not None else str
    is_switch = bool(getattr(parameter, "is_flag", False))
    metavar = getattr(declared, "metavar", None)
    if is_argument:
        metavar = metavar or parameter.name.rstrip("s").replace("_", "-").upper()
    elif metavar is None:
        metavar = _taken(kind)
    text = getattr(parameter, "help", None) or ""
    if "--help-all" in parameter.opts:
        text = "Show this page; --help-all explains all in full."
    if isinstance(kind, tuple) and metavar != "|".join(kind):
        text += f" One of {', '.join(kind)}."
    return Option(
        flags=() if is_argument else (*_spellings(parameter), *parameter.secondary_opts),
        metavar="" if is_switch else metavar,
        help=text,
        default=_default(parameter, is_switch),
        panel=getattr(parameter, "rich_help_panel", None) or "",
        kind=kind,
        least=getattr(declared, "min", None),
        most=getattr(declared, "max", None),
        is_several=parameter.nargs == -1 or bool(getattr(parameter, "multiple", False)),
        is_required=parameter.required,
        is_hidden=bool(getattr(parameter, "hidden", False)),
        parts=parts,
        old={spelled: value for spelled, _, value in (text.partition("=") for text in old)},
    )


def _spellings(parameter: Any) -> list[str]:
    """Return the spellings of a flag, long ones first; those of `--help` come in any order."""
    return sorted(parameter.opts, key=lambda flag: (not flag.startswith("--"), len(flag)))


def _kind(annotation: Any) -> type | tuple[str, ...]:
    """Return the type of one value: for a list that of an entry, without None."""
    origin = get_origin(annotation)
    if origin is Literal:
        return get_args(annotation)
    if origin in (Union, UnionType):
        (annotation,) = (a for a in get_args(annotation) if a is not NoneType)
        return _kind(annotation)
    if origin is list:
        return _kind(get_args(annotation)[0])
    return annotation if isinstance(annotation, type) else str


def _default(parameter: Any, is_switch: bool) -> str:
    value = parameter.default
    if value is None or callable(value) or parameter.required:
        return ""
    if is_switch:
        return next(iter(parameter.opts if value else parameter.secondary_opts), "")
    return str(value)


def _taken(kind: type | tuple[str, ...]) -> str:
    """Return what a flag of this kind takes, where it says nothing else."""
    return "|".join(kind) if isinstance(kind, tuple) else METAVARS.get(kind, "NAME")


def _shown_part(named: tuple[str, Option]) -> str:
    name, option = named
    return f"{name}={option.metavar}" if name and option.metavar else name or option.metavar


def is_encodable(value: str) -> bool:
    """Return whether a word of the command line was UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def first_clause(help_text: str) -> str:
    """Return the first sentence of a help text as it goes on after a colon."""
    sentence = help_text.split(". ")[0].rstrip(".")
    is_word = sentence[1:2].islower() or sentence[1:2] == " "
    return (sentence[:1].lower() if is_word else sentence[:1]) + sentence[1:]
