"""Judgments on battles as points of a run, and as battles that two runs have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from trecjudge.records import Judgment, Response
from trecjudge.records.battles import OUTCOMES, POINTS, REVERSED, Battle, Shown


def points_of(judgment: Judgment) -> float | None:
    """Return what a run gets for a battle, 0 to 1; None where it is unjudged."""
    if not judgment.judged or judgment.label not in OUTCOMES:
        return None
    return POINTS[judgment.label] if judgment.expected is None else judgment.expected


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
