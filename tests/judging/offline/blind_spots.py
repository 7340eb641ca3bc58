"""Twins: a true and a false sentence on one document, so that no rule wins by firing always."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("blind_spots.txt")


class Twins(NamedTuple):
    """Two near copies of a document, of which only one says what it says."""

    kind: str
    document: str
    true: str
    false: str


def read_twins(path: Path = _FILE) -> Iterator[Twins]:
    """Yield the twins of a file: lines "D document", "+ true", "- false" under "kind:"."""
    kind, texts = "", list[str]()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line[:2] in ("D ", "+ ", "- "):
            texts.append(line[2:])
        elif line.endswith(":"):
            kind = line[:-1]
        if len(texts) == 3:
            yield Twins(kind, *texts)
            texts = []


def by_kind(twins: Sequence[Twins]) -> dict[str, list[Twins]]:
    """Return the twins of each kind, in the order of the file."""
    found: dict[str, list[Twins]] = {}
    for one in twins:
        found.setdefault(one.kind, []).append(one)
    return found
