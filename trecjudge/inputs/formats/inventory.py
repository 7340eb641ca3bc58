"""The marks of citations that a run has in its texts, counted by their shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from trecjudge.findings import counted
from trecjudge.inputs.formats.markers import Marker, Markers
from trecjudge.inputs.formats.pointers import Pointer

RESOLVED, UNKNOWN, UNREAD, CUT = "resolved", "of no document", "not read", "cut"
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

    def lines(self) -> Iterator[str]:
        """Yield a text for each shape: how many there are, and what became of them."""
        for shape, counts in sorted(self.counts.items(), key=lambda pair: -pair[1].total()):
            became = ", ".join(
                f"{counts[name]} {name}"
                for name in (RESOLVED, UNKNOWN, UNREAD, CUT)
                if counts[name]
            )
            yield f"{counts.total()} as {shape} ({became})"

    def __str__(self) -> str:
        total = sum(counts.total() for counts in self.counts.values())
        text = f"has {counted(total, 'mark')} of citations in its texts: {'; '.join(self.lines())}"
        bases = " and ".join(map(str, sorted(self.bases)))
        return f"{text}; numbers count from {bases}" if bases else text


def _became(pointer: Pointer) -> str:
    if pointer.unread:
        return UNREAD
    return RESOLVED if pointer.doc_id else UNKNOWN


def _worst(became: Iterable[str]) -> str:
    return max(became, key=(RESOLVED, UNKNOWN, UNREAD).index)
