"""Measure the citation score: milliseconds a response, beside plain tokenisation of the same text.

    python tests/benchmarks/bench_citation_score.py [--runs DIR --topics FILE]

Invented responses have the size of TREC RAG 2025: 11 sentences of 25 words, 8 documents of 200
words. `new documents`: no document was seen before; `known documents`: all were, as when many runs
answer one topic. Each contender is timed in turn, the median of the rounds counts. Aim: 5 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from invented import WORDS

from trecjudge.findings import FindingLog
from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.inputs.topics import read_topics
from trecjudge.judges.citation_score import CitationScoreJudge, read_cited_text
from trecjudge.judging.offline.wording import wording_of
from trecjudge.models.model import NoModel
from trecjudge.records import Citation, Document, Response, Sentence, Topic

SENTENCES, SENTENCE_WORDS, DOCUMENTS, DOCUMENT_WORDS, TOPIC_WORDS = 11, 25, 8, 200, 40
AIM_MS = 5.0
Pair = tuple[Topic, Response]


def invented(count: int) -> list[Pair]:
    """Return responses that each cite documents of their own."""
    chance = random.Random(7)

    def text(length: int) -> str:
        return " ".join(chance.choices(WORDS, k=length)).capitalize() + "."

    pairs = []
    for number in range(count):
        ids = [f"d{number}-{n}" for n in range(DOCUMENTS)]
        sentences = tuple(
            Sentence(n, text(SENTENCE_WORDS), (Citation(i := ids[n % DOCUMENTS], i),))
            for n in range(SENTENCES)
        )
        documents = {i: Document(i, text(DOCUMENT_WORDS)) for i in ids}
        response = Response("r", str(number), sentences, documents=documents)
        pairs.append((Topic(str(number), text(TOPIC_WORDS)), response))
    return pairs


def real(runs: Path, topics: Path) -> list[Pair]:
    """Return the responses of run files."""
    findings = FindingLog()
    known = read_topics(topics, findings)
    return list(RunReader(find_runs([runs]), findings, topics=known))


def forget() -> None:
    """Empty what is remembered of texts."""
    read_cited_text.cache_clear()
    wording_of.cache_clear()


def judged(pairs: list[Pair]) -> None:
    """Judge every response."""
    judge, model = CitationScoreJudge(), NoModel()

    async def all_of_them() -> None:
        for topic, response in pairs:
            for item in judge.pool(topic, response):
                await judge.judge(item, model)

    asyncio.run(all_of_them())


def tokenised(pairs: list[Pair]) -> None:
    """Count the lower-case words of topic, sentences and cited documents: no stem, no idf."""
    for topic, response in pairs:
        texts = [topic.title, *(s.text for s in response.sentences)]
        texts += [d.full_text for d in response.documents.values()]
        for text in texts:
            Counter(re.findall(r"\w+", text.lower()))


def vectorised(pairs: list[Pair]) -> None:
    """Compare the documents of every response by scikit-learn: redundancy alone."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    for _, response in pairs:
        texts = [d.full_text for d in response.documents.values()]
        if len(texts) > 1:
            vectors = TfidfVectorizer().fit_transform(texts)
            (vectors @ vectors.T).mean()


def has_sklearn() -> bool:
    """Return whether scikit-learn can be imported."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        return False
    return True


def contenders(pairs: list[Pair]) -> dict[str, Callable[[], float]]:
    """Return what is timed, by name; each returns CPU milliseconds a response."""

    def timed(work: Callable[[list[Pair]], None]) -> float:
        started = time.process_time()
        work(pairs)
        return 1000 * (time.process_time() - started) / len(pairs)

    def new() -> float:
        forget()
        return timed(judged)

    found = {
        "plain tokenisation": lambda: timed(tokenised),
        "citation_score, new documents": new,
        "citation_score, known documents": lambda: timed(judged),
    }
    sklearn = {"scikit-learn TfidfVectorizer": lambda: timed(vectorised)} if has_sklearn() else {}
    return found | sklearn


def report(title: str, pairs: list[Pair], rounds: int) -> None:
    """Print a table of one set of responses."""
    sentences = sum(len(r.sentences) for _, r in pairs) / len(pairs)
    documents = sum(len(r.documents) for _, r in pairs) / len(pairs)
    print(f"{title}: {len(pairs)} responses, {sentences:.1f} sentences, {documents:.1f} documents")
    figures: dict[str, list[float]] = {name: [] for name in contenders(pairs)}
    for _ in range(rounds):  # in turn, so that noise of the machine hits all
        for name, contender in contenders(pairs).items():
            figures[name].append(contender())
    baseline = statistics.median(figures["plain tokenisation"])
    for name, values in figures.items():
        median = statistics.median(values)
        aim = f"aim {AIM_MS:.0f} ms: {'met' if median <= AIM_MS else 'missed'}"
        ours = aim if name.startswith("citation_score") else ""
        print(f"  {name:34} {median:6.2f} ms {median / baseline:6.2f} x plain  {ours}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--responses", type=int, default=100, help="at most 120: what is kept")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=Path, help="run files to measure beside the invented ones")
    parser.add_argument("--topics", type=Path, help="their topics")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, CPU time, medians of {options.rounds}")
    report("invented", invented(options.responses), options.rounds)
    if options.runs and options.topics:
        report("real", real(options.runs, options.topics), options.rounds)


if __name__ == "__main__":
    main()
