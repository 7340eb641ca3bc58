"""Set the cuts of judging/offline/relevance.json: scores on the own topic against other topics."""

from __future__ import annotations

import argparse
import itertools
import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from trecjudge.inputs.runs import RunReader, find_runs
from trecjudge.inputs.topics import read_topics
from trecjudge.judging.offline.relevance import Parts, coverage, wanted_terms
from trecjudge.records import Response, Topic

Scores = tuple[list[float], list[float]]
PACKAGED = Path("trecjudge/judging/offline/relevance.json")
UNITS = ("response", "sentence", "document")
PARTS = ("title", "problem_statement", "background", "body")
INPUTS = (  # name, runs, topics
    ("rag", "rag25_support/runs", "rag25_support/topics.jsonl"),
    ("rag24", "runs/rag24", "topics/rag-topics-2024.txt"),
    ("biogen", "runs/biogen", "topics/biogen.topics.json"),
    ("dragun", "runs/dragun", "topics/dragun25.native.jsonl"),
)


def parts(topic: Topic) -> Parts:
    return tuple((n, t) for n in PARTS if (t := getattr(topic, n)))


def units(response: Response) -> Iterator[tuple[str, str]]:
    yield "response", response.text
    yield from (("sentence", s.text) for s in response.sentences if s.text.strip())
    yield from (("document", d.full_text) for d in response.documents.values() if d.text.strip())


def auc(own: Sequence[float], other: Sequence[float]) -> float:
    ranked = sorted([(x, 1) for x in own] + [(x, 0) for x in other])
    total, rank = 0.0, 0
    for _, tied in itertools.groupby(ranked, key=lambda pair: pair[0]):
        flags = [flag for _, flag in tied]
        total += sum(flags) * (rank + (len(flags) + 1) / 2)
        rank += len(flags)
    return (total - len(own) * (len(own) + 1) / 2) / (len(own) * len(other))


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def scores(data: Path, runs: str, topics: str) -> dict[str, Scores]:
    known = read_topics(data / topics, lambda finding: None)
    # Topics of one title are one topic asked for by several readers.
    titles = {t: topic.title for t, topic in known.items()}
    wanted = {t: wanted_terms(parts(topic)) for t, topic in known.items()}
    found: dict[str, Scores] = defaultdict(lambda: ([], []))
    seen = set()
    for topic, response in RunReader(find_runs([data / runs]), lambda finding: None, known):
        for unit, text in units(response):
            if (unit, topic.topic_id, text) in seen:
                continue
            seen.add((unit, topic.topic_id, text))
            # Seeded by the text: documents come in no fixed order.
            chance = random.Random(f"{unit} {topic.topic_id} {text}")
            others = [t for t in known if titles[t] != topic.title]
            own, other = found[unit]
            own.append(coverage(wanted[topic.topic_id], text)[0])
            other.extend(coverage(wanted[t], text)[0] for t in chance.sample(others, 3))
    return found


HOW = """\
Set in {when} by tests/benchmarks/fit_relevance.py, without any human label of relevance: on real
responses, their sentences and the passages that they cite, scored on their own topic and on three
others drawn at random, of {collections}.
Grade 1 begins at the 95 % quantile of the scores on other topics; 2 and 3 begin at the 25 % and
75 % quantile of the scores on the own topic that reach grade 1: of what is on topic a quarter has
1, half 2, a quarter 3, by construction and not because assessors said so. Each collection weighs
alike (the mean of its quantiles).
Separation of own from other topic (AUC): {figures}.
"""


def cuts_of(samples: Sequence[Scores]) -> list[float]:
    """Return where grades 1, 2, 3 begin: the means of the collections' quantiles."""
    found = []
    for own, other in samples:
        first = quantile(other, 0.95)
        on_topic = [score for score in own if score >= first]
        found.append((first, quantile(on_topic, 0.25), quantile(on_topic, 0.75)))
    return [round(sum(column) / len(column), 3) for column in zip(*found, strict=True)]


def shares(values: Sequence[float], cuts: Sequence[float]) -> str:
    """Return the share of each grade."""
    grades = [sum(value >= cut for cut in cuts) for value in values]
    return " ".join(f"{grades.count(g) / len(grades):.3f}" for g in range(4))


def main() -> None:
    """Set the cuts, tell what they make of the data and, if asked, write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--write", action="store_true", help="rewrite the package data")
    parser.add_argument("--when", default=time.strftime("%Y-%m"), help="date noted in the data")
    options = parser.parse_args()
    found = {name: scores(options.data, runs, topics) for name, runs, topics in INPUTS}
    cuts, figures = {}, []
    for unit in UNITS:
        samples = {name: sample[unit] for name, sample in found.items() if unit in sample}
        cuts[unit] = cuts_of(list(samples.values()))
        print(f"{unit}: {cuts[unit]}")
        aucs = {name: auc(*sample) for name, sample in samples.items()}
        figures.append(f"{unit} " + ", ".join(f"{name} {a:.3f}" for name, a in aucs.items()))
        for name, (own, other) in samples.items():
            print(
                f"  {name:8} n {len(own):5}  AUC {aucs[name]:.3f}  grades 0 to 3 on the own topic"
                f" {shares(own, cuts[unit])}  on others {shares(other, cuts[unit])}"
            )
    if options.write:
        names = ", ".join(name for name, _, _ in INPUTS)
        how = HOW.format(when=options.when, collections=names, figures="; ".join(figures))
        text = json.dumps({"how": how.splitlines()} | cuts, indent=2) + "\n"
        PACKAGED.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
