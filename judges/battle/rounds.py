"""When there are enough battles, and what so many will be worth, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trecjudge.records.battles import Battle
from trecjudge.stats.battle_worth import simulate_worth
from trecjudge.stats.battles import ELO, BattleTable, fit_battles
from trecjudge.stats.pairings import possible_battles
from trecjudge.stats.resampling import mean_intervals
from trecjudge.stats.tukey import tukey_hsd

CHANGED = 0.01
"""Of all pairs of runs, those that a round may tell apart anew while groups do not change."""
ALPHA = 0.05
MOST_SIMULATED = 300
"""Runs up to which it is simulated what battles are worth: a second, or a few."""
MOST_BATTLES = 120_000
STEPS = (0.25, 0.5, 1, 2, 4)
"""The numbers of battles that are simulated, beside those that are planned."""


@dataclass(slots=True)
class StopRule:
    """Looks after each round whether there are enough battles."""

    enough: float | str
    apart: npt.NDArray[np.bool_] | None = None
    """The pairs of runs that the last round told apart."""

    def is_met(self, battles: Sequence[Battle]) -> bool:
        """Return whether these battles are enough."""
        table = BattleTable.of(battles)
        by_topic = fit_battles(table).by_topic if len(table.judged) else None
        if by_topic is None:
            return False
        if self.enough != "groups":
            widths = [(i.low, i.high) for i in mean_intervals(ELO * by_topic)]
            return all(
                low is not None and high is not None and high - low <= float(self.enough)
                for low, high in widths
            )
        before, self.apart = self.apart, tukey_hsd(by_topic).p < ALPHA
        if before is None or before.shape != self.apart.shape:
            return False
        return float(np.mean(before != self.apart)) <= CHANGED


def worth_of(runs: int, topics: int, battles: int, right: float) -> dict[int, float]:
    """Return tau by number of battles, in order, `battles` among them; empty where it takes long.

    Simulated for a better answer that wins `right` of the time.
    """
    most = possible_battles(runs, topics)
    sizes = {min(most, round(battles * step)) for step in STEPS}
    sizes = {size for size in sizes if 0 < size <= max(battles, MOST_BATTLES)}
    if runs > MOST_SIMULATED or runs < 2 or battles > MOST_BATTLES or not sizes:
        return {}
    found = simulate_worth(runs, topics, sorted(sizes), right)
    return {one.battles: round(one.tau, 2) for one in found}


def worth_lines(
    sizes: tuple[int, int, int], worth: Mapping[int, float], right: float
) -> Iterator[str]:
    """Yield what is planned and what it is worth, in words; sizes are runs, topics and battles."""
    runs, topics, battles = sizes
    of = possible_battles(runs, topics)
    yield f"{battles:,} battles of {runs:,} runs on {topics:,} topics, of {of:,} that there can be"
    if battles in worth:
        others = "".join(f"; {tau:.2f} by {n:,}" for n, tau in worth.items() if n != battles)
        yield (
            f"their order, simulated: tau {worth[battles]:.2f} with the true one, if the better"
            f" answer wins {100 * right:.0f} % of the time{others}"
        )
