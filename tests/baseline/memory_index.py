"""An index in memory, a chunk a document, and an embedder by given vectors: for tests."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trecjudge.baseline.index.protocol import (
    Changes,
    Embeds,
    Hits,
    IndexFacts,
    Only,
    Source,
    VectorModel,
)
from trecjudge.baseline.records import Chunk
from trecjudge.records import Document
from trecjudge.text.tokens import read_forms

K1, B = 0.9, 0.4
GIVEN = VectorModel("given", 2, "d" * 64)


@dataclass
class MemoryIndex:
    """Documents by BM25, each one chunk; vectors where some are given."""

    documents: Sequence[Document]
    vectors: Any = None
    model: VectorModel | None = None
    version: str = "v1"
    lengths: list[int] = field(default_factory=list)
    postings: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for number, document in enumerate(self.documents):
            forms = Counter(read_forms(document.full_text)[1])
            self.lengths.append(sum(forms.values()))
            for form, count in forms.items():
                self.postings[form].append((number, count))

    @property
    def facts(self) -> IndexFacts:
        count = len(self.documents)
        return IndexFacts(self.version, count, count, self.model, {})

    async def refresh(
        self, sources: Iterable[Source], embeds: Embeds | None = None, remove_others: bool = True
    ) -> Changes:
        raise NotImplementedError

    def by_words(self, terms: Mapping[str, float], most: int, only: Only | None = None) -> Hits:
        scores: dict[int, float] = defaultdict(float)
        mean = sum(self.lengths) / max(len(self.lengths), 1)
        for term, weight in terms.items():
            idf = self.idf([term])[term]
            for number, count in self.postings.get(term, ()):
                norm = K1 * (1 - B + B * self.lengths[number] / mean)
                scores[number] += weight * idf * count / (count + norm)
        kept = [(n, score) for n, score in scores.items() if self._passes(n, only)]
        return sorted(kept, key=lambda found: (-found[1], found[0]))[:most]

    def by_vector(self, vector: Any, most: int, only: Only | None = None) -> Hits:
        cosines = self.vectors @ vector
        found = ((n, float(cosines[n])) for n in np.argsort(-cosines, kind="stable"))
        return [one for one in found if self._passes(one[0], only)][:most]

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        total, found = len(self.documents), {}
        for term in terms:
            has = len(self.postings.get(term, ()))
            found[term] = math.log(1 + (total - has + 0.5) / (has + 0.5))
        return found

    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        documents = [self.documents[number] for number in numbers]
        return [Chunk(d, 0, len(d.full_text), d.full_text) for d in documents]

    def document(self, doc_id: str) -> Chunk | None:
        found = [n for n, document in enumerate(self.documents) if document.doc_id == doc_id]
        return self.chunks(found)[0] if found else None

    def close(self) -> None:
        pass

    def _passes(self, number: int, only: Only | None) -> bool:
        document = self.documents[number]
        if only is None:
            return True
        dated = bool(document.date) or not (only.since or only.until)
        return (
            dated
            and only.since <= document.date <= (only.until or "9999")
            and all(getattr(document, name) in values for name, values in only.fields.items())
        )


@dataclass(frozen=True)
class GivenVectors:
    """Embeds texts by a table of vectors; a text that is not in it gets zeros."""

    table: Mapping[str, Sequence[float]]
    model: VectorModel = GIVEN

    async def embed(self, texts: Sequence[str]) -> Any:
        return np.array([self.table.get(text, (0.0, 0.0)) for text in texts], np.float32)
