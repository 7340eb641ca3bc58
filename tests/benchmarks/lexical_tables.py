"""Tables of the offline attester: topics held out, sets of other domains, length of document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trecjudge.evaluation.calibrate.pairs import LabelledPair
from trecjudge.evaluation.calibrate.quality import (
    Measured,
    Predictions,
    accuracy_of_three,
    auc_supported,
    expected_calibration_error,
    interval,
    labels_of,
    value,
)
from trecjudge.inputs.labels import support_label
from trecjudge.inputs.sources.values import objects
from trecjudge.judging.offline.prepared import prepared_text
from trecjudge.judging.offline.support import Calibration, compare
from trecjudge.stats.agreement import auc
from trecjudge.stats.resampling import ratio

if TYPE_CHECKING:  # an earlier checkout, which these tables may be of, has none
    from trecjudge.text.embeddings import Encoder

Floats = NDArray[np.float64]

LENGTHS: dict[str, tuple[int, int]] = {
    "<=300": (0, 300),
    "300-1000": (301, 1000),
    ">1000": (1001, 1 << 62),
}
"""Words of a document, from and to, by the name of the row."""
_FEWEST = 30
_WEIGHTS = {"full_support": 1.0, "partial_support": 0.5, "no_support": 0.0}


@dataclass(frozen=True)
class Judged:
    """Pairs of a set with what was predicted of each."""

    name: str
    pairs: Sequence[LabelledPair]
    found: Predictions

    def part(self, name: str, rows: NDArray[np.bool_]) -> Judged:
        """Return some of the pairs, as a set of their own."""
        found = self.found
        kept = Predictions(
            found.supported[rows], found.full[rows], found.labels[rows], found.topics[rows]
        )
        return Judged(name, [self.pairs[i] for i in np.flatnonzero(rows)], kept)


def auc_full(found: Predictions, weights: Floats) -> Floats:
    """Return the AUC of P(full) for full against the rest."""
    return auc(found.full, found.labels == 1, weights)


def balanced(said: NDArray[np.bool_], true: NDArray[np.bool_], weights: Floats) -> Floats:
    """Return the mean of the shares of both classes that are told rightly."""
    right = said == true
    return (
        ratio(weights @ (right & true), weights @ true)
        + ratio(weights @ (right & ~true), weights @ ~true)
    ) / 2


def _balanced_at(said: Callable[[Predictions], NDArray[np.bool_]]) -> Measured:
    return lambda found, weights: balanced(said(found), found.labels == 1, weights)


COLUMNS: dict[str, Measured] = {
    "AUC full": auc_full,
    "AUC supported": auc_supported,
    "three-way": accuracy_of_three,
    "full? by supported": _balanced_at(lambda found: found.supported >= 0.5),
    "full? by label": _balanced_at(lambda found: labels_of(found) == 1),
    "full? by strict": _balanced_at(lambda found: found.full >= 0.5),
    "error of P(supported)": expected_calibration_error,
}
"""The figures of a row; "full?" is the balanced accuracy for fully supported or not."""


def read_set(path: Path, by: Calibration | None = None, encoder: Encoder | None = None) -> Judged:
    """Return the pairs of a file of group, sentence, document and label, by the shipped weights.

    By those of a calibration where one is given, with an encoder by meaning too.
    """
    pairs, chances = [], []
    for _, record in objects(path, print):
        label = support_label(record["label"])
        assert label is not None, record["label"]
        pair = LabelledPair(
            str(record["group"]), record["sentence"], record["document"], _WEIGHTS[label]
        )
        found = compare(pair.sentence, prepared_text(pair.text), by, encoder)
        pairs.append(pair)
        chances.append((found.probability, found.full))
    supported, full = np.array(chances).T
    labels = np.array([pair.weight for pair in pairs])
    topics = np.array([pair.topic_id for pair in pairs])
    return Judged(path.name.partition(".")[0], pairs, Predictions(supported, full, labels, topics))


def table_lines(sets: Sequence[Judged]) -> Iterator[str]:
    """Yield a table: of each set a row, then one for each length of document."""
    yield "| set | pairs | " + " | ".join(COLUMNS) + " |"
    yield "|---|---|" + "---|" * len(COLUMNS)
    for one in sets:
        yield _line(one, with_interval=True)
        lengths = np.array([len(pair.text.split()) for pair in one.pairs])
        for name, (low, high) in LENGTHS.items():
            rows = (lengths >= low) & (lengths <= high)
            if rows.sum() >= _FEWEST:
                yield _line(one.part(f"{one.name}, {name} words", rows), with_interval=False)


def _line(one: Judged, with_interval: bool) -> str:
    cells = []
    for of in COLUMNS.values():
        whole = value(of, one.found)
        low, high = interval(of, one.found) if with_interval else (None, None)
        cells.append("n/a" if whole is None else f"{whole:.3f}")
        if low is not None:
            cells[-1] += f" ({low:.3f}-{high:.3f})"
    return f"| {one.name} | {len(one.pairs):,} | " + " | ".join(cells) + " |"


def level_lines(one: Judged) -> Iterator[str]:
    """Yield how far P(supported) is off for each topic by itself: pooled, errors cancel out."""
    errors = []
    yield f"level of P(supported), {one.name}: topic, pairs, mean, people, calibration error"
    for topic in np.unique(one.found.topics):
        own = one.part(topic, one.found.topics == topic)
        error = value(expected_calibration_error, own.found)
        assert error is not None
        errors.append(error)
        people = (own.found.labels > 0).mean()
        said = own.found.supported.mean()
        yield f"  {topic:12} {len(own.pairs):5} {said:.3f} {people:.3f} {error:.3f}"
    low, middle, high = np.quantile(errors, (0, 0.5, 1))
    yield f"  median {middle:.3f}, mean {np.mean(errors):.3f}, {low:.3f} to {high:.3f}"
