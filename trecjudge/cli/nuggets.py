"""`nuggets`: make banks of nuggets, and edit them as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import typer

from trecjudge.cli.lazy import LazyGroup


class NuggetCommands(LazyGroup):
    """The commands of `nuggets`."""

    lazy: ClassVar[Mapping[str, tuple[str, str]]] = {
        "create": (
            "trecjudge.cli.nuggets_create:create",
            "Make banks of nuggets from documents, from runs, or from topics.",
        ),
        "edit": (
            "trecjudge.cli.nuggets_edit:edit",
            "Write banks as a table for people to edit, and take the changes back.",
        ),
    }


nuggets_app = typer.Typer(
    cls=NuggetCommands,
    help="Make banks of nuggets, and edit them as tables.",
    add_completion=False,
)


@nuggets_app.callback()
def nuggets() -> None:
    """Make banks of nuggets, and edit them as tables."""
