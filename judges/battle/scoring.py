"""The measures of battles: the share that a run wins, and its strength among all runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from trecjudge import Judgment, Response
from trecjudge.measures import Fitted, mean_of
from trecjudge.records.battles import LOSS, OUTCOMES, POINTS, REVERSED, WIN, Battle, Shown
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


def win_or_loss(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged battle as the best or the worst that it could have been."""
    label = WIN if best else LOSS
    return replace(judgment, label=label, expected=None, failure=None)


def points_of(judgment: Judgment) -> float | None:
    """Return what a run gets for a battle, 0 to 1; None where it is unjudged."""
    if not judgment.judged or judgment.label not in OUTCOMES:
        return None
    return POINTS[judgment.label] if judgment.expected is None else judgment.expected


def win_rate(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return the mean points of a response in its battles, each opponent counted once.

    None without battles, and where none is judged.
    """
    by_opponent: dict[str, list[float]] = {}
    for judgment in judgments:
        points = points_of(judgment)
        if judgment.opponent is not None and points is not None:
            by_opponent.setdefault(judgment.opponent.run_id, []).append(points)
    return mean_of(sum(found) / len(found) for found in by_opponent.values())


def battles_of(response: Response, judgments: Sequence[Judgment]) -> tuple[Battle, ...] | None:
    """Return the battles of a response, the run whose name sorts first as `a`; None without any."""
    words = len(response.text.split())
    found = (battle_of(words, judgment) for judgment in judgments if judgment.opponent is not None)
    return tuple(found) or None


def battle_of(words: int, judgment: Judgment) -> Battle:
    """Return the battle that a judgment on an answer of so many words is of."""
    opponent = judgment.opponent
    assert opponent is not None
    outcome = judgment.label if judgment.judged and judgment.label in OUTCOMES else None
    longer = math.log2(words / opponent.words) if words and opponent.words else None
    first: Shown = "" if opponent.first is None else "a" if opponent.first else "b"
    one = Battle(
        judgment.topic_id,
        judgment.run_id,
        opponent.run_id,
        outcome,
        first,
        judgment.attester,
        points=judgment.expected if outcome else None,
        again=opponent.again,
        longer=longer,
    )
    return one if one.run_a <= one.run_b else turned(one)


_OTHER: Final[Mapping[Shown, Shown]] = {"a": "b", "b": "a", "": ""}


def turned(battle: Battle) -> Battle:
    """Return a battle as the other run has it."""
    return replace(
        battle,
        run_a=battle.run_b,
        run_b=battle.run_a,
        outcome=None if battle.outcome is None else REVERSED[battle.outcome],
        first=_OTHER[battle.first],
        points=None if battle.points is None else 1 - battle.points,
        longer=None if battle.longer is None else -battle.longer,
    )


def distinct_battles(records: Iterable[Iterable[Battle]]) -> list[Battle]:
    """Return the battles of all responses, each once though both runs have it.

    One that was asked in both orders counts half each time.
    """
    found: dict[tuple[str, str, str, bool], Battle] = {}
    for battle in (battle for record in records for battle in record):
        found.setdefault((battle.topic_id, battle.run_a, battle.run_b, battle.again), battle)
    twice = {key[:3] for key, battle in found.items() if battle.again and battle.outcome}
    return [
        replace(battle, weight=0.5) if key[:3] in twice and battle.outcome else battle
        for key, battle in sorted(found.items())
    ]


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
        between = "" if low is None else f" ({low:+.2f} to {high:+.2f})"
        said += f"; bias to the answer shown first {bias.position:+.2f}{between}"
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


def _named(runs: Sequence[str]) -> str:
    more = f" and {len(runs) - MOST_NAMED} more" if len(runs) > MOST_NAMED else ""
    return ", ".join(runs[:MOST_NAMED]) + more
