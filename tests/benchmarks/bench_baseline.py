"""The success measures of a grounded pipeline, each with its aim, on RAG 2025's labelled runs.

    python tests/benchmarks/bench_baseline.py DIR [--vectors]

`DIR` has `topics.jsonl`, `runs` and `pairs.jsonl.gz`. Two runs are made on its topics: one without
a model, and one by a scripted model that copies the first sentence of a passage and invents each
sixth sentence. Both are judged offline. Times are wall milliseconds, the model's own are none.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
from bench_retrieval import DEEP, SENTENCES, evaluated
from ir_measures import Success
from retrieval_data import Collection, Queries, collection
from table import Row, lines_of

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.fakes import ScriptedModel
from trecjudge import judge
from trecjudge.baseline.freshness import FreshnessAudit, documents_now
from trecjudge.baseline.generate.answers import Answerer
from trecjudge.baseline.generate.formats import RunFacts, format_for
from trecjudge.baseline.generate.runs import RunCounts, answer_all, write_run
from trecjudge.baseline.index.index import Index, make_index
from trecjudge.baseline.index.records import IndexSource, VectorMaker
from trecjudge.baseline.index.vectors import word_vectors
from trecjudge.baseline.retrieve.retriever import IndexRetriever, RetrieverSettings
from trecjudge.baseline.terms import question_of
from trecjudge.findings import Finding
from trecjudge.inputs.provenance import provenance_path, read_provenance
from trecjudge.inputs.topics import read_topics
from trecjudge.models.model import Model, NoModel
from trecjudge.records import Topic
from trecjudge.text.sentences import sentence_spans

FORMAT = format_for("rag25")
SENTENCES_WRITTEN, INVENTED_EACH = 12, 6
AIM_FACTUAL, AIM_HALLUCINATED, AIM_HITS = 0.95, 0.025, 0.80
AIM_RETRIEVAL_MS, AIM_ANSWER_MS, AIM_FRESH_S = 200.0, 800.0, 3600.0
INVENTED = "Nobody has ever measured what the seventh committee of Ruritania decided on this."


@dataclass(frozen=True, slots=True)
class Bench:
    """An index of the passages in a folder, what makes its vectors, topics and sentences."""

    folder: Path
    index: Index
    embeds: VectorMaker | None
    given: Collection
    topics: Mapping[str, Topic]

    def retriever(self) -> IndexRetriever:
        """Return the retriever by default."""
        return IndexRetriever(self.index, RetrieverSettings(), self.embeds)

    def answerer(self, model: Model, lost: Callable[[Finding], None]) -> Answerer:
        """Return what answers as `generate` does by default."""
        return Answerer(self.retriever(), model, FORMAT.track, lost)

    @property
    def where(self) -> str:
        """The file of the index."""
        return str(self.folder / "bench.index")


def ignore(finding: Finding) -> None:
    """Do nothing with a finding."""


def written(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer as a model that copies first sentences, and invents each sixth."""
    sentences = []
    for number, passage in enumerate(inputs["passages"][:SENTENCES_WRITTEN], 1):
        text = passage.partition("] ")[2]
        first = next((text[a:b] for a, b in sentence_spans(text) if b - a > 40), text[:200])
        said = INVENTED if number % INVENTED_EACH == 0 else first
        sentences.append(SimpleNamespace(text=said, passages=[number], quote=said))
    return {"answerable": "yes", "sentences": sentences}


async def made(
    bench: Bench, name: str, model: Model, lost: list[Finding]
) -> tuple[RunCounts, Path]:
    """Write a run on the topics; return what it has, and its file."""
    path = bench.folder / f"{name}.jsonl"
    answerer = bench.answerer(model, lost.append)
    each = answer_all(bench.topics.values(), answerer.answer, model.in_flight)
    time_made = "2026-01-01T00:00:00+00:00"
    facts = RunFacts(name, "bench", name, None, bench.where, time_made)
    return await write_run(each, path, FORMAT, facts), path


def judged(bench: Bench, run: Path) -> Mapping[str, float]:
    """Return the means of a run by the offline judges."""
    documents = bench.folder / "documents.jsonl"
    found = judge(
        run,
        judges=["grounding", "support"],
        topics=bench.folder / "topics.jsonl",
        documents=documents,
    )
    return {one.measure: one.mean for one in found.statistics if one.mean is not None}


def quality(name: str, counts: RunCounts, means: Mapping[str, float]) -> Iterator[Row]:
    """Yield what the judges say of a run."""
    factual, invented = means["FACTUALITY_RATE"], means["HALLUCINATION_RATE"]
    cited = counts.cited / counts.sentences
    yield _share(name, "claims supported", factual, AIM_FACTUAL)
    yield _share(name, "sentences with a citation", cited, 1.0)
    aim = f"< {AIM_HALLUCINATED:.1%}"
    yield Row(name, "hallucination", f"{invented:.1%}", "", aim, invented < AIM_HALLUCINATED)


def _share(part: str, what: str, found: float, least: float) -> Row:
    return Row(part, what, f"{found:.1%}", "", f">= {least:.0%}", found >= least)


async def freshness(bench: Bench, run: Path) -> Iterator[Row]:
    """Return rows on one document that changes: are its citations found, how long it takes."""
    lines = [line for _, line in read_provenance(provenance_path(run), ignore)]
    cited = lines[0].doc_id
    documents = [
        replace(d, text=f"{d.text} It was revised.") if d.doc_id == cited else d
        for d in bench.given.documents
    ]
    begun = time.perf_counter()
    await bench.index.refresh(map(IndexSource, documents), bench.embeds)
    seconds = time.perf_counter() - begun
    audit = FreshnessAudit()
    with documents_now(bench.where, (), ignore) as audit.look_up:
        stale = [basis.line for basis in audit.bases(lines) if basis.is_stale]
    right = [line for line in lines if line.doc_id == cited]
    figure = f"{len(stale)} of {len(right)}"
    count = f"{len(documents):,} documents"
    return iter(
        [
            Row("freshness", "stale citations found", figure, "", "all, no other", stale == right),
            Row("freshness", "refresh, s", f"{seconds:.2f}", count, "< 1 h", seconds < AIM_FRESH_S),
        ]
    )


async def timed(ask: Callable[[Any], Awaitable[object]], asked: Sequence[Any]) -> float:
    """Return the 95th percentile of the milliseconds of one call after another."""
    await ask(asked[0])
    walls = []
    for one in asked:
        begun = time.perf_counter()
        await ask(one)
        walls.append(1000 * (time.perf_counter() - begun))
    return sorted(walls)[min(len(walls) - 1, int(0.95 * len(walls)))]


def _late(part: str, what: str, found: float, count: int, most: float) -> Row:
    return Row(part, what, f"{found:.0f}", f"{count} questions", f"< {most:.0f}", found < most)


async def speed(bench: Bench, tested: Queries) -> list[Row]:
    """Return rows on how good and how fast retrieval is, and on a whole answer."""
    retriever = bench.retriever()
    narratives = [question_of(topic) for topic in bench.topics.values()]
    sentences = list(tested.texts.values())
    ranked = replace(retriever, settings=RetrieverSettings(one_per_document=True))
    hits = (await evaluated(ranked, tested))[str(Success @ 3)]
    rows = [_share("retrieval", f"hit@3 of {SENTENCES} sentences", hits, AIM_HITS)]
    for name, asked in (("topics", narratives), ("sentences", sentences)):
        late = await timed(lambda text: retriever.retrieve(text, DEEP), asked)
        rows.append(_late("retrieval", f"p95 ms, {name}", late, len(asked), AIM_RETRIEVAL_MS))
    questions = [*bench.topics.values(), *(Topic(i, t) for i, t in tested.texts.items())]
    for name, model in (("extractive", NoModel()), ("scripted", ScriptedModel(written))):
        late = await timed(bench.answerer(model, ignore).answer, questions)
        rows.append(_late("end to end", f"p95 ms, {name}", late, len(questions), AIM_ANSWER_MS))
    return rows


async def measured(bench: Bench) -> list[Row]:
    """Return all rows. The judges run in a thread, since they have an event loop of their own."""
    tested = bench.given.sentences.some(list(bench.given.sentences.texts)[:SENTENCES])
    rows, runs = [], []
    for name, model in (("extractive", NoModel()), ("scripted", ScriptedModel(written))):
        lost: list[Finding] = []
        counts, run = await made(bench, name, model, lost)
        rows += quality(name, counts, await asyncio.to_thread(judged, bench, run))
        if lost:
            invented = f"{len(lost)}"
            rows.append(Row(name, "invented sentences left out", invented))
        runs.append(run)
    rows += await speed(bench, tested)
    return [*rows, *await freshness(bench, runs[0])]


async def run(data: Path, folder: Path, with_vectors: bool) -> None:
    """Index the passages, measure, print."""
    given = collection(data)
    topics = read_topics(data / "topics.jsonl", ignore)
    (folder / "topics.jsonl").write_bytes((data / "topics.jsonl").read_bytes())
    with (folder / "documents.jsonl").open("wb") as file:
        for document in given.documents:
            record = {"docid": document.doc_id, "text": document.text}
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    embeds = word_vectors() if with_vectors else None
    with closing(make_index(str(folder / "bench.index"))) as index:
        await index.refresh(map(IndexSource, given.documents), embeds)
        facts = index.facts
        print(f"Python {platform.python_version()}, {facts.documents} documents")
        rows = await measured(Bench(folder, index, embeds, given, topics))
    print("\n".join(lines_of(rows)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--vectors", action="store_true", help="with vectors, as the confidence")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(asked.data, Path(folder), asked.vectors))


if __name__ == "__main__":
    main()
