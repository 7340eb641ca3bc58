"""How each command is called with the files of the kit."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tests.cli_page import pages

LINES = (Path(__file__).parent / "recipes.txt").read_text().splitlines()
NAMES = {page.name for page in pages() if page.name}
FILE = re.compile(r"\{([^}]*)\}")
ALSO = {
    "prompted.yml": ("prompt.json",),
    "experiment.yml": ("topics.jsonl", "documents.jsonl"),
    "season.yml": ("topics.jsonl", "documents.jsonl", "runs"),
}
"""Files of the kit that another file of it names."""


@dataclass(frozen=True)
class Recipe:
    """A command line; `{NAME}` is an input that may be spoiled, `+{NAME}` one that is not typed.

    It may be a part of a word: `key={NAME}`.
    """

    line: str

    @property
    def command(self) -> str:
        """The command's name, with that of its family."""
        return max((name for name in NAMES if f"{self.line} ".startswith(f"{name} ")), key=len)

    @property
    def spoilable(self) -> list[str]:
        """The inputs of which one is spoiled."""
        return FILE.findall(self.line)

    @property
    def arguments(self) -> list[str]:
        """The words of the command line."""
        words = shlex.split(self.line)
        return [re.sub("[{}]", "", word) for word in words if not word.startswith("+")]

    @property
    def needed(self) -> list[str]:
        """Everything of the kit that it reads."""
        named = [*FILE.findall(self.line), *self.line.split()]
        return [*named, *chain.from_iterable(ALSO.get(name, ()) for name in named)]


def recipes(command: str = "") -> list[Recipe]:
    """Return the recipes of a command; without one, all."""
    found = map(Recipe, LINES)
    return [recipe for recipe in found if command in ("", recipe.command)]
