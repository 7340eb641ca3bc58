"""The marks of citations that a run has in its texts, counted by their shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from trecjudge.inputs.formats.markers import Markers
from trecjudge.inputs.formats.placing import Marker
from trecjudge.inputs.formats.pointers import Pointer

RESOLVED, UNKNOWN, UNREAD, CUT = "resolved", "of no document", "not read", "cut"
FATES = (RESOLVED, UNKNOWN, UNREAD, CUT)
"""What became of a mark; `cut` where the record lists its citations elsewhere."""


@dataclass(slots=True)
class Inventory:
    """Counts the marks of one run by shape, and by what became of them."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    bases: set[int] = field(default_factory=set)

    def add(self, markers: Markers) -> None:
        """Count the marks of a response."""
        for marker in (m for found in markers.found for m in found):
            became = _worst(map(_became, marker.pointers))
            self.counts.setdefault(marker.mark.shape, Counter())[became] += 1
        if markers.base is not None and markers.pointers:
            self.bases.add(markers.base)

    def add_cut(self, markers: Iterable[Marker]) -> None:
        """Count marks that were only cut from a text."""
        for marker in markers:
            self.counts.setdefault(marker.mark.shape, Counter())[CUT] += 1

    def add_all(self, other: Inventory) -> None:
        """Add the marks of another run."""
        for shape, counts in other.counts.items():
            self.counts.setdefault(shape, Counter()).update(counts)
        self.bases |= other.bases

    def __str__(self) -> str:
        shapes = sorted(self.counts.items(), key=lambda pair: (-pair[1].total(), pair[0]))
        each = "; ".join(
            f"{counts.total()} as {shape} ({_fates(counts)})" for shape, counts in shapes
        )
        bases = " and ".join(map(str, sorted(self.bases)))
        how = f"; numbers count from {bases}" if bases else ""
        return f"{each}{how}"


def _fates(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in FATES if counts[name])


def _became(pointer: Pointer) -> str:
    if pointer.unread:
        return UNREAD
    return RESOLVED if pointer.doc_id else UNKNOWN


def _worst(became: Iterable[str]) -> str:
    return max(became, key=FATES.index)
