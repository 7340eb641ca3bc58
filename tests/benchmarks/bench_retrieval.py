"""How good and how fast retrieval is, on passages and labels of RAG 2025.

    python tests/benchmarks/bench_retrieval.py --data DIR --topics DIR [PART ...]

`--data` has runs, topics.jsonl and pairs.jsonl.gz of the support task; `--topics` the topic files
trec_rag_2025_queries.jsonl and ragtime25_main_eng.jsonl. Parts: `methods`, `choices`, `misses`,
`by_judge`, `abstention`, `speed`. Topics are few and everything hits: the 400 sentences are the
test. `choices` compares what was chosen between on other sentences: one half to choose on, one held
out, `--each N` of each. `misses` tells what the misses are, `by_judge` what the offline judge would
add to the order.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import ir_measures
from ir_measures import R, Success, nDCG
from retrieval_data import Collection, Queries, collection
from retrieval_judged import Measured, Order, change, measured, misses_of, ordered_by

from trecjudge.baseline import terms
from trecjudge.baseline.index.index import Index, make_index
from trecjudge.baseline.index.records import IndexSource, VectorMaker
from trecjudge.baseline.index.vectors import word_vectors
from trecjudge.baseline.retrieve import ranking
from trecjudge.baseline.retrieve.retriever import IndexRetriever, RetrieverSettings
from trecjudge.baseline.terms import question_of
from trecjudge.inputs.topics import read_topics
from trecjudge.stats.agreement import separation

SENTENCES = 400
AIM_HITS, AIM_MS, AIM_A_DAY = 0.80, 200.0, 10_000
DEEP = 20
MEASURES = [Success @ 1, Success @ 3, Success @ 10, R @ 20, nDCG @ 10]
Found = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Bench:
    """An index of the documents, what makes its vectors, and the questions."""

    index: Index
    embeds: VectorMaker
    given: Collection
    topics: Path
    each: int | None = None

    def retriever(self, vectors: bool = False, **settings: Any) -> IndexRetriever:
        """Return a retriever; with `vectors` the confidence is by them."""
        dense = vectors or settings.get("method", "bm25") != "bm25"
        chosen = RetrieverSettings(one_per_document=True, **settings)
        return IndexRetriever(self.index, chosen, self.embeds if dense else None)

    @property
    def tested(self) -> Queries:
        """The 400 sentences."""
        return self.given.sentences.some(list(self.given.sentences.texts)[:SENTENCES])

    @property
    def halves(self) -> tuple[Queries, Queries]:
        """The other sentences: those that things were chosen on, and those held out."""
        others = list(self.given.sentences.texts)[SENTENCES:]
        halves = [others[start::2][: self.each] for start in (0, 1)]
        return self.given.sentences.some(halves[0]), self.given.sentences.some(halves[1])


async def evaluated(retriever: IndexRetriever, queries: Queries) -> Found:
    """Return the measures of a retriever, by ir_measures."""
    orders: dict[str, Order] = {}
    for query, text in queries.texts.items():
        passages = (await retriever.retrieve(text, DEEP)).passages
        orders[query] = [p.chunk.doc_id for p in passages]
    return figures_of(orders, queries)


def figures_of(orders: Mapping[str, Order], queries: Queries) -> Found:
    """Return the measures of these orders, by ir_measures."""
    run = {
        query: {doc_id: 1 / rank for rank, doc_id in enumerate(order, 1)}
        for query, order in orders.items()
    }
    found = ir_measures.calc_aggregate(MEASURES, queries.grades, run)
    return {str(measure): value for measure, value in found.items()}


def show(name: str, found: Iterable[Found]) -> None:
    """Print a line of the table."""
    columns = (" ".join(f"{one[str(measure)]:.3f}" for measure in MEASURES) for one in found)
    print(f"{name:<34} | {' | '.join(columns)}", flush=True)


async def methods(bench: Bench) -> None:
    """Print how good each method is on topics and on the 400 sentences."""
    print(f"{'':<34} | hit@1 hit@3 hit@10 recall@20 nDCG@10: topics (11) | sentences (400)")
    settings: Mapping[str, dict[str, Any]] = {
        "bm25": {"closeness": False},
        "bm25 and closeness": {},
        "dense": {"method": "dense"},
        "hybrid, without closeness": {"method": "hybrid", "closeness": False},
        "hybrid": {"method": "hybrid"},
    }
    both = (bench.given.topics, bench.tested)
    with having(terms, REQUEST_WEIGHT=1.0):
        plain = bench.retriever(closeness=False)
        show("bm25, request words count fully", [await evaluated(plain, q) for q in both])
    hits = 0.0
    for name, given in settings.items():
        found = [await evaluated(bench.retriever(**given), queries) for queries in both]
        show(name, found)
        hits = found[1][str(Success @ 3)] if not given else hits
    verdict = "reached" if hits >= AIM_HITS else "missed"
    print(f"hit@3 of bm25 on the sentences: {hits:.3f}; the aim is {AIM_HITS}: {verdict}")


@contextmanager
def having(module: ModuleType, **values: float) -> Iterator[None]:
    """Within it a module has other values of its constants."""
    before = {name: getattr(module, name) for name in values}
    try:
        vars(module).update(values)
        yield
    finally:
        vars(module).update(before)


async def choices(bench: Bench) -> None:
    """Print what was chosen between: on one half of the other sentences, on the half held out."""
    print(f"{'':<34} | chosen on | held out | topics")
    sets = (*bench.halves, bench.given.topics)
    for weight in (0.0, 0.3, 0.6, 1.0):
        with having(terms, REQUEST_WEIGHT=weight):
            retriever = bench.retriever(closeness=False)
            show(f"request words {weight}", [await evaluated(retriever, q) for q in sets])
    for window, pairs in ((0, 0), (0.5, 0), (1, 0), (0, 0.25), (0, 0.5), (0.5, 0.25), (1, 0.5)):
        with having(ranking, WINDOW_WEIGHT=window, PAIRS_WEIGHT=pairs):
            found = [await evaluated(bench.retriever(), queries) for queries in sets]
            show(f"window {window}, pairs {pairs}", found)
    for weight in (0.1, 0.2, 0.3, 0.5, 0.75, 1.0):
        with having(ranking, COSINE_WEIGHT=weight):
            hybrid = bench.retriever(method="hybrid")
            show(f"hybrid, cosine {weight}", [await evaluated(hybrid, q) for q in sets])


async def misses(bench: Bench) -> None:
    """Print what the misses of the default are: of the 400 sentences, and of all."""
    retriever, every = bench.retriever(), bench.given.sentences
    orders = {
        query: [p.chunk.doc_id for p in (await retriever.retrieve(text, DEEP)).passages]
        for query, text in every.texts.items()
    }
    for queries in (bench.tested, every):
        found = misses_of({query: orders[query] for query in queries.texts}, bench.given)
        print(f"{len(queries.texts)} sentences: {found}")


async def by_judge(bench: Bench) -> None:
    """Print what the offline judge's measurements of the first 20 passages would add."""
    retriever, every = bench.retriever(), bench.given.sentences
    rows: dict[str, list[Measured]] = {}
    for query, text in (every.texts | bench.given.topics.texts).items():
        passages = (await retriever.retrieve(text, DEEP)).passages
        rows[query] = measured(text, passages, bench.index)
    before = {query: ordered_by(rows[query], 0, 0) for query in every.texts}
    tested = bench.tested.texts
    others = every.some([query for query in every.texts if query not in tested])
    print(f"{'':<34} | sentences (400) | other sentences | topics (11)")
    for share, number in ((0, 0), (0.25, 0), (0.5, 0), (0.5, 2), (1, 0), (1, 1), (1, 2), (2, 2)):
        after = {query: ordered_by(row, share, number) for query, row in rows.items()}
        sets = (bench.tested, others, bench.given.topics)
        show(
            f"share {share}, a number {number}",
            [figures_of({i: after[i] for i in one.texts}, one) for one in sets],
        )
        for name, ids in (("400", tested), ("all", every.texts)):
            won, lost, p = change({i: before[i] for i in ids}, after, bench.given)
            print(f"    {name}: {won} hits won, {lost} lost, p {p:.3f} by topics")


async def abstention(bench: Bench) -> None:
    """Print how well a confidence tells the 11 topics from topics on other matters."""
    topics = read_topics(bench.topics / "trec_rag_2025_queries.jsonl", lambda finding: None)
    requests = read_topics(bench.topics / "ragtime25_main_eng.jsonl", lambda finding: None)
    inside = [question_of(topics[topic_id]) for topic_id in bench.given.topics.texts]
    groups = {
        "other topics of RAG 2025": [
            question_of(t) for i, t in topics.items() if i not in bench.given.topics.texts
        ],
        "requests of RAGTIME 2025": [question_of(t) for t in requests.values()],
    }
    for name, vectors in (("mean cosine of 20", True), ("top BM25 over idf", False)):
        retriever = bench.retriever(vectors=vectors)

        async def confidences(texts: list[str], of: IndexRetriever = retriever) -> list[float]:
            return [(await of.retrieve(text, 1)).confidence for text in texts]

        known = await confidences(inside)
        for group, texts in groups.items():
            others = await confidences(texts)
            refused = sum(one < min(known) for one in others) / len(others)
            print(
                f"{name} | {group} ({len(others)}): AUC {separation(known, others):.3f},"
                f" {refused:.0%} refused where all 11 are kept; least {min(known):.3f}"
            )


async def speed(bench: Bench) -> None:
    """Print milliseconds a query, wall and CPU."""
    for name, queries in (("topics", bench.given.topics), ("sentences", bench.tested)):
        for label, settings in (
            ("bm25", {"closeness": False}),
            ("default", {}),
            ("hybrid", {"method": "hybrid"}),
        ):
            retriever = bench.retriever(**settings)
            walls, cpu = [], time.process_time()
            for text in queries.texts.values():
                begun = time.perf_counter()
                await retriever.retrieve(text, DEEP)
                walls.append((time.perf_counter() - begun) * 1000)
            each = (time.process_time() - cpu) / len(walls)
            walls.sort()
            late = walls[min(len(walls) - 1, int(0.95 * len(walls)))]
            print(
                f"{label} | {name}: p50 {statistics.median(walls):.1f} ms, p95 {late:.1f} ms"
                f" (aim {AIM_MS:.0f}), {each * 1000:.1f} CPU ms,"
                f" {86400 / each:,.0f} queries a day on a core (aim {AIM_A_DAY:,})"
            )


PARTS: Mapping[str, Callable[[Bench], Any]] = {
    part.__name__: part for part in (methods, choices, misses, by_judge, abstention, speed)
}


async def run(given: argparse.Namespace, folder: Path) -> None:
    """Index the documents and run the parts."""
    held = collection(given.data)
    texts = read_topics(given.topics / "trec_rag_2025_queries.jsonl", lambda finding: None)
    grades = held.topics.grades
    asked = Queries({i: question_of(texts[i]) for i in sorted(grades)}, grades)
    held = replace(held, topics=asked)
    index, embeds = make_index(str(folder / "bench.index")), word_vectors()
    await index.refresh([IndexSource(document) for document in held.documents], embeds)
    facts = index.facts
    print(f"Python {platform.python_version()}, {facts.documents} documents, {facts.chunks} chunks")
    for part in given.parts or PARTS:
        print(f"\n{part}")
        await PARTS[part](Bench(index, embeds, held, given.topics, given.each))
    index.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--topics", type=Path, required=True)
    parser.add_argument("--each", type=int)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(parser.parse_args(), Path(folder)))


if __name__ == "__main__":
    main()
