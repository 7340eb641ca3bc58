"""How fast vectors are found in PostgreSQL with pgvector, beside numpy in the same run.

    python tests/benchmarks/bench_pgvector.py [--chunks 100000] [--dimensions 256]

A PostgreSQL of the package `pgserver` is started, or `--url` names one. Vectors are invented:
unit vectors around 1,000 centres, queries near some of them. `ratio` is ours to numpy, which
multiplies a matrix in memory. The last column is the share of numpy's first 20 that is found.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# Threads on shared cores stall; both sides have one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from processes import Timing, timed

from trecjudge.baseline.index.index import Index, make_index
from trecjudge.baseline.index.postgres import PostgresStore
from trecjudge.baseline.index.records import Filter, IndexSource, VectorModel
from trecjudge.records import Document

SEED, MOST, CENTRES = 21, 20, 1000
FIFTH = Filter({"tenth": ["0", "1"]})
HUNDREDTH = Filter({"percent": ["7"]})


class Given:
    """Embeds texts that are numbers of rows."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.model = VectorModel("given", rows.shape[1], "")

    async def embed(self, texts: Sequence[str]) -> Any:
        return self.rows[[int(text.split()[0]) for text in texts]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--url", default="")
    given = parser.parse_args()
    rng = np.random.default_rng(SEED)
    centres = rng.standard_normal((CENTRES, given.dimensions))
    rows = near(rng, centres, given.chunks + 1)
    queries = near(rng, centres, given.queries)
    with contextlib.ExitStack() as stack:
        url = given.url or stack.enter_context(server())
        index = make_index(f"{url}{'&' if '?' in url else '?'}index=bench")
        assert isinstance(index.store, PostgresStore)
        stack.callback(index.close)
        compare(index, rows, queries)


def near(rng: np.random.Generator, centres: Any, count: int) -> Any:
    """Return unit vectors near the centres."""
    found = centres[rng.integers(len(centres), size=count)]
    found = found + rng.standard_normal(found.shape)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


@contextlib.contextmanager
def server() -> Iterator[str]:
    import pgserver

    folder = Path(tempfile.mkdtemp(prefix="bench-pg"))
    folder.chmod(0o755)
    running = pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        yield running.get_uri()
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def compare(index: Index, rows: Any, queries: Any) -> None:
    embeds, count = Given(rows), len(rows) - 1
    sources = [
        IndexSource(
            Document(f"d{n}", f"{n} of many"), {"tenth": f"{n % 10}", "percent": f"{n % 100}"}
        )
        for n in range(count)
    ]
    print(f"{count} vectors of {rows.shape[1]} numbers, {len(queries)} queries, first {MOST}")
    build("documents and words", index, sources, None)
    build("vectors", index, sources, embeds)
    held = rows[:count]
    numpy = timed(lambda query: nearest(held, query, np.ones(count, bool)), queries)
    print(f"{'':34}{'p50 ms':>9}{'p95 ms':>9}{'ratio':>8}{'found':>8}")
    print(f"{'numpy':34}{numpy.p50:9.2f}{numpy.p95:9.2f}{1:8.2f}{1:8.3f}")
    searches(index, held, queries, numpy, "each looked at")
    changed("each looked at", index, sources, embeds)
    assert isinstance(index.store, PostgresStore)
    index.store.most_looked_at = 1000
    build("approximate index", index, sources, embeds)
    searches(index, held, queries, numpy, "approximate")
    changed("approximate", index, sources, embeds)


def build(name: str, index: Index, sources: list[IndexSource], embeds: Given | None) -> None:
    begun, cpu = time.perf_counter(), time.process_time()
    asyncio.run(index.refresh(sources, embeds))
    walls, cpus = time.perf_counter() - begun, time.process_time() - cpu
    print(f"{name}: {walls:.1f} s, of them {cpus:.1f} CPU s in this process")


def searches(index: Index, rows: Any, queries: Any, numpy: Timing, name: str) -> None:
    numbers = np.arange(len(rows))
    tenths, percents = np.isin(numbers % 10, (0, 1)), numbers % 100 == 7
    filtered = {
        "": (None, numpy.found),
        ", 20 % kept": (FIFTH, [nearest(rows, query, tenths) for query in queries]),
        ", 1 % kept": (HUNDREDTH, [nearest(rows, query, percents) for query in queries]),
    }
    for more, (only, wanted) in filtered.items():
        ours = timed(lambda query, only=only: index.by_vector(query, MOST, only), queries)
        got = [{number for number, _ in hits} for hits in ours.found]
        share = np.mean([len(own & theirs) / MOST for own, theirs in zip(got, wanted, strict=True)])
        assert min(map(len, got)) == MOST
        print(
            f"{name + more:34}{ours.p50:9.2f}{ours.p95:9.2f}{ours.p50 / numpy.p50:8.2f}{share:8.3f}"
        )


def nearest(rows: Any, query: Any, kept: Any) -> set[int]:
    scores = np.where(kept, rows @ query, -2)
    return set(np.argpartition(-scores, MOST)[:MOST].tolist())


def changed(name: str, index: Index, sources: list[IndexSource], embeds: Given) -> None:
    """Print how long it takes until a changed document is found."""
    other = IndexSource(Document("other", f"{len(sources)} of many"))
    begun = time.perf_counter()
    asyncio.run(index.refresh([other], embeds, remove_others=False))
    hits = index.by_vector(embeds.rows[len(sources)], 1)
    seen = index.chunks([hits[0][0]])[0].doc_id == "other"
    print(f"{name}: a new document is seen: {seen}, {1000 * (time.perf_counter() - begun):.0f} ms")


if __name__ == "__main__":
    main()
