"""What goes into an index and what comes out of it: the records that all its parts share."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from trecjudge.baseline.chunking import ChunkSettings
from trecjudge.baseline.terms import ANALYSER
from trecjudge.errors import InputError
from trecjudge.inputs.documents.index_file import AGAIN, damaged_index_error
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


# What an index keeps of itself between two refreshes, as JSON; and its version, a digest.

MODULUS = 1 << 256
COUNTS = ("documents", "chunks", "generation", "next_chunk", "next_document")
MOST_NUMBERS = 1 << 48
"""A higher number is none that was counted."""
MOST_DIMENSIONS = 1 << 16
LONGEST = 10_000
"""Characters of a state: it has a few numbers and names."""
DIGEST = re.compile(r"[0-9a-f]{64}")


def add_digest(content: str, record: str, sign: int = 1) -> str:
    """Return the digest of a set of documents with one more, or one less if `sign` is -1.

    A sum, so that the order in which documents came makes no difference.
    """
    return f"{(int(content, 16) + sign * int(record, 16)) % MODULUS:064x}"


@dataclass(frozen=True, slots=True)
class State:
    """The settings and counts of an index.

    `content` is the digest of its documents. `generation` counts the refreshes that changed
    something; `next_chunk` and `next_document` are numbers that none ever had.
    """

    chunking: ChunkSettings
    analyser: str = ANALYSER
    vectors: VectorModel | None = None
    documents: int = 0
    chunks: int = 0
    content: str = "0" * 64
    generation: int = 0
    next_chunk: int = 0
    next_document: int = 0

    @property
    def version(self) -> str:
        """Changes with the documents, the chunking, the analyser and the model of the vectors."""
        made_by = {
            "chunking": asdict(self.chunking),
            "analyser": self.analyser,
            "vectors": asdict(self.vectors) if self.vectors else None,
        }
        settings = orjson.dumps(made_by, option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(self.content.encode() + settings).hexdigest()[:16]

    @property
    def facts(self) -> IndexFacts:
        """What the index says of itself."""
        return IndexFacts(
            self.version, self.documents, self.chunks, self.vectors, asdict(self.chunking)
        )

    def as_json(self) -> str:
        """Return the state as JSON."""
        return orjson.dumps(self).decode()

    def check_model(self, embeds: VectorMaker | None, where: str) -> None:
        """Raise InputError if an index with vectors is refreshed by another model, or by none."""
        held = self.vectors
        if held is None or (embeds is not None and embeds.model == held):
            return
        given = f"and not of {embeds.model}" if embeds else "and none were asked for"
        raise InputError(f"{where}: has vectors of {held}, {given}; give that model, or {AGAIN}")


@lru_cache(2)
def parse_state(text: Any, where: str) -> State:
    """Return the state that JSON describes. Raises InputError for another analyser's."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise damaged_index_error(where, "its state is no text of a state")
    try:
        record: dict[str, Any] = orjson.loads(text)
        record["chunking"] = ChunkSettings(**record["chunking"])
        record["vectors"] = VectorModel(**record["vectors"]) if record["vectors"] else None
        state = State(**record)
    except (orjson.JSONDecodeError, KeyError, TypeError, InputError) as error:
        raise damaged_index_error(where, f"its state cannot be read ({error})") from error
    if not _is_sound(state):
        raise damaged_index_error(where, "its state is none that can be")
    if state.analyser != ANALYSER:
        message = f"its words were made by {state.analyser!r}, and this version has {ANALYSER!r}"
        raise InputError(f"{where}: {message}; {AGAIN}")
    return state


def _is_sound(state: State) -> bool:
    held = state.vectors or VectorModel("", 1, "")
    counts = [getattr(state, name) for name in COUNTS] + [*asdict(state.chunking).values()]
    texts = (state.analyser, state.content, held.name, held.digest)
    return (
        all(type(number) is int and 0 <= number < MOST_NUMBERS for number in counts)
        and all(isinstance(text, str) for text in texts)
        and state.documents <= state.next_document
        and state.chunks <= state.next_chunk
        and bool(DIGEST.fullmatch(state.content))
        and type(held.dimensions) is int
        and 0 < held.dimensions <= MOST_DIMENSIONS
    )
