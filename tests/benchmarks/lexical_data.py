"""The labelled pairs of `fit_lexical.py`, measured for each topic without knowing it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from trecjudge.evaluation.calibrate.calibrate import is_copy, measure_apart
from trecjudge.evaluation.calibrate.pairs import LabelledPair, read_pairs
from trecjudge.judging.offline.features import Measurements
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import apply_rules, shipped_shares
from trecjudge.judging.offline.wording import read_wording
from trecjudge.text.frequencies import TABLE_SIZE, Frequencies

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Odds = Callable[[Floats], Floats]

WEIGHT = {"NONE": 0.0, "PARTIAL": 0.5, "FULL": 1.0}
FEWEST_LABELS = 20
cached_prepare = cache(prepare)


@dataclass(frozen=True)
class Judged:
    """One citation of a run: the text cited (None: no such document) and the human weight."""

    topic: str
    run: str
    sentence: str
    text: str | None
    weight: float


@dataclass(frozen=True)
class Data:
    """The pairs to fit on and the citations of the runs; `runs` have enough of these to rank."""

    pairs: list[LabelledPair]
    judged: list[Judged]
    runs: list[str]


def read_data(folder: Path) -> Data:
    """Read the folder of labels."""
    pairs = [
        pair
        for pair in read_pairs(folder / "pairs.jsonl.gz", print)
        if read_wording(pair.sentence).terms
    ]
    texts = dict(_documents(folder / "runs"))
    rows = map(json.loads, (folder / "labels.jsonl").open(encoding="utf-8"))
    judged = [
        Judged(
            *(row["topic_id"], row["run_id"], row["sentence"]),
            None if row["document_missing"] else texts[row["doc_id"]],
            WEIGHT[row["label"]],
        )
        for row in rows
    ]
    counts = Counter(one.run for one in judged)
    return Data(pairs, judged, sorted(r for r, count in counts.items() if count >= FEWEST_LABELS))


def _documents(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob("*.jsonl")):
        for record in map(json.loads, path.open(encoding="utf-8")):
            for key, document in record["documents"].items():
                title = document.get("title")
                yield key, f"{title}\n{document['text']}" if title else document["text"]


def run_order(
    data: Data,
    values: Floats,
    topics: Sequence[str] | None = None,
    human: Floats | None = None,
) -> float:
    """Return Kendall's tau-b of the runs' mean value over topics with that of the human weights.

    A topic that a run lacks, or on which it cites nothing, counts 0. A topic may be given twice.
    """
    times = Counter(topics) if topics is not None else None
    of_topic: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, one in enumerate(data.judged):
        of_topic[one.run, one.topic].append(index)
    own = np.array([one.weight for one in data.judged]) if human is None else human
    totals: dict[str, Floats] = defaultdict(lambda: np.zeros(2))
    for (run, topic), rows in of_topic.items():
        count = 1 if times is None else times[topic]
        totals[run] += count * np.array([values[rows].mean(), own[rows].mean()])
    columns = np.array([totals[run] for run in data.runs])
    return float(kendalltau(columns[:, 0], columns[:, 1]).statistic)


def latin_table(passages: int, counts: Mapping[str, int]) -> Frequencies:
    """Return the table of the commonest words in Latin letters, as the package ships it."""
    words = {form: count for form, count in counts.items() if form.isascii() and form.isalpha()}
    common = sorted(words, key=lambda form: (-words[form], form))[:TABLE_SIZE]
    return Frequencies.of(passages, {form: words[form] for form in common})


@dataclass(frozen=True)
class Fold:
    """One topic held out: what the others teach, and what is to be judged of it."""

    train: Floats
    train_labels: Floats
    fresh: NDArray[np.bool_]
    """The training pairs that are no copies."""
    pair_rows: Rows
    test_found: list[Measurements]
    test: Floats
    judged_rows: Rows
    judged_found: list[Measurements]
    judged: Floats

    def weighed(
        self, odds: Sequence[Odds], judged_odds: Sequence[Odds] = ()
    ) -> tuple[Floats, Floats]:
        """Return P(supported), P(full) of the topic's pairs, and of its judged citations.

        `judged_odds` are those of the citations where they are others.
        """
        return (
            _chances(self.test, self.test_found, odds),
            _chances(self.judged, self.judged_found, judged_odds or odds),
        )


def _chances(values: Floats, found: Sequence[Measurements], odds: Sequence[Odds]) -> Floats:
    """Return (n, 2) probabilities, after what rules full support out, as the attester has it."""
    if not found:
        return np.zeros((0, 2))
    supported, full = (1 / (1 + np.exp(-of(values))) for of in odds)
    shares = shipped_shares()
    rows = zip(found, supported, full, strict=True)
    both = np.array([apply_rules(*row, shares) for row in rows])
    return both * np.array([[one.passage.weight > 0] for one in found])


def folds(data: Data) -> Iterator[Fold]:
    """Yield every topic held out, all measured by word frequencies of the other topics."""
    cited = [index for index, one in enumerate(data.judged) if one.text]
    judged = [data.judged[index] for index in cited]
    everything = [
        *data.pairs,
        *(LabelledPair(j.topic, j.sentence, j.text or "", 0) for j in judged),
    ]
    topics = np.array([pair.topic_id for pair in everything])
    found, _ = measure_apart(everything, topics.tolist(), latin_table)
    values = np.array([one.features for one in found], dtype=np.float64)
    labels = np.array([pair.weight for pair in everything])
    fresh = np.array([not is_copy(one.features) for one in found])
    is_pair = np.arange(len(everything)) < len(data.pairs)
    for topic in dict.fromkeys(topics.tolist()):
        others = np.flatnonzero(is_pair & (topics != topic))
        own = np.flatnonzero(is_pair & (topics == topic))
        runs = np.flatnonzero(~is_pair & (topics == topic))
        yield Fold(
            *(values[others], labels[others], fresh[others]),
            *(own, [found[i] for i in own], values[own]),
            np.array([cited[i - len(data.pairs)] for i in runs], dtype=np.intp),
            *([found[i] for i in runs], values[runs]),
        )
