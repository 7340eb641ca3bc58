"""The memory that one input may take whose records are held: topics, banks, labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from trecjudge.findings import OnFinding
from trecjudge.inputs.sources.streams import too_large
from trecjudge.records import Place
from trecjudge.settings.limits import limits

OF_A_VALUE = 64
"""Bytes that a value takes beside its text."""
WIDE = 4
"""Bytes of a character, where a text has one beyond those of most scripts."""


@dataclass(slots=True)
class Room:
    """What is left for the records of an input; the first that does not fit is reported."""

    report: OnFinding
    left: int = field(default_factory=lambda: limits().held)

    def takes(self, place: Place, size: int) -> bool:
        """Return whether a record of so many bytes still fits, as all before it did."""
        if self.left < 0:
            return False
        self.left -= size
        if self.left < 0:
            self.report(too_large(place, limits().too_full, "the rest is not read"))
        return self.left >= 0


def estimate_memory(values: Iterable[Any]) -> int:
    """Return roughly how many bytes of memory values take."""
    size = 0
    for value in values:
        size += OF_A_VALUE
        if isinstance(value, str):
            size += len(value) if value.isascii() else WIDE * len(value)
        elif isinstance(value, dict):
            size += estimate_memory(value) + estimate_memory(value.values())
        elif isinstance(value, list | tuple):
            size += estimate_memory(value)
    return size
