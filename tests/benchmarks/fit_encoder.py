"""Fit what a sentence encoder adds to the offline attester, and report what it gains.

    python tests/benchmarks/fit_encoder.py --labels DIR [--pairs FILE ...] [--write]

DIR is that of `fit_lexical.py`. Each topic is judged by what the other topics teach, of words and
of meaning. Each FILE of --pairs is judged by weights that were fitted on all topics. With --write
these become "meaning" in `calibration.json` of the package. The extra `encoder` must be installed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from fit_lexical import (
    COLUMNS,
    LIMITS,
    OFFLINE,
    Floats,
    Result,
    by_columns,
    figures_of,
    fit_odds,
    print_difference,
)
from lexical_data import Data, Fold, Odds, folds, read_data
from lexical_tables import auc_full, read_set
from numpy.typing import NDArray

from trecjudge.evaluation.calibrate.calibrate import is_copy, measure, regress
from trecjudge.evaluation.calibrate.quality import Predictions, auc_supported, interval, value
from trecjudge.judging.attest import required_encoder
from trecjudge.judging.offline.meaning import likeness_in
from trecjudge.judging.offline.prepared import prepared_text
from trecjudge.judging.offline.support import (
    Calibration,
    Meaning,
    Stacked,
    format_calibration,
    shipped_calibration,
)
from trecjudge.judging.offline.wording import read_wording
from trecjudge.show.evaluation import figure_text
from trecjudge.show.formats import interval as bounds_text
from trecjudge.show.formats import number, signed


def likenesses(pairs: Sequence[tuple[str, str]]) -> Floats:
    """Return the likeness of the nearest sentence for (sentence, text); NaN where it is None."""
    encoder = required_encoder()
    begin, known = time.process_time(), {}
    for sentence, text in dict.fromkeys(pairs):
        found = likeness_in(read_wording(sentence), prepared_text(text), encoder)
        known[sentence, text] = np.nan if found is None else found
    print(f"{len(known) / (time.process_time() - begin):.0f} pairs a second (CPU)")
    return np.array([known[pair] for pair in pairs])


def fit_stack(words: Floats, likeness: Floats, fresh: NDArray[np.bool_], hit: Floats) -> Stacked:
    """Return the stack of log odds by words, and likeness, for pairs that are no copies."""
    kept = fresh & ~np.isnan(likeness)
    rows = np.column_stack([words, likeness])[kept]
    intercept, weights = regress(rows, hit[kept] > 0, (1, 1))
    return Stacked(intercept, *map(float, weights))


def stacked(stack: Stacked, words: Floats, likeness: Floats) -> Floats:
    """Return the log odds of the stack; those by words where there is no likeness."""
    both = stack.intercept + stack.words * words + stack.likeness * likeness
    return np.where(np.isnan(likeness), words, both)


class ByMeaning:
    """Judges a topic that is held out by words and meaning, fitted on the other topics."""

    def __init__(self, data: Data) -> None:
        cited = [one for one in data.judged if one.text]
        texts = [(pair.sentence, pair.text) for pair in data.pairs]
        found = likenesses([*texts, *((one.sentence, one.text or "") for one in cited)])
        self.pairs, of_cited = np.split(found, [len(texts)])
        self.judged = np.full(len(data.judged), np.nan)
        self.judged[[bool(one.text) for one in data.judged]] = of_cited

    def __call__(self, part: Fold) -> tuple[Floats, Floats]:
        """Return P(supported), P(full) of the topic's pairs, and of its judged citations."""
        others = np.setdiff1d(np.arange(len(self.pairs)), part.pair_rows)
        by_words = [fit_odds(part, COLUMNS, above, plain=False) for above in LIMITS]
        stacks = [
            fit_stack(odds(part.train), self.pairs[others], part.fresh, part.train_labels > above)
            for odds, above in zip(by_words, LIMITS, strict=True)
        ]

        def weigh(rows: NDArray[np.intp], known: Floats) -> list[Odds]:
            return [
                lambda values, odds=odds, stack=stack: stacked(stack, odds(values), known[rows])
                for odds, stack in zip(by_words, stacks, strict=True)
            ]

        of_pairs = weigh(part.pair_rows, self.pairs)
        return part.weighed(of_pairs, weigh(part.judged_rows, self.judged))


def fit_meaning(data: Data, likeness: Floats, by: Calibration) -> Meaning:
    """Return the stacks of all topics, on the log odds of a calibration."""
    rows = [one.features for one in measure(data.pairs, [by.frequencies] * len(data.pairs))]
    fresh = np.array([not is_copy(row) for row in rows])
    words = np.array([by.log_odds(row) for row in rows])
    labels = np.array([pair.weight for pair in data.pairs])
    return Meaning(
        *(
            fit_stack(words[:, at], likeness, fresh, labels > above)
            for at, above in enumerate(LIMITS)
        )
    )


def print_gain(path: Path, by: Calibration) -> None:
    """Print the AUC of a file of pairs by words, and what meaning adds."""
    plain, more = read_set(path, by).found, read_set(path, by, required_encoder()).found
    texts = []
    for name, of in (("full", auc_full), ("supported", auc_supported)):

        def gained(found: Predictions, weights: Floats, of=of) -> Floats:
            return of(more, weights) - of(found, weights)

        bounds = bounds_text(interval(gained, plain), 4, " ({} to {})", "")
        change = f"{signed(value(gained, plain), 4)}{bounds}"
        texts.append(f"AUC {name} {number(value(of, plain), 3)} {change}")
    print(f"  {path.name.partition('.')[0]:23} {', '.join(texts)}")


def main() -> None:
    """Read the command line, fit, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--labels", type=Path, required=True, metavar="DIR")
    parser.add_argument("--pairs", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--write", action="store_true", help="rewrite the package data")
    options = parser.parse_args()
    data = read_data(options.labels)
    parts = list(folds(data))
    judge = ByMeaning(data)
    plain, more = Result(data, parts, by_columns(COLUMNS)), Result(data, parts, judge)
    print("\nby words and meaning, topics held out:")
    for figure in figures_of(data, more):
        print(f"  {figure.name:34} {figure_text(figure)}")
    print("\nwhat meaning adds (difference, 95 % interval over topics):")
    print_difference(data, plain, "TREC, topics held out", more)
    shipped = shipped_calibration()
    fitted = replace(shipped, meaning=fit_meaning(data, judge.pairs, shipped))
    for path in options.pairs:
        print_gain(path, fitted)
    print(fitted.meaning)
    if options.write:
        (OFFLINE / "calibration.json").write_text(format_calibration(fitted), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
