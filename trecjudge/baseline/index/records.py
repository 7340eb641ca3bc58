"""What goes into an index and what comes out of it: the records that all its parts share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trecjudge.records import Document

Numbers = NDArray[np.int64]

Hits = Sequence[tuple[int, float]]
"""(number of a chunk, its score), the best first; of equal ones the lower number first."""


@dataclass(frozen=True, slots=True)
class VectorModel:
    """What made the vectors of an index: a query by another model is refused.

    `digest` is the sha256 of its weights; of an endpoint's model that of its address and name.
    """

    name: str
    dimensions: int
    digest: str

    def __str__(self) -> str:
        return f"{self.name!r} ({self.dimensions} numbers, {self.digest[:12]})"


class VectorMaker(Protocol):
    """Turns texts into vectors of length 1: the package `wordllama`, or an endpoint."""

    @property
    def model(self) -> VectorModel:
        """What makes the vectors."""

    async def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array (len(texts), dimensions). Raises JudgmentFailed, ModelError."""


@dataclass(frozen=True, slots=True)
class IndexSource:
    """A document to be indexed, with further fields of its record by name."""

    document: Document
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents a search may find: those whose field `name` is one of its values.

    `doc_id`, `url`, `date` and `version` are names too. `since` and `until` bound the date, each
    included; a document without a date is outside.
    """

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a refresh did, in documents; `chunks` were written."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    kept: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What an index says of itself. `version` changes with every change of what it holds."""

    version: str
    documents: int
    chunks: int
    vectors: VectorModel | None
    chunking: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """A segment as a database has it: `chunks` are int64, `lengths` uint32, `gone` uint16.

    `gone` are the places of the removed chunks.
    """

    segment: int
    chunks: bytes
    lengths: bytes
    gone: bytes = b""
