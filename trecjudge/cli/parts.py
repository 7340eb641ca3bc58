"""The flags and arguments of a command: what each is called, takes and is for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from trecjudge.errors import unknown
from trecjudge.text.credentials import is_secret_address

METAVARS = {Path: "FILE", int: "N", float: "NUMBER", str: "NAME"}
NUMBERS: Mapping[type, str] = {int: "a whole number", float: "a number"}
COMMAS = ("--judge", "--also", "--correlation", "--limit")
"""Flags of several values that have no comma in them, so that commas separate them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A flag or an argument of a command."""

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
    is_several: bool = False
    is_required: bool = False

    @property
    def shown(self) -> str:
        """How it is written: its flags and what it takes."""
        taken = self.metavar + ("..." if self.is_several else "")
        return " ".join(filter(None, (", ".join(self.flags), taken)))

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
        return bool(set(self.flags) & set(COMMAS))

    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        if isinstance(self.kind, tuple):
            return f"one of {', '.join(self.kind)}"
        if self.kind not in NUMBERS:
            return f"{self.metavar}: {begun(self.help)}"
        bounds = "" if self.least is None else f" of at least {self.least:g}"
        return f"{NUMBERS[self.kind]}{bounds}"

    def refused(self, value: str) -> str | None:
        """Return why this cannot be a value, and what to give instead; None if it can."""
        if not value:
            return f"a value is missing: give {self.wanted}"
        if self.kind is Path and is_secret_address(value):
            in_file = "holds a secret: write it as ${NAME} into a file that describes the service"
            what = in_file if "{docid}" in value else "is an address, not a path"
            return f"{value!r} {what}; give {self.wanted}"
        if self.kind is not Path and not encodable(value):
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
        return None


def parts_of(command: Any, context: Any) -> list[Part]:
    """Return the flags and arguments of a command, in its order; `--help` last."""
    callback: Callable[..., Any] | None = command.callback
    hints = get_type_hints(callback, include_extras=True) if callback else {}
    shown = (p for p in command.get_params(context) if not getattr(p, "hidden", False))
    return [_part(p, hints.get(p.name)) for p in shown]


def _part(parameter: Any, hint: Any) -> Part:
    described = next(iter(getattr(hint, "__metadata__", ())), None)
    is_argument = parameter.param_type_name == "argument"
    kind = _kind(get_args(hint)[0]) if described is not None else str
    is_switch = bool(getattr(parameter, "is_flag", False))
    metavar = getattr(described, "metavar", None)
    if is_argument:
        metavar = metavar or parameter.name.rstrip("s").replace("_", "-").upper()
    elif metavar is None:
        metavar = _choices(kind) if isinstance(kind, tuple) else METAVARS.get(kind, "NAME")
    text = getattr(parameter, "help", None) or ""
    if isinstance(kind, tuple) and metavar != _choices(kind):
        text += f" One of {', '.join(kind)}."
    return Part(
        flags=() if is_argument else (*parameter.opts, *parameter.secondary_opts),
        metavar="" if is_switch else metavar,
        help=text,
        default=_default(parameter, is_switch),
        panel=getattr(parameter, "rich_help_panel", None) or "",
        kind=kind,
        least=getattr(described, "min", None),
        is_several=parameter.nargs == -1 or bool(getattr(parameter, "multiple", False)),
        is_required=parameter.required,
    )


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


def _choices(kind: tuple[str, ...]) -> str:
    return "|".join(kind)


def _default(parameter: Any, is_switch: bool) -> str:
    value = parameter.default
    if value is None or callable(value) or parameter.required:
        return ""
    if is_switch:
        return next(iter(parameter.opts if value else parameter.secondary_opts), "")
    return str(value)


def encodable(value: str) -> bool:
    """Return whether a word of the command line was UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def begun(help_text: str) -> str:
    """Return the first sentence of a help text as it goes on after a colon."""
    sentence = help_text.split(". ")[0].rstrip(".")
    is_word = sentence[1:2].islower() or sentence[1:2] == " "
    return (sentence[:1].lower() if is_word else sentence[:1]) + sentence[1:]
