"""The page of a command: its usage, what it does, examples, its commands and flags."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trecjudge.cli.examples import EXAMPLES, FIRST_FLAGS, Example
from trecjudge.cli.parts import Part, parts_of

UNSHOWN = "--show-completion"
"""A flag for those who install completion by hand."""
ARGUMENTS, FLAGS, GENERAL = "Arguments", "Flags", "General"


@dataclass(frozen=True, slots=True)
class Page:
    """What the help of a command shows."""

    program: str
    """How the program is called."""
    name: str
    """The command with the groups it is in; empty for the main job."""
    paragraphs: tuple[str, ...]
    examples: tuple[Example, ...]
    commands: Mapping[str, str]
    """The commands of a group, each with one line."""
    parts: tuple[Part, ...]

    @property
    def usage(self) -> list[str]:
        """How it is called, a line for each way."""
        start = f"{self.program} {self.name}".rstrip()
        if self.commands:
            job = f"{start} --rag-responses FILE... [FLAGS]"
            return [*([] if self.name else [job]), f"{start} COMMAND [FLAGS]"]
        arguments = [p for p in self.parts if p.is_argument]
        words = [p.shown if p.is_required else f"[{p.shown}]" for p in arguments]
        words += [p.shown for p in self.parts if p.is_required and not p.is_argument]
        has_flags = any(not p.is_argument for p in self.parts)
        return [" ".join([start, *words, *(["[FLAGS]"] if has_flags else [])])]

    @property
    def first(self) -> tuple[Part, ...]:
        """The flags that most people need first."""
        return tuple(part for part in self.parts if set(part.flags) & set(FIRST_FLAGS))

    def panels(self) -> dict[str, list[Part]]:
        """Return arguments and flags by the heading that they stand under."""
        found: dict[str, list[Part]] = {}
        has_panels = not self.name
        for part in self.parts:
            other = GENERAL if has_panels else FLAGS
            title = ARGUMENTS if part.is_argument else (has_panels and part.panel) or other
            found.setdefault(title, []).append(part)
        if has_panels:
            found[GENERAL] = found.pop(GENERAL, [])
        return {title: parts for title, parts in found.items() if parts}


def page_of(command: Any, context: Any) -> Page:
    """Return the page of a command, called in a context."""
    names, outer = [], context
    while outer.parent:
        names.append(str(outer.info_name))
        outer = outer.parent
    program = str(outer.info_name or "run_judge.py")
    name = " ".join(reversed(names))
    text = inspect.cleandoc(command.help or "")
    return Page(
        program=f"python {program}" if program.endswith(".py") else program,
        name=name,
        paragraphs=tuple(" ".join(part.split()) for part in text.split("\n\n") if part),
        examples=EXAMPLES.get(name, ()),
        commands={n: c.help.split("\n\n")[0] for n, c in getattr(command, "commands", {}).items()},
        parts=tuple(p for p in parts_of(command, context) if UNSHOWN not in p.flags),
    )
