"""How fast an index of many chunks is, beside FTS5 of the same SQLite.

    python tests/benchmarks/bench_index.py --data DIR [--chunks 100000] [--vectors]

`DIR` has `topics.jsonl`, `runs` and `pairs.jsonl.gz`. The passages that the runs carry, and those
of the pairs, are repeated with 30 to 80 % of their words replaced until there are enough. Times are
CPU seconds, and wall milliseconds a query; `ratio` is that of FTS5 to ours.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from processes import timed

from trecjudge.baseline.index.index import Index, make_index
from trecjudge.baseline.index.records import IndexSource
from trecjudge.baseline.index.vectors import word_vectors
from trecjudge.baseline.terms import terms
from trecjudge.records import Document

SEED, MOST = 21, 20
NARRATIVE = 60
"""Words of a narrative."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--beside", type=int, default=20, help="queries of FTS5, which is slow")
    parser.add_argument("--vectors", action="store_true")
    given = parser.parse_args()
    passages = list(islice(many(originals(given.data)), given.chunks))
    narratives = some(narratives_of(given.data), given.queries)
    sentences = some(sentences_of(given.data), given.queries)
    print(f"{len(passages)} chunks, {sum(map(len, passages)) / 1e6:.0f} MB of text")
    print(f"{len(narratives)} narratives, {len(sentences)} sentences")
    with tempfile.TemporaryDirectory() as folder:
        theirs = fts5(
            Path(folder) / "fts5.sqlite",
            passages,
            narratives[: given.beside],
            sentences[: given.beside],
        )
        ours = own(Path(folder) / "own.index", passages, narratives, sentences, given.vectors)
    print(f"{'':34} {'FTS5':>10} {'ours':>10} {'ratio':>7}")
    for name, value in ours.items():
        other = theirs.get(name)
        beside = "" if other is None else f"{other:.2f}"
        ratio = "" if other is None else f"{other / value:.2f}"
        print(f"{name:34} {beside:>10} {value:10.2f} {ratio:>7}")


def originals(data: Path) -> list[str]:
    """Return the distinct passages of the pairs and of the runs."""
    found: dict[str, None] = {}
    with gzip.open(data / "pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            found.setdefault(json.loads(line)["passage"])
    for path in sorted((data / "runs").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            for document in json.loads(line).get("documents", {}).values():
                found.setdefault(document["text"])
    return list(found)


def many(passages: Sequence[str]) -> Iterator[str]:
    """Yield passages, then copies of them with words replaced by others of the collection."""
    yield from passages
    draw = random.Random(SEED)
    words = [word for passage in passages for word in passage.split()]
    while True:
        for passage in passages:
            share = draw.uniform(0.3, 0.8)
            parts = re.split(r"(\s+)", passage)
            yield "".join(
                draw.choice(words) if part.strip() and draw.random() < share else part
                for part in parts
            )


def narratives_of(data: Path) -> Iterator[str]:
    lines = (data / "topics.jsonl").read_text(encoding="utf-8").splitlines()
    titles = [json.loads(line)["title"] for line in lines]
    words = " ".join(titles).split()
    for start in range(0, len(words), 7):
        if part := words[start : start + NARRATIVE]:
            yield " ".join(part)


def sentences_of(data: Path) -> Iterator[str]:
    with gzip.open(data / "pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from (json.loads(line)["sentence"] for line in lines)


def some(texts: Iterable[str], count: int) -> list[str]:
    found = list(texts)
    return random.Random(SEED).sample(found, min(count, len(found)))


def queried(ask: Callable[[str], object], **queries: Sequence[str]) -> dict[str, float]:
    rows = {}
    for name, texts in queries.items():
        took = timed(ask, texts)
        rows |= {f"{name} p50 ms": took.p50, f"{name} p95 ms": took.p95}
        rows[f"{name} CPU ms"] = took.cpu
    return rows


def size(path: Path) -> float:
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*")) / 1e6


def fts5(
    path: Path, passages: Sequence[str], narratives: Sequence[str], sentences: Sequence[str]
) -> dict[str, float]:
    """Return the figures of FTS5 with its stemmer; a query is the OR of its words."""
    database = sqlite3.connect(path)
    begun = time.process_time()
    database.execute("CREATE VIRTUAL TABLE chunks USING fts5(text, tokenize = 'porter unicode61')")
    database.executemany("INSERT INTO chunks VALUES (?)", ((text,) for text in passages))
    database.commit()
    rows = {"index CPU s": time.process_time() - begun, "size MB": size(path)}
    query = "SELECT rowid, rank FROM chunks WHERE chunks MATCH ? ORDER BY rank LIMIT ?"

    def ask(text: str) -> object:
        words = dict.fromkeys(re.findall(r"\w+", text.lower()))
        return database.execute(query, (" OR ".join(f'"{w}"' for w in words), MOST)).fetchall()

    rows |= queried(ask, narrative=narratives, sentence=sentences)
    begun_wall = time.perf_counter()
    database.execute("UPDATE chunks SET text = ? WHERE rowid = 7", ("zyzzyva changed",))
    database.commit()
    ask("zyzzyva")
    return rows | {"change of one document ms": 1000 * (time.perf_counter() - begun_wall)}


def own(
    path: Path,
    passages: Sequence[str],
    narratives: Sequence[str],
    sentences: Sequence[str],
    with_vectors: bool,
) -> dict[str, float]:
    """Return the figures of our index, with all its words and the texts fetched."""
    index = make_index(str(path))
    sources = [IndexSource(Document(f"d{n}", text)) for n, text in enumerate(passages)]
    begun = time.process_time()
    asyncio.run(index.refresh(sources))
    rows = {"index CPU s": time.process_time() - begun, "size MB": size(path)}

    def ask(text: str) -> object:
        found = index.by_words(dict.fromkeys(terms(text), 1.0), MOST)
        return index.chunks([number for number, _ in found])

    rows |= queried(ask, narrative=narratives, sentence=sentences)
    rows |= changed(index, sources, ask)
    if with_vectors:
        rows |= with_word_vectors(index, sources, narratives)
    index.close()
    return rows


def changed(
    index: Index, sources: list[IndexSource], ask: Callable[[str], object]
) -> dict[str, float]:
    """Return what it takes to change one document: given by itself, and among all."""
    sources[7] = IndexSource(Document("d7", "zyzzyva changed"))
    begun = time.perf_counter()
    asyncio.run(index.refresh(sources[7:8], remove_others=False))
    assert ask("zyzzyva")
    alone = 1000 * (time.perf_counter() - begun)
    sources[8] = IndexSource(Document("d8", "quagga changed"))
    begun = time.perf_counter()
    asyncio.run(index.refresh(sources))
    assert ask("quagga")
    among = 1000 * (time.perf_counter() - begun)
    walls = []
    for n in range(100):
        begun = time.perf_counter()
        one = IndexSource(Document(f"d{n}", f"zyzzyva{n} {sources[n + 100].document.text}"))
        asyncio.run(index.refresh([one], remove_others=False))
        assert ask(f"zyzzyva{n}")
        walls.append(1000 * (time.perf_counter() - begun))
    return {
        "change of one document ms": alone,
        "one of 100 changes, p50 ms": sorted(walls)[50],
        "one of 100 changes, max ms": max(walls),
        "refresh of all, one changed ms": among,
    }


def with_word_vectors(
    index: Index, sources: Sequence[IndexSource], narratives: Sequence[str]
) -> dict[str, float]:
    """Return the figures of vectors of the package `wordllama`."""
    embeds = word_vectors()
    begun = time.process_time()
    asyncio.run(index.refresh(sources, embeds))
    rows = {"vectors CPU s": time.process_time() - begun}

    def ask(text: str) -> object:
        return index.by_vector(asyncio.run(embeds.embed([text]))[0], MOST)

    return rows | queried(ask, vector=narratives)


if __name__ == "__main__":
    main()
