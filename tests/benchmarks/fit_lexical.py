"""Fit the offline attester on human labels and report how good it is on unseen topics.

    python tests/benchmarks/fit_lexical.py --labels DIR [--pairs FILE ...] [--failures N] [--write]

DIR holds `labels.jsonl`, `runs/` and `pairs.jsonl.gz`. Every topic is judged with weights and word
frequencies from the other topics only. Intervals are 95 % bootstraps over topics. With --write
`frequencies.txt` and `calibration.json` of the package are fitted on all topics and rewritten;
what is left of near copies that a document contradicts, which are rare, on the FILES of --pairs
too. With --pairs one table has the topics held out, each FILE (JSONL of group, sentence, document,
label) judged by the shipped weights, and each of them by length of document; with the level of each
topic by itself.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from lexical_contradicted import contradicted_shares
from lexical_data import Data, Fold, folds, latin_table, read_data, run_order
from lexical_tables import Judged, level_lines, read_set, table_lines
from numpy.typing import NDArray

import trecjudge.judging.offline
import trecjudge.text
from trecjudge.evaluation.calibrate.calibrate import (
    SIGNS,
    fit,
    is_copy,
    measure_apart,
    predict,
    regress,
)
from trecjudge.evaluation.calibrate.quality import (
    FIGURES,
    Measured,
    Predictions,
    figures,
    interval,
    labels_of,
    reliability,
    value,
)
from trecjudge.job.process import tune_process
from trecjudge.judging.offline.features import GROUPS, Features
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import (
    compare,
    format_calibration,
    read_calibration,
    shipped_calibration,
)
from trecjudge.judging.offline.wording import SHIPPED
from trecjudge.show.evaluation import figure_text
from trecjudge.stats.agreement import BoundedFigure, auc
from trecjudge.stats.resampling import NO_INTERVAL, draws, interval_of
from trecjudge.text.frequencies import frequency_lines
from trecjudge.text.tokens import tokenize

TEXT = Path(trecjudge.text.__file__).parent
OFFLINE = Path(trecjudge.judging.offline.__file__).parent
ORDERS = 500
"""Resamples of which the order of all runs is worked out."""
COLUMNS = Features._fields

LIMITS = (0.0, 0.5)
"""A weight above the first is support, above the second full support."""

Floats = NDArray[np.float64]


Judging = Callable[[Fold], tuple[Floats, Floats]]
"""Returns P(supported), P(full) of a topic that is held out: of its pairs, and of its runs."""


class Result:
    """Held-out predictions of all pairs, and of the judged runs.

    In the runs a citation without a document has a probability of 0.
    """

    def __init__(self, data: Data, parts: Sequence[Fold], judge: Judging) -> None:
        pairs = np.zeros((len(data.pairs), 2))
        judged = np.zeros((len(data.judged), 2))
        for part in parts:
            pairs[part.pair_rows], judged[part.judged_rows] = judge(part)
        topics = np.array([pair.topic_id for pair in data.pairs])
        labels = np.array([pair.weight for pair in data.pairs])
        self.found = Predictions(pairs[:, 0], pairs[:, 1], labels, topics)
        self.supported = judged[:, 0]
        self.expected = judged.sum(axis=1) / 2
        human = np.array([one.weight for one in data.judged])
        self.labels = labels_of(Predictions(*judged.T, human, human.astype(str)))


def by_columns(columns: Collection[str], plain: bool = False) -> Judging:
    """Return the judging by some of the features.

    `plain` is the usual regression: on copies too, with weights of any sign.
    """
    return lambda part: part.weighed([fit_odds(part, columns, above, plain) for above in LIMITS])


def fit_odds(
    part: Fold, columns: Collection[str], above: float, plain: bool
) -> Callable[[Floats], Floats]:
    """Return the regression of "more than `above`" on the training pairs."""
    used = [index for index, name in enumerate(COLUMNS) if name in columns]
    signs = [0 if plain else SIGNS.get(COLUMNS[i], 0) for i in used]
    kept = part.fresh | plain
    values = part.train[kept][:, used]
    low, high = np.quantile(values, (0.005, 0.995), axis=0)
    positive = part.train_labels[kept] > above
    intercept, weights = regress(np.clip(values, low, high), positive, signs)
    return lambda rows: intercept + np.clip(rows[:, used], low, high) @ weights


def figures_of(data: Data, result: Result) -> list[BoundedFigure]:
    """Return all figures of a result, those of the run order last."""
    found = figures(result.found)
    weights = np.array([one.weight for one in data.judged])
    (cited,) = auc(result.supported, weights > 0, np.ones((1, len(weights)))).tolist()
    found.append(BoundedFigure("AUC supported, all of the runs", cited, NO_INTERVAL))
    topics = len({one.topic for one in data.judged})
    for name, values in (
        ("tau-b of runs, expected weights", result.expected),
        ("tau-b of runs, labels", result.labels),
    ):
        drawn = interval_of(order_draws(data, values), topics)
        found.append(BoundedFigure(name, run_order(data, values), drawn))
    return found


def order_draws(data: Data, values: Floats) -> Floats:
    """Return the run order's tau-b on resampled topics."""
    topics = np.array(sorted({one.topic for one in data.judged}))
    counts = draws(len(topics), ORDERS).astype(int)
    return np.array([run_order(data, values, np.repeat(topics, c).tolist()) for c in counts])


def report(data: Data, parts: Sequence[Fold]) -> Result:
    """Print the headline, the reliability and the ablation; return the headline's result."""
    whole = Result(data, parts, by_columns(COLUMNS))
    rows = {
        "all features": whole,
        "idf coverage alone": Result(data, parts, by_columns(["document"])),
        "all features, copies learnt from, weights of any sign": Result(
            data, parts, by_columns(COLUMNS, plain=True)
        ),
    }
    for title, result in rows.items():
        print(f"\n{title}, topics held out:")
        for figure in figures_of(data, result):
            print(f"  {figure.name:34} {figure_text(figure)}")
    copies = copies_in(parts)
    plain = (~copies)[None].astype(np.float64)
    print(f"\nwithout the {copies.sum()} pairs whose sentence is a copy:")
    for name, of in FIGURES.items():
        print(f"  {name:34} {of(whole.found, plain)[0]:.3f}")
    print("\nreliability: pairs, P(supported), supported by people")
    for part in reliability(whole.found):
        print(f"  {part.pairs:5} {part.predicted:.2f} {part.observed:.2f}")
    print("\nwhat is lost without (difference, 95 % interval over topics):")
    for name, left_out in GROUPS.items():
        without = Result(data, parts, by_columns(set(COLUMNS) - set(left_out)))
        print_difference(data, whole, name, without)
    return whole


def copies_in(parts: Sequence[Fold]) -> NDArray[np.bool_]:
    """Return which of all pairs have a sentence that is a copy."""
    rows = np.concatenate([part.pair_rows for part in parts])
    copies = [is_copy(found.features) for part in parts for found in part.test_found]
    return np.array(copies)[np.argsort(rows)]


def print_difference(data: Data, whole: Result, name: str, other: Result) -> None:
    """Print what `other` gains on `whole`, with 95 % intervals over topics."""
    texts = []
    for of in list(FIGURES.values())[:3]:

        def gained(found: Predictions, weights: Floats, of: Measured = of) -> Floats:
            return of(other.found, weights) - of(found, weights)

        low, high = interval(gained, whole.found)
        within = "n/a" if low is None else f"{low:+.4f} to {high:+.4f}"
        texts.append(f"{value(gained, whole.found):+.4f} ({within})")
    order = run_order(data, other.expected) - run_order(data, whole.expected)
    print(f"  {name:23} AUC {texts[0]}, full/none {texts[1]}, same {texts[2]}, tau {order:+.3f}")


def ceilings(data: Data, whole: Result) -> None:
    """Print what the labels' own noise allows."""
    random = np.random.default_rng(0)
    human = np.array([one.weight for one in data.judged])
    taus = []
    for _ in range(100):
        changed = random.random(len(human)) < 0.17
        other = (human * 2 + random.integers(1, 3, len(human))) % 3 / 2
        taus.append(run_order(data, np.where(changed, other, human)))
    print(f"\npeople against people who differ on 17 % of the labels: tau-b {np.mean(taus):.3f}")
    taus = []
    for _ in range(100):
        draw = random.random(len(human))
        chances = whole.expected
        partial = np.clip(2 * chances, 0, 1), np.clip(2 * chances - 1, 0, 1)
        labels = (draw < partial[0]) * 0.5 + (draw < partial[1]) * 0.5
        taus.append(run_order(data, chances, human=labels))
    print(f"labels drawn from these very probabilities, against them: tau-b {np.mean(taus):.3f}")


def few_labels(data: Data) -> None:
    """Print what some labels of a new topic do for the rest of it, around weights of the others."""
    topics = np.array([pair.topic_id for pair in data.pairs])
    found, table = measure_apart(data.pairs, topics.tolist(), latin_table)
    rows = [pair.features for pair in found]
    labels = [pair.weight for pair in data.pairs]
    random = np.random.default_rng(0)
    changes: dict[int, list[list[float]]] = {50: [], 100: [], 300: []}
    for topic in np.unique(topics):
        others = np.flatnonzero(topics != topic)
        before = fit([rows[i] for i in others], [labels[i] for i in others], table)
        own = random.permutation(np.flatnonzero(topics == topic))
        rest = own[max(changes) :]
        for count, found_changes in changes.items():
            known = own[:count]
            after = fit([rows[i] for i in known], [labels[i] for i in known], table, before)
            was, now = (
                predict([found[i] for i in rest], [labels[i] for i in rest], topics[rest], by)
                for by in (before, after)
            )
            found_changes.append([value(of, now) - value(of, was) for of in FIGURES.values()])
    print("\nlabels of the topic itself (mean change on the rest of it):")
    for count, found_changes in changes.items():
        means = np.mean(found_changes, axis=0)
        shown = (f"{name} {mean:+.3f}" for name, mean in zip(FIGURES, means, strict=True))
        print(f"  {count:3}:", ", ".join(shown))


def failures(data: Data, whole: Result, parts: Sequence[Fold], count: int) -> None:
    """Print the surest mistakes but copies, two a topic and kind at most, to be read one by one."""
    supported, labels, copies = whole.found.supported, whole.found.labels, copies_in(parts)
    kinds = {
        "said supported, people said no": ((labels == 0) & ~copies, -supported),
        "said not supported, people said fully": ((labels == 1) & ~copies, supported),
    }
    for title, (rows, key) in kinds.items():
        print(f"\n{title}:")
        seen: dict[str, int] = {}
        for index in np.argsort(key):
            pair = data.pairs[index]
            if not rows[index] or seen.get(pair.topic_id, 0) >= 2:
                continue
            seen[pair.topic_id] = seen.get(pair.topic_id, 0) + 1
            print(f"- {pair.topic_id} {supported[index]:.2f} {pair.sentence!r}\n  {pair.text!r}")
            if sum(seen.values()) == count:
                break


def speed(data: Data) -> None:
    """Print how many pairs a second are compared, documents prepared on the way."""
    pairs = [(pair.sentence, pair.text) for pair in data.pairs]

    def whole() -> None:
        known = {text: prepare(text) for text in dict.fromkeys(text for _, text in pairs)}
        for sentence, text in pairs:
            compare(sentence, known[text])

    def word_recall() -> None:
        known = {
            t: {token.form for token in tokenize(t)} for t in dict.fromkeys(t for _, t in pairs)
        }
        for sentence, text in pairs:
            forms = {token.form for token in tokenize(sentence)}
            len(forms & known[text]) / max(1, len(forms))

    tune_process()  # as a job has it
    rates = [len(pairs) / min(_seconds(of) for _ in range(3)) for of in (whole, word_recall)]
    print(
        f"\nspeed: {rates[0]:.0f} pairs/s with {len({t for _, t in pairs})} documents prepared on"
        f" the way, {rates[0] / rates[1]:.2f} of plain word recall ({rates[1]:.0f})"
    )


def _seconds(work: Callable[[], None]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


HOW = """\
Set in {when} by tests/benchmarks/fit_lexical.py on the TREC RAG 2025 support labels published by NIST:
{labels} labels of pairs of a sentence and a passage, {topics} topics; {copies} pairs whose sentence is a copy
are in no fit. A weight is what a unit of its feature adds to the log odds of "supported, fully or in part"
and of "fully supported"; one of 0 has no say, or would have the wrong sign. "contradicted" is what people's
labels leave of the probabilities of near copies that a document contradicts, here and in eight public sets.
Each topic judged by weights and word frequencies of the other topics, with 95 % intervals over topics:
{figures}.
"""  # noqa: E501


def write(data: Data, whole: Result, sets: Sequence[Judged], when: str) -> None:
    """Fit on all topics and rewrite the package data."""
    topics = [pair.topic_id for pair in data.pairs]
    found, table = measure_apart(data.pairs, topics, latin_table)
    (TEXT / "frequencies.txt").write_text("\n".join((*frequency_lines(table), "")), "utf-8")
    rows = [pair.features for pair in found]
    how = HOW.format(
        when=when,
        labels=f"{len(rows):,}",
        topics=len(set(topics)),
        copies=sum(map(is_copy, rows)),
        figures="; ".join(f"{f.name} {figure_text(f)}" for f in figures_of(data, whole)),
    ).splitlines()
    fitted = fit(rows, [pair.weight for pair in data.pairs], SHIPPED, how=how)
    before = shipped_calibration()
    kept = before.contradicted
    if sets:
        kept = contradicted_shares([one.pairs for one in sets])
    own = {"contradicted": kept, "meaning": before.meaning, "languages": frozenset({"en"})}
    fitted = replace(fitted, **own)
    (OFFLINE / "calibration.json").write_text(format_calibration(fitted), "utf-8")
    read_calibration(OFFLINE / "calibration.json")
    print(f"written: {OFFLINE / 'calibration.json'}, {TEXT / 'frequencies.txt'}")


def main() -> None:
    """Read the command line, fit, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--labels", type=Path, required=True, metavar="DIR")
    parser.add_argument("--pairs", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--failures", type=int, default=0, help="so many mistakes of each kind")
    parser.add_argument("--write", action="store_true", help="rewrite the package data")
    parser.add_argument("--when", default=time.strftime("%Y-%m"), help="date noted in the data")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, numpy {np.__version__}")
    data = read_data(options.labels)
    parts = list(folds(data))
    whole = report(data, parts)
    ceilings(data, whole)
    few_labels(data)
    speed(data)
    sets: list[Judged] = []
    if options.pairs:
        sets = [Judged("TREC RAG 2025, held out", data.pairs, whole.found)]
        sets += map(read_set, options.pairs)
        print("", *table_lines(sets), "", *level_lines(sets[0]), sep="\n")
    if options.failures:
        failures(data, whole, parts, options.failures)
    if options.write:
        write(data, whole, sets, options.when)


if __name__ == "__main__":
    main()
