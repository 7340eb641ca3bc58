"""What every index offers, wherever its chunks lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from trecjudge.baseline.records import Chunk
from trecjudge.records import Document

Found = Sequence[tuple[int, float]]
"""(number of a chunk, its score), the best first; of equal ones the lower number first."""


@dataclass(frozen=True, slots=True)
class VectorModel:
    """What made the vectors of an index: a query by another model is refused.

    `digest` is the sha256 of its weights; of an endpoint's model that of its address and name.
    """

    name: str
    dimensions: int
    digest: str


@dataclass(frozen=True, slots=True)
class Source:
    """A document to be indexed, with further fields of its record by name."""

    document: Document
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Only:
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


class Embeds(Protocol):
    """Turns texts into vectors of length 1: the package `wordllama`, or an endpoint."""

    @property
    def model(self) -> VectorModel:
        """What makes the vectors."""

    async def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array (len(texts), dimensions). Raises JudgmentFailed, ModelError."""


class Index(Protocol):
    """Chunks of documents, searched by words and by vectors. To be closed."""

    @property
    def facts(self) -> IndexFacts:
        """What the index says of itself, now."""

    async def refresh(
        self, sources: Iterable[Source], embeds: Embeds | None = None, remove_others: bool = True
    ) -> Changes:
        """Make the index hold these documents: only what changed is chunked and embedded again.

        `remove_others` drops the documents that are not among them. All or nothing: after an error
        or a kill, what was there before is there.
        """

    def by_words(self, terms: Mapping[str, float], most: int, only: Only | None = None) -> Found:
        """Return the chunks that BM25 finds for weighted terms (stems)."""

    def by_vector(self, vector: Any, most: int, only: Only | None = None) -> Found:
        """Return the chunks nearest to a vector by cosine. Raises InputError without vectors."""

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """Return how rare each term is among the chunks: ln(1 + (N - n + 0.5) / (n + 0.5))."""

    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        """Return chunks by number, in this order. Raises KeyError for one that is gone."""

    def document(self, doc_id: str) -> Chunk | None:
        """Return a whole document as one chunk, None where it is not there (any more)."""

    def close(self) -> None:
        """Let go of the file or connection."""
