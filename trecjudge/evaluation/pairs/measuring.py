"""How good verdicts on pairs are: gathered as they stream by, with bootstrap intervals."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from trecjudge.evaluation.pairs.reading import WEIGHTS, LabelReading, label_scale, read_labels_of
from trecjudge.evaluation.pairs.verdicts import PairVerdict
from trecjudge.findings import Finding, OnFinding
from trecjudge.records import NOTHING_TO_CHECK, Failure, Place
from trecjudge.stats.agreement import (
    DECIMALS,
    BoundedFigure,
    ItemFigure,
    auc_figure,
    balanced_accuracy_figure,
    calibration_error_figure,
    share_figure,
)
from trecjudge.stats.resampling import (
    FEWEST_UNITS,
    NO_INTERVAL,
    SEED,
    Array,
    Indices,
    interval_of,
)

# How good verdicts on pairs are: figures of any number of them, with bootstrap intervals.
Truth = npt.NDArray[np.bool_]

RESAMPLES = 1000
BLOCK = 250_000
"""Counts of pairs that are held at once."""


@dataclass(frozen=True, slots=True)
class PairRows:
    """Judged and labelled pairs, each field of shape (pairs,).

    `human` and `said` are weights of labels (0, 0.5, 1); `supported` and `full` the probabilities,
    NaN where there are none; `owners` the numbers of the groups; `words` of the documents. Those
    not `calibrated` are no probabilities, and order pairs only.
    """

    human: Array
    said: Array
    supported: Array
    full: Array
    owners: Indices
    words: Indices
    calibrated: Truth

    def __len__(self) -> int:
        return len(self.human)

    def where(self, chosen: Truth | Indices) -> PairRows:
        """Return only these rows; places give them in that order."""
        return PairRows(*(getattr(self, column.name)[chosen] for column in fields(self)))

    def in_order(self) -> PairRows:
        """Return the rows, and the numbers of their groups, in an order that values make."""
        values = [self.human, self.said, self.supported, self.full, self.words, self.calibrated]
        order, owners = steady_order(np.column_stack(values), self.owners)
        return replace(self.where(order), owners=owners)


def steady_order(values: Array, owners: Indices) -> tuple[Indices, Indices]:
    """Return the places of rows, (rows, values), in an order that values make; and their groups.

    Neither the names of groups nor the order of a file then decides what is drawn.
    """
    order = np.lexsort((*values.T[::-1], owners))
    starts = np.flatnonzero(np.diff(owners[order], prepend=-1))
    keys = [part.tobytes() for part in np.split(values[order], starts[1:])]
    ranks = np.empty(len(keys), dtype=np.intp)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    ranked = np.repeat(ranks, np.diff(starts, append=len(order)))
    again = np.lexsort((*values[order].T[::-1], ranked))
    return order[again], ranked[again]


FIGURES: Mapping[str, Callable[[PairRows], ItemFigure]] = {
    "AUC, full against the rest": lambda r: auc_figure(r.full, r.human == 1),
    "AUC, supported or not": lambda r: auc_figure(r.supported, r.human > 0),
    "same label of three": lambda r: share_figure(r.human == r.said),
    "balanced accuracy, full": lambda r: balanced_accuracy_figure(r.said == 1, r.human == 1),
    "balanced accuracy, supported": lambda r: balanced_accuracy_figure(r.said > 0, r.human > 0),
    "calibration error, P(full)": lambda r: _of_calibrated(
        r, lambda own: calibration_error_figure(own.full, own.human == 1)
    ),
    "calibration error, P(supported)": lambda r: _of_calibrated(
        r, lambda own: calibration_error_figure(own.supported, own.human > 0)
    ),
}


def _of_calibrated(rows: PairRows, make: Callable[[PairRows], ItemFigure]) -> ItemFigure:
    """Return a figure of the rows with probabilities."""
    figure = make(rows.where(rows.calibrated))
    return lambda counts: figure(counts[:, rows.calibrated])


@dataclass(frozen=True, slots=True)
class PairBin:
    """The figures of some pairs; `over` is what was drawn for the intervals, groups or pairs."""

    name: str
    pairs: int
    groups: int
    over: str
    figures: tuple[BoundedFigure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "name": self.name,
            "pairs": self.pairs,
            "groups": self.groups,
            "intervals_over": self.over,
            "figures": [figure.as_dict() for figure in self.figures],
        }


def bin_figures(name: str, rows: PairRows) -> PairBin:
    """Return the figures of rows; intervals are over groups where there are six, else over pairs.

    Of fewer than six pairs there are none either.
    """
    rows = rows.in_order()
    found = np.unique(rows.owners, return_inverse=True)[1].ravel()
    groups = int(found.max(initial=-1)) + 1
    by_group = groups >= FEWEST_UNITS
    units = found if by_group else np.arange(len(rows))
    figures = [make(rows) for make in FIGURES.values()]
    known = [float(figure(np.ones((1, len(rows))))[0]) for figure in figures]
    drawn = [[figure(counts) for figure in figures] for counts in resampled_counts(units)]
    size = groups if by_group else len(rows)
    intervals = [
        interval_of(np.concatenate(parts), size) for parts in zip(*drawn, strict=True)
    ] or [NO_INTERVAL] * len(figures)
    parts = zip(FIGURES, known, intervals, strict=True)
    return PairBin(
        name,
        len(rows),
        groups,
        "groups" if by_group else "pairs",
        tuple(
            BoundedFigure(n, None, NO_INTERVAL)
            if np.isnan(value)
            else BoundedFigure(n, round(value, DECIMALS), interval)
            for n, value, interval in parts
        ),
    )


def resampled_counts(units: Indices) -> Iterator[Array]:
    """Yield how often each pair counts, (resamples, pairs), in parts that memory holds.

    `units` are the numbers of what is drawn whole, (pairs,).
    """
    size = int(units.max(initial=-1)) + 1
    random = np.random.default_rng(SEED)
    left = RESAMPLES if size >= FEWEST_UNITS else 0
    while left:
        part = min(left, max(1, BLOCK // len(units)))
        drawn = [np.bincount(random.integers(0, size, size), minlength=size) for _ in range(part)]
        yield np.take(np.array(drawn, dtype=np.float64), units, axis=1)
        left -= part


# Verdicts gathered while they stream by, a few numbers each, and their figures.
def numbers_said(
    label: str | None, supported: float | None, full: float | None, calibrated: bool
) -> tuple[float, float, float, float]:
    """Return the weight of a verdict's label, P(supported) and P(full), NaN for None; then 1 or 0.

    The last is whether they are probabilities.
    """
    return (
        WEIGHTS[label or ""],
        np.nan if supported is None else supported,
        np.nan if full is None else full,
        float(calibrated),
    )


def weigh_labels(values: Array, is_number: Truth, scale: float) -> tuple[Array, Truth]:
    """Return the weights of labels of people, and which of them are usable: 0, 0.5 or 1.

    `scale` is the number that stands for full support.
    """
    human = np.where(is_number, values / scale, values)
    return human, np.isin(human, list(WEIGHTS.values()))


FEWEST_PAIRS = 20
"""Labelled pairs of a group that has a row of its own."""
MOST_GROUPS = 50
"""Groups with a row, the largest ones."""
BANDS = (("up to 100 words", 100), ("101 to 300", 300), ("301 to 1,000", 1000))
LONGEST = "over 1,000 words"


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The figures of the verdicts: of all labelled pairs, by group, by length of the document.

    `rest` counts the groups without a row. `numbered` is whether labels were numbers, and `scale`
    the one that was taken for full support.
    """

    whole: PairBin | None
    by_group: tuple[PairBin, ...] = ()
    by_length: tuple[PairBin, ...] = ()
    rest: int = 0
    numbered: bool = False
    scale: float = 1.0

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values; `figures` is null where nothing is labelled."""
        return {
            "figures": self.whole.as_dict() if self.whole else None,
            "by_group": [part.as_dict() for part in self.by_group],
            "groups_without_row": self.rest,
            "by_length": [part.as_dict() for part in self.by_length],
            "full_is": self.scale if self.numbered else None,
        }


@dataclass(slots=True)
class VerdictTally:
    """Counts verdicts, and keeps the numbers of those with a label: no text is held."""

    report: OnFinding
    pairs: int = 0
    labelled: int = 0
    nothing: int = 0
    """Sentences that state nothing which a document could support."""
    withheld: Counter[str] = field(default_factory=Counter)
    """Verdicts without probabilities, by language: the calibration has no labels of it."""
    failures: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Failure] = field(default_factory=dict)
    _groups: dict[str, int] = field(default_factory=dict)
    _numbers: array[float] = field(default_factory=lambda: array("d"))
    """Of each label its value, whether it is a number, and the `numbers_said`."""
    _whole: array[int] = field(default_factory=lambda: array("q"))
    """Of each label the group, the words of the document, and the line."""

    def add(self, verdict: PairVerdict) -> None:
        """Take a verdict; a label that cannot be read is reported."""
        self.pairs += 1
        pair, failure = verdict.pair, verdict.failure
        if failure is not None:
            self.failures[failure.kind] += 1
            self.examples.setdefault(failure.kind, failure)
        read = list(read_labels_of(pair, self.report))
        self.labelled += bool(read)
        self.nothing += verdict.label == NOTHING_TO_CHECK
        if verdict.uncalibrated:
            self.withheld[verdict.language] += 1
        for reading in read if verdict.label in WEIGHTS else ():
            self._keep(verdict, reading)

    def _keep(self, verdict: PairVerdict, reading: LabelReading) -> None:
        chances = verdict.supported, verdict.full, not verdict.uncalibrated
        said = numbers_said(verdict.label, *chances)
        self._numbers.extend((*reading, *said))
        group = self._groups.setdefault(verdict.pair.group, len(self._groups))
        self._whole.extend((group, verdict.words, verdict.pair.place.line or 0))

    def compute_figures(self) -> PairFigures:
        """Return the figures of all that was taken."""
        values, numbered, said, supported, full, calibrated = (
            np.array(self._numbers).reshape(-1, 6).T
        )
        owners, words, lines = np.array(self._whole, dtype=np.intp).reshape(-1, 3).T
        is_number = numbered > 0
        scale = label_scale(set(np.unique(values[is_number]).tolist()))
        human, usable = weigh_labels(values, is_number, scale)
        for line in lines[~usable].tolist():
            message = "label 0.5 where others are 2: give 0, 1, 2 or 0, 0.5, 1"
            self.report(Finding("label_unusable", Place("", line), message))
        rows = PairRows(human, said, supported, full, owners, words, calibrated > 0)
        rows = rows.where(usable)
        if not len(rows):
            return PairFigures(None)
        by_group = self._by_group(rows)
        return PairFigures(
            bin_figures("all", rows),
            by_group,
            tuple(_by_length(rows)),
            len(np.unique(rows.owners)) - len(by_group),
            bool(is_number.any()),
            scale,
        )

    def _by_group(self, rows: PairRows) -> tuple[PairBin, ...]:
        names = list(self._groups)
        return tuple(
            bin_figures(names[owner], rows.where(rows.owners == owner))
            for owner in groups_with_row(rows.owners, names)
        )


def groups_with_row(owners: Indices, names: Sequence[str]) -> list[int]:
    """Return the numbers of the groups that have a row of their own, the largest first.

    None has one where all rows are of one group.
    """
    sizes = Counter(owners.tolist())
    if len(sizes) < 2:
        return []
    largest = sorted(sizes, key=lambda owner: (-sizes[owner], names[owner]))[:MOST_GROUPS]
    return [owner for owner in largest if sizes[owner] >= FEWEST_PAIRS]


def _by_length(rows: PairRows) -> list[PairBin]:
    found, above = [], -1
    for name, most in (*BANDS, (LONGEST, int(rows.words.max()))):
        inside: Truth = (rows.words > above) & (rows.words <= most)
        if inside.any():
            found.append(bin_figures(name, rows.where(inside)))
        above = most
    return found
