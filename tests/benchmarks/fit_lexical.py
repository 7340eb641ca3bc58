"""Fit the lexical test of support on human labels and report how good it is on unseen topics.

    python tests/benchmarks/fit_lexical.py --labels DIR [--write]

DIR holds `labels.jsonl`, `runs/`, `human.leaderboard.txt` and `pairs.jsonl.gz`. Every topic is
judged with cuts and weights from the other topics only; word frequencies, which know no label,
are those of all passages, as shipped, and in a second report those of the other topics. With
--write `frequencies.txt` and `calibration.json` of the package are fitted on all topics and
rewritten.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import kendalltau, rankdata

import trecjudge.text
from trecjudge.text.calibration import Calibration
from trecjudge.text.claims import read_claim
from trecjudge.text.frequencies import Frequencies, format_frequencies
from trecjudge.text.lexical import Signals, compare, label_of, prepare, score_of, signals
from trecjudge.text.tokens import tokenize

PACKAGE = Path(trecjudge.text.__file__).parent
WEIGHT = {"NONE": 0.0, "PARTIAL": 0.5, "FULL": 1.0}
LABEL_WEIGHT = {"no_support": 0.0, "partial_support": 0.5, "full_support": 1.0}
TABLE_SIZE = 3000
FEWEST_LABELS = 20
# Fixed before fitting: both coverages count alike, and a contradiction is one step below full.
DOCUMENT_SHARE = 0.5
BELOW_FULL = 0.01

Floats = NDArray[np.float64]
cached_prepare = cache(prepare)


@dataclass(frozen=True)
class Pair:
    """A sentence, the text cited for it (None: no such document), and the human weight."""

    topic: str
    sentence: str
    text: str | None
    weight: float
    run: str = ""


@dataclass(frozen=True)
class Data:
    """The labels of the runs, the pairs to fit on, and the human scores of the runs."""

    judged: list[Pair]
    training: list[Pair]
    human: dict[str, float]

    def passages(self, topics: Collection[str]) -> set[str]:
        """Return the distinct passages of the topics."""
        return {pair.text for pair in self.training if pair.topic in topics and pair.text}


def read_data(folder: Path) -> Data:
    """Read the folder of labels."""
    texts = dict(_documents(folder / "runs"))
    judged = [
        Pair(
            *(row["topic_id"], row["sentence"]),
            None if row["document_missing"] else texts[row["doc_id"]],
            *(WEIGHT[row["label"]], row["run_id"]),
        )
        for row in map(json.loads, (folder / "labels.jsonl").open(encoding="utf-8"))
    ]
    pairs = (folder / "pairs.jsonl.gz").read_bytes()
    training = [
        Pair(row["topic_id"], row["sentence"], row["passage"], WEIGHT[label])
        for row in map(json.loads, gzip.decompress(pairs).splitlines())
        for label in row["labels"]
    ]
    counts = Counter(pair.run for pair in judged)
    human = {}
    for line in (folder / "human.leaderboard.txt").read_text(encoding="utf-8").splitlines():
        run, topic, measure, value = line.split("\t")
        if (topic, measure) == ("all", "WEIGHTED_PRECISION") and counts[run] >= FEWEST_LABELS:
            human[run] = float(value)
    return Data(judged, training, human)


def _documents(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob("*.jsonl")):
        for record in map(json.loads, path.open(encoding="utf-8")):
            for key, document in record["documents"].items():
                title = document.get("title")
                yield key, f"{title}\n{document['text']}" if title else document["text"]


@cache
def _forms(passage: str) -> frozenset[str]:
    return frozenset(token.form for token in tokenize(passage))


def count_frequencies(passages: Collection[str]) -> tuple[int, dict[str, int]]:
    """Return the number of passages and the document frequencies of the commonest words."""
    counts = Counter(form for passage in passages for form in _forms(passage))
    words = {form: count for form, count in counts.items() if form.isascii() and form.isalpha()}
    common = sorted(words, key=lambda form: (-words[form], form))[:TABLE_SIZE]
    return len(passages), {form: words[form] for form in common}


def measure(pairs: Sequence[Pair], frequencies: Frequencies) -> list[Signals]:
    """Return the signals of pairs that have a text and at least one word."""
    return [
        signals(read_claim(pair.sentence, frequencies), cached_prepare(pair.text or ""))
        for pair in pairs
    ]


def fit(found: Sequence[Signals], weights: Floats) -> Calibration:
    """Return cuts under which the labels come as often as the assessors gave them.

    What a missing name takes from the score is the ratio of the coefficients of a logistic
    regression of full support on coverage and missing names, kept at zero or above.
    """
    support = np.array(
        [DOCUMENT_SHARE * s.in_document + (1 - DOCUMENT_SHARE) * s.in_passage for s in found]
    )
    names = np.array([signal.names_missing for signal in found])
    penalty = _name_penalty(support, names, weights == 1.0)
    partial_from = np.quantile(support, np.mean(weights == 0.0))
    full_from = np.quantile(support - penalty * names, np.mean(weights < 1.0))
    return Calibration(
        *(round(float(partial_from), 3), round(float(full_from), 3), DOCUMENT_SHARE),
        *(round(penalty, 3), BELOW_FULL),
    )


def _name_penalty(support: Floats, names: Floats, full: NDArray[np.bool_]) -> float:
    def loss(beta: Floats) -> float:
        z = beta[0] + beta[1] * support - beta[2] * names
        return float(np.mean(np.logaddexp(0, z) - full * z))

    bounds = [(None, None), (0.1, None), (0.0, None)]
    beta = minimize(loss, np.array([-5.0, 8.0, 1.0]), bounds=bounds, method="L-BFGS-B").x
    return float(beta[2] / beta[1])


def held_out(data: Data, *, all_passages: bool) -> tuple[Floats, Floats]:
    """Return score and label weight of every judged pair, fitted without its topic.

    `all_passages`: count word frequencies in the passages of all topics, else of the others.
    """
    scores, labels = np.zeros(len(data.judged)), np.zeros(len(data.judged))
    all_topics = {pair.topic for pair in data.training}
    for topic in sorted({pair.topic for pair in data.judged}):
        others = all_topics - {topic}
        frequencies = Frequencies.of(
            *count_frequencies(data.passages(all_topics if all_passages else others))
        )
        training = [pair for pair in data.training if pair.topic in others]
        weights = np.array([pair.weight for pair in training])
        calibration = fit(measure(training, frequencies), weights)
        rows = [i for i, pair in enumerate(data.judged) if pair.topic == topic and pair.text]
        found = measure([data.judged[i] for i in rows], frequencies)
        for i, signal in zip(rows, found, strict=True):
            scores[i] = score_of(signal, calibration)
            labels[i] = LABEL_WEIGHT[label_of(scores[i], calibration)]
        print(f"  without {topic}: {calibration.partial_from=}, {calibration.full_from=},", end=" ")
        print(f"{calibration.missing_names=}")
    return scores, labels


def shipped(data: Data) -> tuple[Floats, Floats]:
    """Return score and label weight of every judged pair as the package gives them."""
    found = [
        compare(pair.sentence, cached_prepare(pair.text)) if pair.text else None
        for pair in data.judged
    ]
    return (
        np.array([f.score if f else 0.0 for f in found]),
        np.array([LABEL_WEIGHT[f.label] if f else 0.0 for f in found]),
    )


def run_order(data: Data, values: Floats) -> float:
    """Return Kendall's tau-b of the runs' weighted precision with the human one.

    A topic that a run lacks, or on which it cites nothing, counts 0.
    """
    of_topic: dict[tuple[str, str], list[float]] = defaultdict(list)
    for pair, value in zip(data.judged, values, strict=True):
        of_topic[pair.run, pair.topic].append(value)
    totals: dict[str, float] = defaultdict(float)
    for (run, _), topic_values in of_topic.items():
        totals[run] += float(np.mean(topic_values))
    runs = sorted(data.human)
    return float(kendalltau([totals[r] for r in runs], [data.human[r] for r in runs]).statistic)


def auc(scores: Floats, positive: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve."""
    ranks, hits = rankdata(scores), int(positive.sum())
    return float((ranks[positive].sum() - hits * (hits + 1) / 2) / (hits * (len(scores) - hits)))


def report(title: str, data: Data, scores: Floats, labels: Floats) -> dict[str, float]:
    """Print and return the figures."""
    human = np.array([pair.weight for pair in data.judged])
    shown = np.array([pair.text is not None for pair in data.judged])
    figures = {
        "tau_b": run_order(data, labels),
        "tau_b_of_score": run_order(data, scores),
        "auc_supported": auc(scores, human > 0),
        "auc_supported_document_present": auc(scores[shown], human[shown] > 0),
        "auc_full_document_present": auc(scores[shown], human[shown] == 1),
        "agreement_of_three": float(np.mean(labels == human)),
        "mean_weight": float(labels.mean()),
        "mean_weight_human": float(human.mean()),
    }
    print(title, *(f"  {name:31} {value:.3f}" for name, value in figures.items()), sep="\n")
    return figures


def speed(data: Data) -> None:
    """Print how long the judged pairs take, with documents prepared before and on the way."""
    pairs = [pair for pair in data.judged if pair.text]
    begin = time.perf_counter()
    documents = {text: prepare(text) for text in {pair.text for pair in pairs} if text}
    middle = time.perf_counter()
    for pair in pairs:
        compare(pair.sentence, documents[pair.text or ""])
    end = time.perf_counter()
    print(
        f"speed: {len(documents)} documents prepared in {middle - begin:.2f} s, {len(pairs)} pairs"
        f" compared in {end - middle:.2f} s ({len(pairs) / (end - middle):.0f} pairs/s)"
    )


HOW = """\
Set in {when} by tests/benchmarks/fit_lexical.py on the TREC RAG 2025 support labels published by NIST:
{pairs} labels of (sentence, passage) pairs of {topics} topics.
The two cuts are the quantiles at which the three labels come as often as the assessors gave them;
missing_names is the ratio of two coefficients of a logistic regression of full support;
document_share and contradicted_below_full were fixed beforehand.
How good, each of 8 topics judged with cuts and weights from the other topics only:
the order of {runs} runs (of 20 labels or more) by weighted precision has a Kendall tau-b of {tau_b:.3f}
with the assessors' ({tau_b_strict:.3f} with word frequencies from the other topics only, too);
AUC of supported or not {auc_supported:.3f}; same label of three {agreement_of_three:.3f} (assessors: 0.83).
"""  # noqa: E501


def write(data: Data, figures: dict[str, float], when: str) -> None:
    """Fit on all topics and rewrite the package data."""
    topics = {pair.topic for pair in data.training}
    passages, counts = count_frequencies(data.passages(topics))
    weights = np.array([pair.weight for pair in data.training])
    fitted = fit(measure(data.training, Frequencies.of(passages, counts)), weights)
    how = HOW.format(
        **figures,
        pairs=f"{len(data.training):,}",
        topics=len(topics),
        runs=len(data.human),
        when=when,
    )
    content = json.dumps({"how": how.splitlines()} | asdict(fitted), indent=2)
    (PACKAGE / "calibration.json").write_text(content + "\n", encoding="utf-8")
    table = format_frequencies(passages, counts)
    (PACKAGE / "frequencies.txt").write_text(table, encoding="utf-8")
    print(f"written: {fitted}")


def main() -> None:
    """Read the command line, fit, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--labels", type=Path, required=True, metavar="DIR")
    parser.add_argument("--write", action="store_true", help="rewrite the package data")
    parser.add_argument("--when", default=time.strftime("%Y-%m"), help="date noted in the data")
    options = parser.parse_args()
    data = read_data(options.labels)
    figures = report("leave one topic out:", data, *held_out(data, all_passages=True))
    title = "leave one topic out, also for word frequencies:"
    strict = report(title, data, *held_out(data, all_passages=False))
    figures["tau_b_strict"] = strict["tau_b"]
    if options.write:
        write(data, figures, options.when)
        return
    report("as shipped (fitted on these topics):", data, *shipped(data))
    speed(data)


if __name__ == "__main__":
    main()
