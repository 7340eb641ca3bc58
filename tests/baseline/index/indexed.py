"""Sources and searches for tests of an index."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from trecjudge.baseline.index.index import Index
from trecjudge.baseline.index.records import (
    Changes,
    Filter,
    Hits,
    IndexSource,
    VectorMaker,
    VectorModel,
)
from trecjudge.records import Document


def source(doc_id: str, text: str, title: str = "", **fields: str) -> IndexSource:
    own = {name: fields.pop(name, "") for name in ("url", "date", "version")}
    return IndexSource(Document(doc_id, text, title, **own), fields)


FOX = source("fox", "The quick brown fox jumps.", "Animals", date="2024-05-03", lang="en")
DOG = source("dog", "Dogs bark at a fox. Dogs sleep.", date="2023", lang="de", year="7")
HAN = source("han", "漢字を使う人々。", lang="ja", url="https://x.example/han", version="2")
ALL = (FOX, DOG, HAN)


def refreshed(
    index: Index,
    sources: Iterable[IndexSource],
    others: bool = True,
    embeds: VectorMaker | None = None,
) -> Changes:
    return asyncio.run(index.refresh(sources, embeds, others))


def ids(index: Index, found: Hits) -> list[str]:
    return [chunk.doc_id for chunk in index.chunks([number for number, _ in found])]


def found(index: Index, *terms: str, most: int = 10, only: Filter | None = None) -> list[str]:
    return ids(index, index.by_words(dict.fromkeys(terms, 1.0), most, only))


class Letters:
    """Embeds a text as how often it has a, b and c; counts the texts."""

    def __init__(self, name: str = "letters", dimensions: int = 3) -> None:
        self.model = VectorModel(name, dimensions, "1" * 64)
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        counts = [[text.count(c) for c in "abcdef"[: self.model.dimensions]] for text in texts]
        rows = np.array(counts, np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
