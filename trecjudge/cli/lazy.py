"""A group of commands whose modules are imported when one is run, or its help asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


class LazyGroup(TyperGroup):
    """Lists its commands by name and one line of help, and imports the one that is called.

    A subclass names them: `name: (module:attribute, help)`. The attribute is a function that can be
    a command, or a `Typer` with commands of its own.
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
        return name, self.loaded(name) if name else command, rest

    def loaded(self, name: str) -> Any:
        """Return a command, its module imported."""
        module, _, attribute = self.lazy[name][0].partition(":")
        found = getattr(importlib.import_module(module), attribute)
        if isinstance(found, typer.Typer):
            group = get_command(found)
            group.name = name
            return group
        # A Typer of its own: only of one with a single command get_command makes a plain command.
        single = typer.Typer(add_completion=False)
        single.command(name)(found)
        return get_command(single)


@dataclass(frozen=True, slots=True)
class Later:
    """A module that is imported when a name of it is asked for: not to show the flags."""

    name: str

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self.name), attribute)
