"""How good verdicts on pairs are: gathered as they stream by, with bootstrap intervals."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from trecjudge.evaluation.pairs.reading import WEIGHTS, LabelReading, label_scale, read_labels_of
from trecjudge.evaluation.pairs.verdicts import PairVerdict
from trecjudge.findings import Finding, OnFinding
from trecjudge.records import NOTHING_TO_CHECK, Failure, Place
from trecjudge.stats.resampling import (
    FEWEST_UNITS,
    NO_INTERVAL,
    SEED,
    Array,
    Indices,
    Interval,
    interval_of,
)

Truth = npt.NDArray[np.bool_]
Weighted = Callable[[Array], float]
"""How often each pair counts, (pairs,) -> a figure; NaN where it is not defined."""

RESAMPLES = 1000
BINS = 10
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class PairRows:
    """Judged and labelled pairs, each field of shape (pairs,).

    `human` and `said` are weights of labels (0, 0.5, 1); `supported` and `full` the probabilities,
    NaN where there are none; `owners` the numbers of the groups; `words` of the documents.
    """

    human: Array
    said: Array
    supported: Array
    full: Array
    owners: Indices
    words: Indices

    def __len__(self) -> int:
        return len(self.human)

    def where(self, chosen: Truth) -> PairRows:
        """Return only these rows."""
        return PairRows(*(getattr(self, column.name)[chosen] for column in fields(self)))

    def in_order(self) -> PairRows:
        """Return the rows, and the numbers of their groups, in an order that values make.

        Neither the names of groups nor the order of a file then decides what is drawn.
        """
        values = np.column_stack([self.human, self.said, self.supported, self.full, self.words])
        order = np.lexsort((*values.T[::-1], self.owners))
        starts = np.flatnonzero(np.diff(self.owners[order], prepend=-1))
        keys = [part.tobytes() for part in np.split(values[order], starts[1:])]
        ranks = np.empty(len(keys), dtype=np.intp)
        ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        owners = np.repeat(ranks, np.diff(starts, append=len(order)))
        again = np.lexsort((*values[order].T[::-1], owners))
        found = (getattr(self, column.name)[order][again] for column in fields(self))
        human, said, supported, full, _, words = found
        return PairRows(human, said, supported, full, owners[again], words)


def auc(scores: Array, positive: Truth) -> Weighted:
    """Return the chance that a positive has the higher score, tied ones counting half."""
    places = np.unique(scores, return_inverse=True)[1].ravel()
    size = int(places.max(initial=-1)) + 1

    def of(weights: Array) -> float:
        above = np.bincount(places, weights * positive, size)
        others = np.bincount(places, weights * ~positive, size)
        whole = float(above.sum() * others.sum())
        # Half of the ties count as below: they are half right.
        below = np.cumsum(others) - others / 2
        return float(above @ below) / whole if whole else np.nan

    return of if not np.isnan(scores).any() else _nan


def same_label(rows: PairRows) -> Weighted:
    """Return the share of pairs with the label of the person, of three."""
    table = _confusion(rows)

    def of(weights: Array) -> float:
        return float(np.trace(table(weights)) / weights.sum())

    return of


def balanced_accuracy(rows: PairRows, lowest: int) -> Weighted:
    """Return the mean of the shares of positives and of others that are called what they are.

    `lowest` is the grade (1 partial, 2 full) from which a pair is positive.
    """
    table = _confusion(rows)

    def of(weights: Array) -> float:
        counts = table(weights)
        below, above = counts[:lowest], counts[lowest:]
        wholes = float(below.sum()), float(above.sum())
        if not all(wholes):
            return np.nan
        return float(below[:, :lowest].sum() / wholes[0] + above[:, lowest:].sum() / wholes[1]) / 2

    return of


def _confusion(rows: PairRows) -> Callable[[Array], Array]:
    """Return what counts pairs by grade, rows those of people: (pairs,) -> (3, 3)."""
    cells = (rows.human * 6 + rows.said * 2).astype(np.intp)

    def counted(weights: Array) -> Array:
        return np.bincount(cells, weights, 9).astype(np.float64).reshape(3, 3)

    return counted


def calibration_error(chances: Array, positive: Truth) -> Weighted:
    """Return the mean |predicted - observed| over ten bins, by pairs (Guo et al., 2017)."""
    if np.isnan(chances).any():
        return _nan
    places = np.minimum((chances * BINS).astype(np.intp), BINS - 1)
    apart = chances - positive

    def of(weights: Array) -> float:
        sums = np.bincount(places, weights * apart, BINS)
        return float(np.abs(sums).sum() / weights.sum())

    return of


def _nan(weights: Array) -> float:
    return np.nan


FIGURES: Mapping[str, Callable[[PairRows], Weighted]] = {
    "AUC, full against the rest": lambda r: auc(r.full, r.human == 1),
    "AUC, supported or not": lambda r: auc(r.supported, r.human > 0),
    "same label of three": same_label,
    "balanced accuracy, full": lambda r: balanced_accuracy(r, 2),
    "balanced accuracy, supported": lambda r: balanced_accuracy(r, 1),
    "calibration error, P(full)": lambda r: calibration_error(r.full, r.human == 1),
    "calibration error, P(supported)": lambda r: calibration_error(r.supported, r.human > 0),
}


@dataclass(frozen=True, slots=True)
class PairFigure:
    """A figure of all pairs of a part, None where it is not defined, with its 95 % interval."""

    name: str
    value: float | None
    interval: Interval

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        low, high = self.interval.round_to(DECIMALS)
        return {"name": self.name, "value": self.value, "low": low, "high": high}


@dataclass(frozen=True, slots=True)
class PairBin:
    """The figures of some pairs; `over` is what was drawn for the intervals, groups or pairs."""

    name: str
    pairs: int
    groups: int
    over: str
    figures: tuple[PairFigure, ...]

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
    every = np.ones(len(rows))
    known = [figure(every) for figure in figures]
    drawn = np.array([[figure(counts) for figure in figures] for counts in _resamples(units)])
    size = groups if by_group else len(rows)
    intervals = [interval_of(column, size) for column in drawn.T] or [NO_INTERVAL] * len(figures)
    parts = zip(FIGURES, known, intervals, strict=True)
    return PairBin(
        name,
        len(rows),
        groups,
        "groups" if by_group else "pairs",
        tuple(PairFigure(n, _number(v), NO_INTERVAL if np.isnan(v) else i) for n, v, i in parts),
    )


def _resamples(units: Indices) -> Iterator[Array]:
    size = int(units.max(initial=-1)) + 1
    random = np.random.default_rng(SEED)
    for _ in range(RESAMPLES if size >= FEWEST_UNITS else 0):
        drawn = np.bincount(random.integers(0, size, size), minlength=size)
        yield drawn[units].astype(np.float64)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), DECIMALS)


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
    failures: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Failure] = field(default_factory=dict)
    _groups: dict[str, int] = field(default_factory=dict)
    _numbers: array[float] = field(default_factory=lambda: array("d"))
    """Of each label its value, whether it is a number, what was said, and the probabilities."""
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
        for reading in read if verdict.label in WEIGHTS else ():
            self._keep(verdict, reading)

    def _keep(self, verdict: PairVerdict, reading: LabelReading) -> None:
        chances = (np.nan if p is None else p for p in (verdict.supported, verdict.full))
        said = WEIGHTS[verdict.label or ""]
        self._numbers.extend((reading.value, reading.is_number, said, *chances))
        group = self._groups.setdefault(verdict.pair.group, len(self._groups))
        self._whole.extend((group, verdict.words, verdict.pair.place.line or 0))

    def compute_figures(self) -> PairFigures:
        """Return the figures of all that was taken."""
        values, numbered, said, supported, full = np.array(self._numbers).reshape(-1, 5).T
        owners, words, lines = np.array(self._whole, dtype=np.intp).reshape(-1, 3).T
        is_number = numbered > 0
        scale = label_scale(set(np.unique(values[is_number]).tolist()))
        human = np.where(is_number, values / scale, values)
        usable = np.isin(human, list(WEIGHTS.values()))
        for line in lines[~usable].tolist():
            message = "label 0.5 where others are 2: give 0, 1, 2 or 0, 0.5, 1"
            self.report(Finding("label_unusable", Place("", line), message))
        rows = PairRows(human, said, supported, full, owners, words).where(usable)
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
        sizes = Counter(rows.owners.tolist())
        if len(sizes) < 2:
            return ()
        largest = sorted(sizes, key=lambda owner: (-sizes[owner], names[owner]))[:MOST_GROUPS]
        chosen = [owner for owner in largest if sizes[owner] >= FEWEST_PAIRS]
        return tuple(
            bin_figures(names[owner], rows.where(rows.owners == owner)) for owner in chosen
        )


def _by_length(rows: PairRows) -> list[PairBin]:
    found, above = [], -1
    for name, most in (*BANDS, (LONGEST, int(rows.words.max()))):
        inside: Truth = (rows.words > above) & (rows.words <= most)
        if inside.any():
            found.append(bin_figures(name, rows.where(inside)))
        above = most
    return found
