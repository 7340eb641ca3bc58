"""Hold the claim judges against people offline: single claims, and runs on topics held out.

    python tests/benchmarks/claim_agreement.py --labels FOLDER [--pairs FILE ...]

A FILE of pairs is JSONL (gzip or not) of `sentence`, `document` and `label` (FULL, PARTIAL, NONE):
each pair becomes a response of one sentence with one document, and is judged once as claims and
once by the attester. FOLDER is as for `fit_lexical.py`; every topic of its runs is judged by a
calibration of the other topics. The tables say how near the order of the runs is to that of people,
by labels and by expected weights, and how the second moves the runs of judge `citation`.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from fit_lexical import ORDERS
from lexical_data import FEWEST_LABELS, WEIGHT, latin_table
from scipy.stats import kendalltau

from trecjudge import read_runs
from trecjudge.evaluation.calibrate.calibrate import fit, measure_apart
from trecjudge.evaluation.calibrate.pairs import LabelledPair, read_pairs
from trecjudge.judges.attribution import AttributionJudge
from trecjudge.judges.citation import CitationJudge
from trecjudge.judges.faithfulness import FaithfulnessJudge
from trecjudge.judges.grounding import GroundingJudge
from trecjudge.judges.support import SupportJudge
from trecjudge.judging.claims.by_words import LexicalDetector
from trecjudge.judging.claims.search import Library
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import calibration_at, compare, format_calibration
from trecjudge.judging.offline.wording import read_wording
from trecjudge.measures import ranks
from trecjudge.models.model import NoModel
from trecjudge.records import Document, Judgment, Response, Sentence, Topic
from trecjudge.show.formats import interval
from trecjudge.stats.agreement import auc
from trecjudge.stats.resampling import draws, interval_of

PEOPLE: Mapping[str, Mapping[str, float]] = {
    "weighted": WEIGHT,
    "hard": {label: float(weight == 1) for label, weight in WEIGHT.items()},
}
"""What a label of people counts, as the track's weighted and hard measures have it."""
OF_LABEL = {"ATTRIBUTED": 1.0, "yes": 1.0, "supported": 1.0, "AMBIGUOUS": 0.5}
JUDGES: Mapping[str, tuple[type[Any], Mapping[str, Any], Sequence[str]]] = {
    "attribution": (
        AttributionJudge,
        {"facts": False},
        ("CONTRADICTION_RATE", "DOCUMENT_COVERAGE"),
    ),
    "faithfulness": (FaithfulnessJudge, {}, ("HALLUCINATION",)),
    "grounding": (GroundingJudge, {}, ()),
    "citation": (CitationJudge, {}, ()),
    "citation, partial: 0.5": (CitationJudge, {"partial": 0.5}, ()),
    "support": (SupportJudge, {}, ("HARD_PRECISION",)),
}
"""Judges, their settings, and measures to show beside those that have an expected value."""
Column = tuple[str, str]
"""A judge and its measure."""
MOVES = 5
"""Runs that move most, shown."""


def judged(judge: Any, topic: Topic, response: Response) -> list[Judgment]:
    """Return the judgments of a judge without a model on a response."""

    async def every() -> list[Judgment]:
        found: list[Judgment] = []
        for item in judge.pool(topic, response):
            one = await judge.judge(item, NoModel())
            found += one if isinstance(one, list) else [one]
        return found

    return asyncio.run(every())


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file of pairs."""
    reader = gzip.open if path.suffix == ".gz" else open
    with reader(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def of_claims(judgments: Sequence[Judgment]) -> tuple[float, float]:
    """Return the means over claims: the expected weight, else what the label counts; and that."""
    claims = [j for j in judgments if j.claim and j.judged]
    if not claims:
        return 0.0, 0.0
    labels = [OF_LABEL.get(j.label or "", 0.0) for j in claims]
    known = [w if j.expected is None else j.expected for j, w in zip(claims, labels, strict=True)]
    return float(np.mean(known)), float(np.mean(labels))


def single_claims(path: Path) -> None:
    """Print how far both scores tell people's labels apart on pairs."""
    judge, topic = AttributionJudge(facts=False), Topic("t")
    scores: dict[str, list[float]] = defaultdict(list)
    labels, said, numbers = [], Counter[str](), Counter[int]()
    for row in rows(path):
        document = Document("d", row["document"], own=True)
        answer = Response("r", "t", (Sentence(0, row["sentence"], ()),), documents={"d": document})
        found = judged(judge, topic, answer)
        expected, label = of_claims(found)
        attested = compare(row["sentence"], prepare(row["document"]))
        scores["claims, expected"].append(expected)
        scores["claims, labels"].append(label)
        scores["attester, expected"].append(attested.score)
        labels.append(WEIGHT[row["label"]])
        said.update(j.label or "unjudged" for j in found if j.claim)
        said[f"attester {attested.label}"] += 1
        numbers[sum(1 for j in found if j.claim)] += 1
    truth = np.array(labels)
    one = np.ones((1, len(truth)))
    print(f"\n{path.name}: {len(truth)} pairs, {dict(Counter(labels))}; claims {dict(numbers)}")
    print(f"  labels: {dict(said)}")
    for name, values in scores.items():
        array = np.array(values)
        full, some = (auc(array, truth > cut, one)[0] for cut in (0.5, 0.0))
        print(f"  {name:20} AUC full {full:.3f}, full or part {some:.3f}, mean {array.mean():.3f}")


def calibrations(pairs: Sequence[LabelledPair], folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield each topic with a calibration that was fitted on the other topics."""
    for topic in dict.fromkeys(pair.topic_id for pair in pairs):
        others = [pair for pair in pairs if pair.topic_id != topic]
        found, table = measure_apart(others, [pair.topic_id for pair in others], latin_table)
        fitted = fit([one.features for one in found], [pair.weight for pair in others], table)
        path = folder / f"{topic}.json"
        path.write_text(format_calibration(fitted), encoding="utf-8")
        yield topic, path


@dataclass(frozen=True)
class Decided:
    """A claim whose sentence people have labelled, and what words say of it.

    `sure` is what the first detector of `[lexical, llm]` decides, 1 or 0, None where it leaves it.
    """

    run: str
    topic: str
    label: str
    supported: float
    full: float
    sure: float | None


CASCADES: Mapping[str, Any] = {
    "as built": lambda one: one.sure,
    "P < 0.1": lambda one: 0.0 if one.supported < 0.1 else None,
    "P < 0.2": lambda one: 0.0 if one.supported < 0.2 else None,
    "P < 0.3": lambda one: 0.0 if one.supported < 0.3 else None,
    "P < 0.2, full > 0.9": lambda one: _cut(one, 0.2, 0.9),
    "P < 0.2, full > 0.8": lambda one: _cut(one, 0.2, 0.8),
    "P < 0.3, full > 0.6": lambda one: _cut(one, 0.3, 0.6),
}
"""What a first detector may decide of a claim: 1, 0, or None for what it leaves to the next."""


def _cut(one: Decided, below: float, above: float) -> float | None:
    return 0.0 if one.supported < below else 1.0 if one.full > above else None


def cascades(claims: Sequence[Decided]) -> None:
    """Print how many calls a cascade spares, were the model as good as the people, and its loss.

    The loss: how else it orders the runs by the share of claims in fully supported sentences, how
    far that share is off, and what people say where words decide.
    """
    print("\ncascades before a model that answers as the assessors do:")
    whole = _shares(claims, lambda one: None)
    for name, rule in CASCADES.items():
        ours = _shares(claims, rule)
        decided = [(rule(one), one.label) for one in claims if rule(one) is not None]
        tau = kendalltau([whole[r] for r in whole], [ours[r] for r in whole]).statistic
        off = float(np.mean(list(ours.values())) - np.mean(list(whole.values())))
        spared = len(decided) / len(claims)
        print(f"  {name:20} spares {spared:.3f}, tau-b {tau:.3f}, level {off:+.3f}")
        for side, what in ((0.0, "unattributed"), (1.0, "attributed")):
            print(f"    {what}: {dict(Counter(label for own, label in decided if own == side))}")


def _shares(claims: Sequence[Decided], rule: Any) -> dict[str, float]:
    """Return by run the mean over topics of the share of claims attributed."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in claims:
        own = rule(one)
        found[one.run][one.topic].append(float(one.label == "FULL") if own is None else own)
    means = {run: [float(np.mean(v)) for v in own.values()] for run, own in found.items()}
    return {run: float(np.mean(values)) for run, values in means.items()}


def _decided(response: Response, one: Judgment, label: str, calibration: str) -> Decided:
    assert one.claim is not None
    claim, library = one.claim.text, Library.of(response)
    detector = LexicalDetector(calibration=calibration)
    verdict = asyncio.run(detector.verdict(claim, library))
    values = {"ATTRIBUTED": 1.0, "UNATTRIBUTED": 0.0}
    sure = values.get(verdict.label) if detector.is_sure(claim, verdict, library) else None
    support = [
        p.support for p in library.compare_claim(claim, calibration_at(calibration)) if p.support
    ]
    supported = max((found.probability for found in support), default=0.0)
    full = max((found.full for found in support), default=0.0)
    return Decided(response.run_id, response.topic_id, label, supported, full, sure)


@dataclass
class Runs:
    """What people say of the runs and what judges do: values by name, run and topic."""

    human: dict[str, dict[str, dict[str, float]]]
    """By name of the weights: by run and topic."""
    enough: Sequence[str]
    """The runs that have labels enough to be ranked."""
    values: dict[Column, dict[str, dict[str, float]]] = field(default_factory=dict)
    expected: dict[Column, Column] = field(default_factory=dict)
    """By measure of labels: the one that is expected of it."""
    labels: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sentences: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    claims: list[Decided] = field(default_factory=list)

    def add(self, column: Column, run: str, topic: str, value: float | bool | None) -> None:
        """Keep one value; None is in no mean."""
        kept = float("nan") if value is None else float(value)
        self.values.setdefault(column, {}).setdefault(run, {})[topic] = kept

    @property
    def topics(self) -> list[str]:
        """The topics that people labelled, sorted."""
        return sorted({topic for own in self.human["weighted"].values() for topic in own})

    def means(self, of: Mapping[str, Mapping[str, float]], topics: Sequence[str]) -> list[float]:
        """Return the means over topics of the runs that are ranked."""
        return [_mean(of.get(run, {}), topics) for run in self.enough]

    def tau(self, column: Column, people: str, topics: Sequence[str]) -> float:
        """Return the tau-b of the order by a measure with that of people; a topic may be twice."""
        both = (self.means(of, topics) for of in (self.human[people], self.values[column]))
        return float(kendalltau(*both).statistic)

    def orders(self) -> Iterator[str]:
        """Yield a table: the orders by labels and by expected weights, and their difference."""
        topics, drawn = self.topics, draws(len(self.topics), ORDERS).astype(int)
        yield "| judge | labels | tau-b | expected | tau-b | difference | people |"
        yield "|---" * 7 + "|"
        for labels, expected in self.expected.items():
            for people in self.human:
                old, new = (self.tau(column, people, topics) for column in (labels, expected))
                resampled = np.array(
                    [
                        self.tau(expected, people, again) - self.tau(labels, people, again)
                        for counts in drawn
                        if (again := np.repeat(topics, counts).tolist())
                    ]
                )
                bounds = interval(interval_of(resampled, len(topics)), 3, " ({} to {})", "")
                yield (
                    f"| {labels[0]} | {labels[1]} | {old:.3f} | {expected[1]} | {new:.3f} |"
                    f" {new - old:+.3f}{bounds} | {people} |"
                )

    def moves(self, labels: Column, people: str) -> Iterator[str]:
        """Yield how the expected weights of a measure order all runs, and the largest moves."""
        runs = sorted(self.values[labels])
        columns = self.values[labels], self.values[self.expected[labels]], self.human[people]
        old, new, own = ([_mean(of.get(r, {}), self.topics) for r in runs] for of in columns)
        places = [ranks(dict(zip(runs, values, strict=True))) for values in (old, new, own)]
        between, before, after = (
            kendalltau(*pair).statistic for pair in ((old, new), (old, own), (new, own))
        )
        yield f"{len(runs)} runs by {labels[1]}, then by expected weights: tau-b {between:.3f}"
        yield f"with the {people} order of people: before {before:.3f}, after {after:.3f}"
        placed = [(run, [found[run] or 0 for found in places]) for run in runs]
        near = [(abs(o - p), abs(n - p)) for _, (o, n, p) in placed]
        counts = [sum(n < o for o, n in near), sum(n > o for o, n in near)]
        yield f"nearer to the place by people: {counts[0]} runs; further from it: {counts[1]}"
        placed.sort(key=lambda one: -abs(one[1][0] - one[1][1]))
        for run, (o, n, p) in placed[:MOVES]:
            yield f"  {run}: {o} -> {n}, people {p}"

    def report(self) -> None:
        """Print the order and the level of every measure, and what people say of the labels."""
        topics = self.topics
        level = float(np.mean(self.means(self.human["weighted"], topics)))
        print(f"\nruns on topics held out: {len(self.enough)} runs, {len(topics)} topics")
        for column, by_run in self.values.items():
            tau, mean = self.tau(column, "weighted", topics), np.mean(self.means(by_run, topics))
            name = ": ".join(column)
            print(f"  {name:50} tau-b {tau:+.3f}  mean {mean:.3f} (people {level:.3f})")
        print("", *self.orders(), "", sep="\n")
        print(*self.moves(("citation", "CITATION_SUPPORT"), "weighted"), sep="\n")
        for name, counts in self.labels.items():
            print(f"  {name}: {dict(counts)}")
        for name, counts in self.sentences.items():
            print(f"  {name}: {dict(counts)}")


def _mean(values: Mapping[str, float], topics: Sequence[str]) -> float:
    """Return the mean over topics, as a leaderboard has it: a topic that is missing counts 0."""
    return float(np.nanmean([values.get(topic, 0.0) for topic in topics]))


def held_out(folder: Path) -> None:
    """Print how the judges order the runs, each topic judged by a calibration of the others."""
    labels = [json.loads(line) for line in (folder / "labels.jsonl").open(encoding="utf-8")]
    enough = Counter(row["run_id"] for row in labels)
    human = {name: defaultdict[str, dict[str, list[float]]](dict) for name in PEOPLE}
    said: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for row in labels:
        said[row["run_id"], row["topic_id"], row["sentence_index"]].append(row["label"])
        for name, weights in PEOPLE.items():
            own = human[name][row["run_id"]].setdefault(row["topic_id"], [])
            own.append(weights[row["label"]])
    means = {
        name: {r: {t: float(np.mean(w)) for t, w in own.items()} for r, own in found.items()}
        for name, found in human.items()
    }
    runs = Runs(means, sorted(run for run, count in enough.items() if count >= FEWEST_LABELS))
    by_topic: dict[str, list[Response]] = defaultdict(list)
    for response in read_runs(sorted((folder / "runs").glob("*.jsonl")), on_finding=lambda _: None):
        by_topic[response.topic_id].append(response)
    pairs = [
        pair
        for pair in read_pairs(folder / "pairs.jsonl.gz", print)
        if read_wording(pair.sentence).terms
    ]
    with tempfile.TemporaryDirectory() as made:
        for topic, path in calibrations(pairs, Path(made)):
            for response in by_topic[topic]:
                _judge_all(runs, Topic(topic), response, path, said)
    runs.report()
    cascades(runs.claims)


def _judge_all(
    runs: Runs,
    topic: Topic,
    response: Response,
    calibration: Path,
    said: Mapping[tuple[str, str, int], list[str]],
) -> None:
    for name, (judge_class, settings, wanted) in JUDGES.items():
        takes = "calibration" in judge_class.__dataclass_fields__
        own = {"calibration": str(calibration)} if takes else {}
        judge = judge_class(**settings, **own)
        found = judged(judge, topic, response)
        columns = judge.measures.measures
        pairs = {m.expected_of: m.name for m in columns if m.expected_of}
        runs.expected |= {(name, labels): (name, own) for labels, own in pairs.items()}
        for measure in columns:
            if measure.name in (*wanted, *pairs, *pairs.values()):
                value = measure.compute(response, found)
                runs.add((name, measure.name), response.run_id, topic.topic_id, value)
        if name == "attribution":
            for one in found:
                if one.claim:
                    runs.labels["claims"][one.label or "unjudged"] += 1
                    key = response.run_id, topic.topic_id, one.claim.sentence_index
                    for label in said.get(key, ())[:1]:
                        runs.sentences[one.label or "unjudged"][label] += 1
                        if response.run_id in runs.enough and one.judged:
                            runs.claims.append(_decided(response, one, label, str(calibration)))


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--labels", type=Path, metavar="FOLDER")
    parser.add_argument("--pairs", type=Path, nargs="*", default=[], metavar="FILE")
    options = parser.parse_args()
    for path in options.pairs:
        single_claims(path)
    if options.labels:
        held_out(options.labels)


if __name__ == "__main__":
    main()
