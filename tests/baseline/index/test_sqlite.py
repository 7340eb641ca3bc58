"""The index in one SQLite file: refreshed, searched, narrowed, killed, opened by others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from trecjudge.baseline.index.opening import make_index
from trecjudge.baseline.index.protocol import Changes, Index, Source
from trecjudge.records import Document


def source(doc_id: str, text: str, title: str = "", **fields: str) -> Source:
    own = {name: fields.pop(name, "") for name in ("url", "date", "version")}
    return Source(Document(doc_id, text, title, **own), fields)


FOX = source("fox", "The quick brown fox jumps.", "Animals", date="2024-05-03", lang="en")
DOG = source("dog", "Dogs bark at a fox. Dogs sleep.", date="2023", lang="de")
HAN = source("han", "漢字を使う人々。", lang="ja")


def refreshed(index: Index, *sources: Source, others: bool = True) -> Changes:
    return asyncio.run(index.refresh(sources, remove_others=others))


def found(index: Index, *terms: str, most: int = 10) -> list[str]:
    hits = index.by_words(dict.fromkeys(terms, 1.0), most)
    return [chunk.doc_id for chunk in index.chunks([number for number, _ in hits])]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = make_index(str(tmp_path / "x.index"))
    assert refreshed(made, FOX, DOG, HAN) == Changes(added=3, chunks=3)
    yield made
    made.close()


def test_words_are_found_where_they_stand(index: Index) -> None:
    assert found(index, "fox") == ["fox", "dog"]
    assert found(index, "dog") == ["dog"]
    assert found(index, "anim") == ["fox"]  # a word of its title
    assert found(index, "漢字") == ["han"]
    assert found(index, "cat") == []


def test_what_changed_or_went_is_never_found(index: Index) -> None:
    version = index.facts.version
    changes = refreshed(index, FOX, source("dog", "Cats meow."))
    assert changes == Changes(changed=1, removed=1, kept=1, chunks=1)
    assert found(index, "dog") == found(index, "漢字") == []
    assert found(index, "fox") == ["fox"]
    assert found(index, "cat") == ["dog"]
    assert index.document("han") is None
    refreshed(index, FOX, DOG, HAN)
    assert index.facts.version == version
