"""How far an order of runs holds: what tests tell apart, and how it serves each team."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trecjudge.measures import DIGITS
from trecjudge.stats.correlation import RankedScores, kendall
from trecjudge.stats.paired import ALPHA
from trecjudge.stats.resampling import (
    BLOCK,
    FEWER_RESAMPLES,
    NO_INTERVAL,
    Array,
    Interval,
    draws,
    interval_of,
    ratio,
    resampled_means,
)
from trecjudge.stats.scores import NOISE_DIGITS
from trecjudge.stats.tukey import tukey_hsd

FEWEST_OTHERS = 3
"""Fewer runs of other teams have no order to speak of."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """How many pairs of runs a test tells apart: by the truth, by the judge, and by both.

    Of those by both, `same` have the same run ahead, `opposite` the other one.
    """

    pairs: int
    truth: int
    judge: int
    same: int
    opposite: int

    @classmethod
    def of(cls, truth: Array, judge: Array) -> Decisions:
        """Return them for the values of runs by topic, (runs, topics), by Tukey's test at ALPHA."""
        rows, columns = np.triu_indices(len(truth), 1)
        signs = [
            np.sign(means[columns] - means[rows]) * (tukey_hsd(values).p[rows, columns] < ALPHA)
            for values in (truth, judge)
            for means in [ratio(np.nansum(values, axis=1), (~np.isnan(values)).sum(axis=1))]
        ]
        both = signs[0] * signs[1]
        counts = (signs[0] != 0, signs[1] != 0, both > 0, both < 0)
        return cls(len(rows), *(int(found.sum()) for found in counts))


@dataclass(frozen=True, slots=True)
class TeamOrder:
    """How a judge's order serves a team: `own` is the share of pairs of one of its runs with one of
    another team that are in the truth's order, with its interval over topics.

    `others` is tau-b among the runs of all other teams: the order without this team. None where
    it is not defined.
    """

    team: str
    runs: int
    own: float | None
    interval: Interval
    others: float | None


def team_orders(
    runs: Sequence[str],
    teams: Mapping[str, str],
    means: tuple[Array, Array],
    by_topic: tuple[Array, Array] | None,
) -> Iterator[TeamOrder]:
    """Yield each team, the one whose pairs agree least first.

    `means` are those of the truth and of the judge, (runs,); `by_topic` their values,
    (runs, topics). A run that `teams` lacks is a team of its own.
    """
    owners = np.array([teams.get(run, run) for run in runs])
    members = {team: owners == team for team in sorted(set(owners.tolist()))}
    shares = _shares_by_team([side[None] for side in means], members)
    resampled = _resampled_shares(by_topic, members) if by_topic is not None else {}
    found = []
    for team, own in members.items():
        interval = NO_INTERVAL
        if by_topic is not None:
            interval = interval_of(resampled[team], by_topic[0].shape[1]).round_to(DIGITS)
        others = None
        if (~own).sum() >= FEWEST_OTHERS:
            others = _known(float(kendall(*(RankedScores(side[None, ~own]) for side in means))[0]))
        share = _known(float(shares[team][0]))
        found.append(TeamOrder(team, int(own.sum()), share, interval, others))
    yield from sorted(found, key=lambda one: (one.own is None, one.own or 0.0))


Members = Mapping[str, npt.NDArray[np.bool_]]
"""Which runs are of a team, by team: (runs,) each."""


def _resampled_shares(by_topic: tuple[Array, Array], members: Members) -> dict[str, Array]:
    """Return the shares of each team in resamples of topics, in parts that bound the memory."""
    drawn = _resampled(by_topic)
    each = max(1, BLOCK // drawn[0].shape[1] ** 2)
    starts = range(0, FEWER_RESAMPLES, each)
    parts = [_shares_by_team([side[s : s + each] for side in drawn], members) for s in starts]
    return {team: np.concatenate([part[team] for part in parts]) for team in members}


def _resampled(by_topic: Sequence[Array]) -> list[Array]:
    """Return the means of each side in resamples of topics, drawn together: (resamples, runs)."""
    weights = draws(by_topic[0].shape[1], FEWER_RESAMPLES)
    return [resampled_means(v, weights).T.round(NOISE_DIGITS) for v in by_topic]


def _shares_by_team(scores: Sequence[Array], members: Members) -> dict[str, Array]:
    truth, judge = map(RankedScores, scores)
    return {team: _agreeing_share(truth, judge, own, ~own) for team, own in members.items()}


def _agreeing_share(
    truth: RankedScores,
    judge: RankedScores,
    own: npt.NDArray[np.bool_],
    rest: npt.NDArray[np.bool_],
) -> Array:
    """Return the share of pairs, untied in the truth, in its order: (resamples,); a tie is half."""
    parts = [side.signs[:, own][:, :, rest] for side in (truth, judge)]
    untied = np.abs(parts[0]).sum(axis=(1, 2), dtype=np.float64)
    agreeing = (parts[0] * parts[1]).sum(axis=(1, 2), dtype=np.float64)
    shares: Array = (ratio(agreeing, untied) + 1) / 2
    return shares


def _known(value: float) -> float | None:
    return None if np.isnan(value) else round(value, DIGITS)


@dataclass(frozen=True, slots=True)
class OrderMoved:
    """How far the order of runs by a measure moves between two leaderboards of one judge.

    `tau` is tau-b between the two; `before` and `after` that of each with the truth, and
    `difference` after - before with its interval over topics. `moves` are (run, place before, place
    after), the largest first.
    """

    measure: str
    truth_measure: str
    tau: float | None
    before: float | None
    after: float | None
    difference: float | None
    interval: Interval
    moves: Sequence[tuple[str, int, int]]


def order_moved(
    names: tuple[str, str],
    runs: Sequence[str],
    means: Sequence[Array],
    by_topic: Sequence[Array],
) -> OrderMoved:
    """Return how far an order moves from one leaderboard to another one, beside a truth.

    `names` are the measure and the truth's; `means`, (runs,), are those of the truth, before and
    after, as are the values `by_topic`, (runs, topics), of which there may be none.
    """
    truth, before, after = (RankedScores(side[None]) for side in means)
    pairs = ((before, after), (truth, before), (truth, after))
    tau, old_tau, new_tau = (_known(float(kendall(*pair)[0])) for pair in pairs)
    interval, difference = NO_INTERVAL, None
    if old_tau is not None and new_tau is not None:
        difference = round(new_tau - old_tau, DIGITS)
    if by_topic and difference is not None:
        people, old, new = map(RankedScores, _resampled(by_topic))
        moved = kendall(people, new) - kendall(people, old)
        interval = interval_of(moved, by_topic[0].shape[1]).round_to(DIGITS)
    places = [1 + side.heights[0].astype(int) for side in (before, after)]
    moves = list(zip(runs, places[0].tolist(), places[1].tolist(), strict=True))
    moves.sort(key=lambda one: -abs(one[2] - one[1]))
    return OrderMoved(*names, tau, old_tau, new_tau, difference, interval, moves)
