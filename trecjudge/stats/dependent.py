"""Measures that are another one: as its complement, or the same under a second name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from trecjudge.stats.release_gate import GateRule, RunScores
from trecjudge.stats.scores import Scores

ROUNDING = 2e-6
"""Rounding that rows may differ by: each is written with six decimals."""


def without_repeats(
    rules: Sequence[GateRule], tables: Sequence[Scores], figures: Sequence[RunScores]
) -> tuple[list[GateRule], dict[str, str]]:
    """Return drop rules without those of measures that fall just as an earlier one does.

    Such a measure adds its limit, if that is lower. Also returns each with the one that stands for
    it. `figures` are those of the tables.
    """
    kept: dict[str, GateRule] = {}
    stands: dict[str, str] = {}
    for rule in rules:
        name = rule.measure
        # What two judges find is not the same, even where it is equal.
        own = [other for other in kept if kept[other].judge == rule.judge]
        alike = (other for other in own if _fall_alike(other, name, tables, figures))
        first = name if name in kept else next(alike, name)
        if first != name:
            stands[name] = first
        limit = min(kept[first].limit, rule.limit) if first in kept else rule.limit
        kept[first] = replace(kept.get(first, rule), limit=limit)
    return list(kept.values()), stands


def _fall_alike(
    one: str, other: str, tables: Sequence[Scores], figures: Sequence[RunScores]
) -> bool:
    """Return whether two measures fall on the same topics by the same, in every table."""
    every = [(m, figure) for found in figures for (_, m), figure in found.items()]
    # What unjudged items could make of each need not be alike.
    if any(figure.gaps.items for m, figure in every if m in (one, other)):
        return False
    if not all({one, other} <= set(table.measures) for table in tables):
        return False
    first, second = (
        np.concatenate([row for t in tables for row in (t.values[m].ravel(), t.overall(m))])
        for m in (one, other)
    )
    known = ~np.isnan(first)
    if not known.any() or (known == np.isnan(second)).any():
        return False
    lower = {m for m, figure in every if figure.lower_is_better}
    if (one in lower) == (other in lower):
        return bool(np.abs(second - first)[known].max() <= ROUNDING)
    return bool(np.ptp((second + first)[known]) <= ROUNDING)
