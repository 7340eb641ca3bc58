"""A service of documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Service:
    """A service."""

    name: str


def service_of(path: Path) -> Service | None:
    """Return None."""
    return None
