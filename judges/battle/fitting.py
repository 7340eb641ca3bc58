"""The board that battles make: strengths with bounds, and what is to be said of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from trecjudge.judging.battles import distinct_battles
from trecjudge.measures import Fitted
from trecjudge.records.battles import Battle
from trecjudge.stats.battles import (
    CENTRE,
    ELO,
    BattleFit,
    BattleTable,
    WinMatrix,
    bias_of,
    bounds_of,
    fit_battles,
    unbeaten,
    unconnected_sets,
)

MOST_NAMED = 3
"""Runs that a remark names."""


def fit_records(records: Iterable[Iterable[Battle]], adjust_length: bool = False) -> Fitted:
    """Return the strength of each run on each topic, on the scale of a board, with its bounds."""
    table = BattleTable.of(distinct_battles(records))
    if not len(table.judged):
        return Fitted({})
    fit = fit_battles(table, adjust_length=adjust_length)
    bounds, values = bounds_of(table, fit, adjust_length), {}
    for run, own, by_topic in zip(fit.runs, fit.strengths.tolist(), fit.by_topic, strict=True):
        low, high = (ELO * (end - own) for end in bounds.get(run, (own, own)))
        for topic, told in zip(table.topics, (CENTRE + ELO * by_topic).tolist(), strict=True):
            if not math.isnan(told):
                values[run, topic] = (told, told + low, told + high)
    return Fitted(values, list(_remarks(table, fit)))


def _remarks(table: BattleTable, fit: BattleFit) -> Iterator[str]:
    judged, matrix = table.judged, WinMatrix.of(table)
    circles, triples = matrix.triples
    said = f"{len(judged):,} of {len(table):,} battles judged"
    if judged.are_whole:
        said += f", {judged.ties.mean():.0%} ties"
    said += f"; {circles:,} of {triples:,} triples of runs go in a circle"
    bias = bias_of(table)
    if bias.position is not None:
        low, high = bias.interval
        between = "" if low is None or high is None else f" ({_signed(low)} to {_signed(high)})"
        said += f"; bias to the answer shown first {_signed(bias.position)}{between}"
    if bias.twice:
        share = bias.contradicted / bias.twice
        said += f", {share:.0%} of {bias.twice:,} asked in both orders had another outcome"
    if bias.longer is not None:
        said += f"; the longer answer got {bias.longer:.0%} of the points"
    yield said.replace("%", " %")
    if fit.length is not None:
        gain = f"{ELO * fit.length:+.0f} points"
        yield f"twice as many words are worth {gain}, which are taken out of the board"
    for runs, how in zip(unbeaten(table), ("won", "lost"), strict=True):
        if runs:
            yield f"{_named(runs)} {how} every battle: how far apart is only bounded by a prior"
    sets = unconnected_sets(table)
    if len(sets) > 1:
        of = "; ".join(_named(runs) for runs in sets[:MOST_NAMED])
        yield f"{len(sets)} sets of runs never met: their places do not compare ({of})"


def _signed(value: float) -> str:
    return f"{round(value, 2) + 0.0:+.2f}"  # no -0.00


def _named(runs: Sequence[str]) -> str:
    more = f" and {len(runs) - MOST_NAMED} more" if len(runs) > MOST_NAMED else ""
    return ", ".join(runs[:MOST_NAMED]) + more
