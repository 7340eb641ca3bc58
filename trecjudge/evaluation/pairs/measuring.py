"""Verdicts gathered while they stream by, a few numbers each, and their figures."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trecjudge.evaluation.pairs.figures import PairBin, PairRows, Truth, bin_figures
from trecjudge.evaluation.pairs.labels import WEIGHTS, LabelReading, label_scale, read_labels_of
from trecjudge.evaluation.pairs.verdicts import PairVerdict
from trecjudge.findings import Finding, OnFinding
from trecjudge.records import NOTHING_TO_CHECK, Failure, Place

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

    def measured(self) -> PairFigures:
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
