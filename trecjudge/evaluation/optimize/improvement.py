"""Agreement with people before and after, on topics held out, and whether it is better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from trecjudge.evaluation.agreement import first_relevant, in_order
from trecjudge.evaluation.label_sets import apart
from trecjudge.evaluation.optimize.questions import GoldLabels
from trecjudge.inputs.labels import key_of
from trecjudge.measures import DIGITS
from trecjudge.records import Judgment
from trecjudge.stats.agreement import Agreed, LabelPair, LabelPairs, agreement
from trecjudge.stats.correlation import RankedScores, kendall
from trecjudge.stats.paired import ALPHA, sign_flip
from trecjudge.stats.resampling import (
    FEWER_RESAMPLES,
    NO_INTERVAL,
    Array,
    Interval,
    draws,
    interval_of,
    mean_intervals,
    resampled_means,
)

FIGURES = ("accuracy", "kappa", "kappa_linear", "auc")
TAU = "tau_of_runs"
UNJUDGED = "unjudged"
"""The label of an item that could not be judged: it agrees with none."""


class LabelledRow(NamedTuple):
    """An item as people and the judge have it; `said` is None where it is unjudged."""

    topic_id: str
    run_id: str
    people: str
    said: str | None
    key: tuple[Any, ...] = ()
    """What tells it from other items."""


def labelled_rows(gold: GoldLabels, judgments: Iterable[Judgment]) -> list[LabelledRow]:
    """Return the labelled items; of qrels, the best label of the sentences on a document."""
    found: dict[tuple[Any, ...], LabelledRow] = {}
    for judgment in judgments:
        label = gold.label(judgment)
        if label is None:
            continue
        key: tuple[Any, ...] = (*key_of(judgment), apart(judgment))
        if gold.kind == "qrels":
            key = (judgment.topic_id, judgment.run_id, judgment.doc_id)
        row = LabelledRow(
            judgment.topic_id, judgment.run_id, label, gold.label_in_words(judgment), key
        )
        before = found.get(key)
        if before is None or _grade(row.said) > _grade(before.said):
            found[key] = row
    return list(found.values())


def _grade(label: str | None) -> float:
    return -1.0 if label is None or not label.lstrip("-").isdigit() else float(label)


@dataclass(frozen=True, slots=True)
class ImprovedFigure:
    """A figure of agreement before and after; None where it is not defined."""

    name: str
    before: float | None
    after: float | None
    interval_before: Interval
    interval_after: Interval


@dataclass(frozen=True, slots=True)
class Improvement:
    """Agreement before and after on the topics held out, and the test of their difference.

    `difference` is that of the mean accuracy of topics, with its interval over topics. `p` is that
    of the sign-flip test over topics, None with fewer than two. `outcome` is `better` where it is
    above 0 and p below 0.05, `not_shown` where it is above 0 only, else `no_better`.
    """

    figures: tuple[ImprovedFigure, ...]
    items: int
    topics: int
    unjudged_before: int
    unjudged_after: int
    difference: float
    interval: Interval
    p: float | None
    changed: int

    @property
    def outcome(self) -> str:
        """`better`, `not_shown` or `no_better`."""
        if self.difference <= 0:
            return "no_better"
        return "better" if self.p is not None and self.p < ALPHA else "not_shown"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self) | {"outcome": self.outcome}


def measure_improvement(before: Sequence[LabelledRow], after: Sequence[LabelledRow]) -> Improvement:
    """Return how the agreement of the same topics has changed."""
    sides = [_figures(before), _figures(after)]
    names = [name for name in (*FIGURES, TAU) if any(name in side for side in sides)]
    figures = []
    for name in names:
        (old, old_interval), (new, new_interval) = (s.get(name, UNDEFINED) for s in sides)
        figures.append(ImprovedFigure(name, old, new, old_interval, new_interval))
    topics = sorted({row.topic_id for row in before} & {row.topic_id for row in after})
    said = {row.key: row.said for row in before}
    differences = np.array([[_accuracy(after, t) - _accuracy(before, t) for t in topics]])
    p = float(sign_flip(differences)[0]) if len(topics) > 1 else None
    return Improvement(
        tuple(figures),
        len(before),
        len(topics),
        sum(row.said is None for row in before),
        sum(row.said is None for row in after),
        round(float(differences.mean()), DIGITS),
        mean_intervals(differences)[0].round_to(DIGITS),
        p,
        sum(row.said != said.get(row.key) for row in after),
    )


Value = tuple[float | None, Interval]
UNDEFINED: Value = (None, NO_INTERVAL)


def _accuracy(rows: Sequence[LabelledRow], topic_id: str) -> float:
    own = [row.people == row.said for row in rows if row.topic_id == topic_id]
    return sum(own) / len(own)


def _figures(rows: Sequence[LabelledRow]) -> dict[str, Value]:
    """Return the figures of one side with their intervals over topics."""
    given = {row.people for row in rows} | {row.said for row in rows if row.said is not None}
    labels, ordered = in_order(given)
    places = {label: place for place, label in enumerate([*labels, UNJUDGED])}
    pairs = [
        LabelPair(
            row.topic_id,
            places[row.people],
            places[row.said or UNJUDGED],
            float(places[row.said]) if ordered and row.said is not None else None,
        )
        for row in rows
    ]
    judged = [pair for pair, row in zip(pairs, rows, strict=True) if row.said is not None]
    found = _by_name(agreement(LabelPairs.of(pairs), len(places), ordered=False))
    if ordered and judged:
        relevant = first_relevant(labels, 1)
        of_grades = _by_name(agreement(LabelPairs.of(judged), len(labels), True, relevant))
        found = of_grades | found
    if ordered and (tau := _tau(rows, places, len(labels) - 1)) is not None:
        found[TAU] = tau
    return found


def _by_name(figures: Sequence[Agreed]) -> dict[str, Value]:
    return {f.name: (f.pooled, f.interval) for f in figures if f.name in FIGURES}


def _tau(rows: Sequence[LabelledRow], places: Mapping[str, int], top: int) -> Value | None:
    """Return Kendall's tau-b of the runs by mean grade, people against the judge.

    None for fewer than three runs. A run's score is the mean over topics; unjudged items are left
    out.
    """
    runs = sorted({row.run_id for row in rows})
    topics = sorted({row.topic_id for row in rows})
    if len(runs) < 3 or top < 1:
        return None
    tables: list[Array] = []
    for side in ("people", "said"):
        table = np.full((len(runs), len(topics)), np.nan)
        for i, run in enumerate(runs):
            for j, topic in enumerate(topics):
                own = [
                    places[getattr(row, side)] / top
                    for row in rows
                    if (row.run_id, row.topic_id) == (run, topic) and row.said is not None
                ]
                table[i, j] = np.mean(own) if own else np.nan
        tables.append(table)
    whole = kendall(*(RankedScores(np.nanmean(table, axis=1)[None, :]) for table in tables))
    weights = draws(len(topics), FEWER_RESAMPLES)
    drawn = kendall(*(RankedScores(resampled_means(table, weights).T) for table in tables))
    value = None if np.isnan(whole[0]) else round(float(whole[0]), DIGITS)
    return value, interval_of(drawn, len(topics)).round_to(DIGITS)
