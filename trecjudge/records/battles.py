"""Battles: two runs' answers to one topic side by side, and which of them is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

WIN: Final = "win"
LOSS: Final = "loss"
TIE: Final = "tie"
OUTCOMES: Final = (WIN, LOSS, TIE)
"""What a battle can be for one of its runs; of two bad answers none wins: a tie."""
REVERSED: Final = {WIN: LOSS, LOSS: WIN, TIE: TIE}
"""The same outcomes, as the other run has them."""
POINTS: Final = {WIN: 1.0, LOSS: 0.0, TIE: 0.5}

Shown = Literal["a", "b", ""]
"""Whose answer was shown first; empty where that is not known."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """What a judgment on a response was against: the answer of another run to the same topic.

    `first` is whether the judged response was shown first, None where neither was. `again` marks
    a battle that was asked a second time, in the other order. `words` is how long the opponent's
    answer is, None where it has none.
    """

    run_id: str
    first: bool | None = None
    again: bool = False
    words: int | None = None


@dataclass(frozen=True, slots=True)
class Battle:
    """Two answers to one topic and the outcome for `run_a`; None where it is unjudged.

    `first` says whose answer was shown first, `by` who decided. `points` is what `run_a` is
    expected to get, 0 to 1, where that is known better than by the outcome. `weight` is how much
    it counts beside others. `longer` is log2(words of a / words of b), None where not known.
    """

    topic_id: str
    run_a: str
    run_b: str
    outcome: str | None
    first: Shown = ""
    by: str = ""
    weight: float = 1.0
    points: float | None = None
    again: bool = False
    longer: float | None = None
