"""Whether a run file is JSONL: tracks' checkers read an object in each line, and nothing else."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.inputs.sources.containers import BOM, Opened
from trecjudge.inputs.sources.packing import is_packed
from trecjudge.inputs.sources.values import is_multi_line
from trecjudge.records import Place


@dataclass(slots=True)
class Layout:
    """The layout of a file, seen by the places of its records."""

    last: int | None = None
    """The line of the record before."""
    is_told: bool = False

    def fault_at(self, place: Place) -> str:
        """Return what a record shows of a file that is not JSONL; nothing if that was told."""
        begins, crowded = self.last is None, self.last == place.line
        self.last = place.line
        if self.is_told or not (begins or crowded):
            return ""
        fault = _fault_of(Path(place.path)) if begins else "has several records in one line"
        self.is_told = bool(fault)
        return f"{fault}; a run has one JSON object in each line" if fault else ""


def _fault_of(path: Path) -> str:
    """Return what the beginning of a file shows; nothing where it may be JSONL."""
    with suppress(InputError):  # reported where the file is read
        opened = Opened(path)
        beginning = next(opened.look(), b"")
        first = opened.first(2)
        opened.close()
        with path.open("rb") as file:  # as it lies on disk: unpacked it may be JSONL
            packed = is_packed(file.read(8)) and path.suffix != ".gz"
        if packed:
            return "is packed, or not UTF-8"
        if beginning.startswith(BOM):
            return "begins with a byte order mark"
        if beginning.lstrip()[:1] == b"[":
            return "is a JSON array"
        if first and is_multi_line(*first):
            return "has records over several lines"
    return ""
