"""What is read of a collection at a time: one file, a range of it, or single places in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trecjudge.records import Document, Place


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a collection that is read by one process at a time.

    `start` and `end` bound a range of a plain file of lines, in bytes: it has the lines that begin
    there. With `places`, pairs (place, id), only the records there are read; a place is the byte of
    the unpacked file at which one begins. `tables` is the folder for what is learned of a packed
    file, so that it is read through only once.
    """

    path: Path
    start: int = 0
    end: int | None = None
    places: Sequence[tuple[int, str]] = ()
    tables: str = ""

    @property
    def name(self) -> str:
        """What names it among the units of a collection."""
        return f"{Place(str(self.path)).path}\0{self.start}\0{self.end}\0{len(self.places)}"


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document that was found: in which file, and at which byte, line or row of it.

    Of two with one id the one that comes first counts, by the names of files and by place. `source`
    is the address of a service where it is from one.
    """

    document: Document
    path: str = ""
    place: int = 0
    source: str = ""
