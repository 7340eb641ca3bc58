"""BM25 over posting lists: equal to the formula, whatever was changed, removed and merged."""

from __future__ import annotations

import math
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from trecjudge.baseline.index import postings
from trecjudge.baseline.index.postings import (
    K1,
    MOST_COUNTED,
    B,
    Postings,
    SegmentWriter,
    merge_segments,
    remove_chunks,
)
from trecjudge.baseline.index.sqlite import SqliteStore
from trecjudge.inputs.documents.index_file import TABLES

Texts = Mapping[int, Sequence[str]]
QUERY = {"a": 1.0, "c": 2.0, "zz": 1.0, "missing": 1.0}


@pytest.fixture
def tables() -> Iterator[SqliteStore]:
    database = sqlite3.connect(":memory:")
    for table in TABLES:
        database.execute(table)
    yield SqliteStore(Path("x.index"), database)
    database.close()


def write(tables: SqliteStore, texts: Texts) -> None:
    writer = SegmentWriter(tables)
    for number, terms in texts.items():
        writer.add(number, terms)
    writer.flush()


def by_formula(texts: Texts, query: Mapping[str, float]) -> dict[int, float]:
    mean = sum(map(len, texts.values())) / len(texts)
    scores: Counter[int] = Counter()
    for term, weight in query.items():
        having = sum(term in terms for terms in texts.values())
        idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        for number, terms in texts.items():
            tf = min(terms.count(term), MOST_COUNTED)
            norm = K1 * (1 - B + B * len(terms) / mean)
            scores[number] += weight * idf * tf / (tf + norm)
    return {number: score for number, score in scores.items() if score}


def check(tables: SqliteStore, texts: Texts) -> None:
    held = Postings.of(tables.segments())
    found = held.best(tables, QUERY, 10_000)
    expected = by_formula(texts, QUERY)
    assert dict(found) == pytest.approx(expected)
    assert [score for _, score in found] == sorted((s for _, s in found), reverse=True)
    assert held.best(tables, QUERY, 7) == found[:7]


def random_texts(draw: random.Random, numbers: range) -> dict[int, list[str]]:
    words = ["a", "b", "c", "dd", "zz"]
    return {n: draw.choices(words, [9, 5, 3, 2, 1], k=draw.randint(1, 30)) for n in numbers}


def test_scores_are_those_of_the_formula(tables: SqliteStore) -> None:
    texts = random_texts(random.Random(1), range(300))
    texts[300] = ["a"] * 400
    write(tables, texts)
    check(tables, texts)


@pytest.mark.parametrize("size", [16, 1 << 14], ids=["small segments", "large segments"])
def test_changes_and_merges_leave_no_trace(
    tables: SqliteStore, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "MOST_CHUNKS", size)
    draw = random.Random(2)
    texts: dict[int, Sequence[str]] = {}
    number = 0
    for _ in range(60):
        new = random_texts(draw, range(number, number + draw.randint(0, 20)))
        number += len(new)
        write(tables, new)
        texts |= new
        gone = draw.sample(sorted(texts), min(len(texts) - 1, draw.randint(0, 12)))
        for chunk in gone:
            del texts[chunk]
        remove_chunks(tables, gone)
        merge_segments(tables)
        check(tables, texts)
    kept = [segment for row in tables.segments() for segment in [row.segment]]
    assert len(kept) < 60


def test_all_gone_leaves_nothing(tables: SqliteStore) -> None:
    write(tables, {1: ["a"], 2: ["b"]})
    remove_chunks(tables, [1, 2, 99])
    merge_segments(tables)
    held = Postings.of(tables.segments())
    assert list(tables.segments()) == []
    assert held.best(tables, {"a": 1.0}, 5) == []
    assert held.idf(tables, ["a"]) == {"a": pytest.approx(math.log(2))}


def test_of_equal_scores_the_lower_number_comes_first(tables: SqliteStore) -> None:
    write(tables, {n: ["a", "b"] for n in range(50)})
    found = Postings.of(tables.segments()).best(tables, {"a": 1.0}, 3)
    assert [number for number, _ in found] == [0, 1, 2]


def test_a_chunk_without_a_term_is_kept(tables: SqliteStore) -> None:
    write(tables, {1: [], 2: ["a"]})
    found = Postings.of(tables.segments()).best(tables, {"a": 1.0}, 3)
    assert [number for number, _ in found] == [2]


def test_a_segment_ends_where_it_has_many_terms(
    tables: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "MOST_TERMS", 20)
    texts = {number: [*"abc", *(f"t{number}-{i}" for i in range(9))] for number in range(16)}
    write(tables, texts)
    assert [len(row.chunks) // 8 for row in tables.segments()] == [2] * 8
    check(tables, texts)
    merge_segments(tables)  # one of all would have more terms than are held
    assert len(tables.segments()) == 8
    check(tables, texts)
