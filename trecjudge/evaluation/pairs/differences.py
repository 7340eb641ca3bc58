"""Two runs on the same pairs beside each other: paired differences, with bootstrap intervals."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from trecjudge.errors import InputError
from trecjudge.evaluation.pairs.earlier import EarlierVerdicts, VerdictLine
from trecjudge.evaluation.pairs.measuring import (
    FIGURES,
    PairRows,
    Truth,
    groups_with_row,
    numbers_said,
    resampled_counts,
    steady_order,
    weigh_labels,
)
from trecjudge.evaluation.pairs.reading import LabelReading, label_scale
from trecjudge.findings import brief
from trecjudge.records import NOTHING_TO_CHECK
from trecjudge.stats.agreement import DECIMALS, ItemFigure, brier_figure
from trecjudge.stats.resampling import NO_INTERVAL, Array, Indices, Interval, interval_of

FEWEST_GROUPS = 10
"""Of fewer groups the pairs are drawn: a difference is small, and a group moves it much."""


class ComparedFigure(NamedTuple):
    """A figure that two runs are compared by, and the probability that it needs, if any.

    `calibrated`: it needs more of that than the order.
    """

    of: Callable[[PairRows], ItemFigure]
    chance: str = ""
    lower_is_better: bool = False
    calibrated: bool = False


COMPARED: Mapping[str, ComparedFigure] = {
    "AUC, full against the rest": ComparedFigure(FIGURES["AUC, full against the rest"], "full"),
    "AUC, supported or not": ComparedFigure(FIGURES["AUC, supported or not"], "supported"),
    "same label": ComparedFigure(FIGURES["same label of three"]),
    "balanced accuracy, full": ComparedFigure(FIGURES["balanced accuracy, full"]),
    "Brier score, P(supported)": ComparedFigure(
        lambda r: brier_figure(r.supported, r.human > 0),
        chance="supported",
        lower_is_better=True,
        calibrated=True,
    ),
    "calibration error, P(supported)": ComparedFigure(
        FIGURES["calibration error, P(supported)"],
        chance="supported",
        lower_is_better=True,
        calibrated=True,
    ),
}


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A figure of this run and of the other on the same `labels`, and this minus other.

    None is what is not defined. `labels` are fewer where a probability is missing on either side.
    """

    name: str
    labels: int
    this: float | None
    other: float | None
    difference: float | None
    interval: Interval

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values, with DECIMALS."""
        low, high = self.interval.round_to(DECIMALS)
        return {
            "name": self.name,
            "labels": self.labels,
            "this": _round(self.this),
            "other": _round(self.other),
            "difference": _round(self.difference),
            "low": low,
            "high": high,
            "lower_is_better": COMPARED[self.name].lower_is_better,
        }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)


@dataclass(frozen=True, slots=True)
class DifferenceBin:
    """The differences on some labels; `over` is what was drawn for intervals, groups or pairs."""

    name: str
    labels: int
    groups: int
    over: str
    figures: tuple[PairedDifference, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "name": self.name,
            "labels": self.labels,
            "groups": self.groups,
            "intervals_over": self.over,
            "figures": [figure.as_dict() for figure in self.figures],
        }


class _Paired(NamedTuple):
    """A figure of both sides, on the rows that have what it needs."""

    rows: Truth
    this: ItemFigure
    other: ItemFigure

    @classmethod
    def of(cls, figure: ComparedFigure, this: PairRows, other: PairRows) -> _Paired:
        rows: Truth = np.ones(len(this), dtype=np.bool_)
        if figure.chance:
            for side in (this, other):
                rows &= ~np.isnan(getattr(side, figure.chance))
                rows &= side.calibrated | (not figure.calibrated)
        return cls(rows, *(figure.of(side.where(rows)) for side in (this, other)))

    def values(self, counts: Array) -> tuple[Array, Array]:
        """Return the figure of either side: (resamples, rows) -> (resamples,) twice."""
        own = counts if self.rows.all() else counts[:, self.rows]
        return self.this(own), self.other(own)


def compare_rows(name: str, this: PairRows, other: PairRows) -> DifferenceBin:
    """Return the differences of two runs on the same rows; both sides are drawn together.

    Intervals are over groups where there are FEWEST_GROUPS, else over pairs.
    """
    values = [this.human, *(column for both in _said_by(this, other) for column in both)]
    order, owners = steady_order(np.column_stack(values), this.owners)
    this, other = this.where(order), other.where(order)
    groups = len(np.unique(owners))
    by_group = groups >= FEWEST_GROUPS
    units = owners if by_group else np.arange(len(this))
    paired = [_Paired.of(figure, this, other) for figure in COMPARED.values()]
    drawn: list[list[Array]] = [[] for _ in paired]
    # Runs that say the same differ by 0 in every resample, which makes no interval.
    is_same = all(np.array_equal(a, b, equal_nan=True) for a, b in _said_by(this, other))
    for counts in () if is_same else resampled_counts(units):
        for parts, figure in zip(drawn, paired, strict=True):
            parts.append(np.subtract(*figure.values(counts)))
    size = groups if by_group else len(this)
    return DifferenceBin(
        *(name, len(this), groups, "groups" if by_group else "pairs"),
        tuple(map(_difference, COMPARED, paired, drawn, [size] * len(paired))),
    )


def _said_by(this: PairRows, other: PairRows) -> Iterator[tuple[Array, Array]]:
    """Yield what either run says: labels, P(supported), P(full)."""
    yield from (
        (this.said, other.said),
        (this.supported, other.supported),
        (this.full, other.full),
    )


def _difference(name: str, paired: _Paired, drawn: list[Array], size: int) -> PairedDifference:
    labels = int(paired.rows.sum())
    this, other = (float(side[0]) for side in paired.values(np.ones((1, len(paired.rows)))))
    if np.isnan(this) or np.isnan(other):
        return PairedDifference(name, labels, None, None, None, NO_INTERVAL)
    interval = interval_of(np.concatenate(drawn), size) if drawn else NO_INTERVAL
    return PairedDifference(name, labels, this, other, this - other, interval)


# Verdicts of this run beside those of the other, gathered while they stream by.
NOT_COMPARED: Mapping[str, str] = {
    "only_this": "the other file has no verdict on them",
    "only_other": "only the other file has them",
    "other_texts": "their id has other texts in the other file",
    "other_labels": "people's labels are others in the other file",
    "unjudged_this": "unjudged here",
    "unjudged_other": "unjudged in the other file",
    "unjudged_both": "unjudged in both",
    "nothing_to_check": "nothing to check, here or in the other file",
    "without_label": "without a label of people",
}
"""Why pairs are in no difference: the first reason that holds counts."""


@dataclass(frozen=True, slots=True)
class VerdictDifferences:
    """How two runs differ; `compared` pairs are judged by both and labelled.

    Of them `changed` have another label now. `by_file` is there for several files that are not the
    groups, `rest` counts the groups without a row. `by_line` is whether some pairs of the other
    file are known by nothing but their line.
    """

    path: str
    compared: int
    changed: int
    not_compared: Mapping[str, int]
    by_line: bool
    whole: DifferenceBin | None = None
    by_group: tuple[DifferenceBin, ...] = ()
    by_file: tuple[DifferenceBin, ...] = ()
    rest: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values; `differences` is null where nothing can be compared."""
        return {
            "file": self.path,
            "compared": self.compared,
            "label_changed": self.changed,
            "not_compared": dict(self.not_compared),
            "matched_by_line": self.by_line,
            "differences": self.whole.as_dict() if self.whole else None,
            "by_group": [part.as_dict() for part in self.by_group],
            "groups_without_row": self.rest,
            "by_file": [part.as_dict() for part in self.by_file],
        }


@dataclass(slots=True)
class VerdictComparison:
    """Pairs the verdicts of this run with earlier ones, and keeps a few numbers of each pair."""

    earlier: EarlierVerdicts
    found: int = 0
    changed: int = 0
    compared: int = 0
    _first: VerdictLine | None = None
    _reasons: Counter[str] = field(default_factory=Counter)
    _groups: dict[str, int] = field(default_factory=dict)
    _files: dict[str, tuple[int, set[LabelReading]]] = field(default_factory=dict)
    """The number of each file, and the labels that it has."""
    _numbers: array[float] = field(default_factory=lambda: array("d"))
    """Of each label its value, whether it is a number, and the `numbers_said` of both runs."""
    _owners: array[int] = field(default_factory=lambda: array("q"))
    """Of each label the group and the file."""

    def add(self, own: VerdictLine, file: str) -> None:
        """Take a verdict of this run, on a pair of a file."""
        self._first = self._first or own
        readings = own.readings()
        file_number, labels = self._files.setdefault(file, (len(self._files), set()))
        labels.update(readings)
        found = self.earlier.find(own)
        if found is None:
            self._reasons["only_this"] += 1
            return
        if not found.same_texts:
            self._reasons["other_texts"] += 1
            return
        self.found += 1
        other = found.verdict
        if reason := _why_not_compared(own, other, readings):
            self._reasons[reason] += 1
            return
        self.compared += 1
        self.changed += own.label != other.label
        group = self._groups.setdefault(own.group, len(self._groups))
        for reading in readings:
            self._numbers.extend((*reading, *_said(own), *_said(other)))
            self._owners.extend((group, file_number))

    def compute_differences(self) -> VerdictDifferences:
        """Return the differences on all that was taken.

        Raises InputError where the files have no pair in common.
        """
        counts = self._reasons | Counter(only_other=self.earlier.left)
        reasons = {name: counts[name] for name in NOT_COMPARED if counts[name]}
        by_line = self.earlier.are_by_line
        found = (str(self.earlier.path), self.compared, self.changed, reasons, by_line)
        this, other, files = self._rows()
        if not len(this):
            return VerdictDifferences(*found)
        groups, names = list(self._groups), list(self._files)
        chosen = groups_with_row(this.owners, groups)
        of_files = [] if _are_one_to_one(this.owners, files) else np.unique(files).tolist()
        return VerdictDifferences(
            *found,
            compare_rows("all", this, other),
            tuple(_part(groups[n], this, other, this.owners == n) for n in chosen),
            tuple(_part(names[n], this, other, files == n) for n in of_files if len(names) > 1),
            len(np.unique(this.owners)) - len(chosen),
        )

    def require_pairs(self, where: str) -> None:
        """Raise InputError where no pair is in both files."""
        if self.found or self._first is None:
            return
        first, own = self.earlier.first, self._first
        texts = self._reasons["other_texts"]
        why = f"; {texts} have an id of this run, but other texts" if texts else ""
        raise InputError(
            f"{self.earlier.path}: no pair in common with {where}{why}. Its first verdict is on"
            f" {_name_pair(first)}, the first pair judged now is {_name_pair(own)}."
            " --against wants the file that `judges pairs --output` wrote of the same pairs"
        )

    def _rows(self) -> tuple[PairRows, PairRows, Indices]:
        """Return the rows of this run and of the other, and the numbers of their files."""
        values, is_number, *columns = np.array(self._numbers).reshape(-1, 10).T
        owners, files = np.array(self._owners, dtype=np.intp).reshape(-1, 2).T
        every = {reading for _, own in self._files.values() for reading in own}
        scale = label_scale({reading.value for reading in every if reading.is_number})
        human, usable = weigh_labels(values, is_number > 0, scale)
        sides = []
        for said, supported, full, calibrated in (columns[:4], columns[4:]):
            known = said.copy()
            for number, readings in self._files.values():
                weights = {w for one in readings if (w := one.weight(scale)) is not None}
                own = files == number
                known[own] = _said_of(said[own], weights)
            chances = supported, full, owners, np.zeros_like(owners), calibrated > 0
            rows = PairRows(human, known, *chances)
            sides.append(rows.where(usable))
        this, other = sides
        return this, other, files[usable]


def _why_not_compared(
    own: VerdictLine, other: VerdictLine, readings: list[LabelReading]
) -> str | None:
    """Return a name of NOT_COMPARED, None where two verdicts on a pair can be compared."""
    if other.labels and readings != other.readings():
        return "other_labels"
    unjudged = own.label is None, other.label is None
    if any(unjudged):
        return {(True, True): "unjudged_both", (True, False): "unjudged_this"}.get(
            unjudged, "unjudged_other"
        )
    if NOTHING_TO_CHECK in (own.label, other.label):
        return "nothing_to_check"
    return None if readings else "without_label"


def _said(line: VerdictLine) -> tuple[float, float, float, float]:
    return numbers_said(line.label, line.supported, line.full, line.calibrated)


def _said_of(said: Array, weights: set[float]) -> Array:
    """Return labels as those that a file has: one that it lacks is the next lower one there."""
    if not weights:
        return said
    known = np.array(sorted(weights))
    places = np.searchsorted(known, said, side="right") - 1
    return np.asarray(known[np.maximum(places, 0)], dtype=np.float64)


def _are_one_to_one(owners: Indices, files: Indices) -> bool:
    """Return whether the groups are the files."""
    pairs = len(np.unique(np.stack([owners, files]), axis=1).T)
    return pairs == len(np.unique(owners)) == len(np.unique(files))


def _part(name: str, this: PairRows, other: PairRows, rows: Truth) -> DifferenceBin:
    return compare_rows(name, this.where(rows), other.where(rows))


def _name_pair(line: VerdictLine) -> str:
    group = f" of group {brief(line.group)}" if line.group else ""
    return f"id {brief(line.pair_id)}{group}" if line.has_id else f"line {line.pair_id}{group}"
