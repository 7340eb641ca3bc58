"""Which judge is worth its price: cost against agreement and order, of judges and cascades."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from trecjudge.evaluation.agreement import SharedItem, in_order
from trecjudge.evaluation.trust.card import DECIMALS
from trecjudge.judging.voting import aggregate_votes
from trecjudge.records import Judgment
from trecjudge.stats.agreement import Flags
from trecjudge.stats.correlation import BLOCK, RankedScores, kendall
from trecjudge.stats.resampling import (
    FEWER_RESAMPLES,
    NO_INTERVAL,
    Array,
    Indices,
    Interval,
    draws,
    interval_of,
    ratio,
    share_interval,
)

SHARES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Shares of the items that cascades ask a model about."""
MISSED: Final = 0.05
"""How often the lower bound of any of the options may be too high."""
NOBODY: Final = -1
"""In place of a label: unjudged."""
VOTES = "votes"
THEN = ", then "
"""Between the names of the judges of a cascade."""


@dataclass(frozen=True, slots=True)
class TriedOption:
    """What one judge says of the labelled items, and what an item costs that a model is asked.

    `items` are those with a label on both sides. Of an `offline` one, which asks no model, their
    scores say how sure it is of each, 0 to 1; of another one they are 1 where the model was asked,
    0 where a rule decided. `calls` and `cost` are means of an item that it was asked; None is not
    known.
    """

    name: str
    items: Sequence[SharedItem]
    offline: bool
    calls: float = 0.0
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Option:
    """A way to judge: how right it is, how it orders the runs, and what it costs.

    `asked` is the share of the items that a model is asked about, `sure` the cut of a cascade:
    below it the model is asked. `right` is the share of the `n` judged items with people's label,
    `least` is its lower bound, which holds in 95 % for all options together; `tau` is Kendall's
    tau-b with people's order of the runs over the same items. `passed` is how right words are
    where they are sure. None is not defined. Calls and cost are means of an item.
    """

    name: str
    asked: float
    sure: float | None
    calls: float
    cost: float | None
    n: int
    unjudged: int
    right: float | None
    interval: Interval
    least: float | None
    tau: float | None
    tau_interval: Interval
    passed: float | None = None
    passed_interval: Interval = NO_INTERVAL
    passed_n: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        found = asdict(self)
        for name, value in found.items():
            if isinstance(value, float):
                found[name] = round(value, DECIMALS + 2)
        for name in ("interval", "tau_interval", "passed_interval"):
            found[name] = list(getattr(self, name).round_to(DECIMALS))
        return found


@dataclass(frozen=True, slots=True)
class _Side:
    """What one way to judge says of every item: places of labels, and its score."""

    said: Indices
    score: Array


class LabelledItems:
    """The labelled items that several judges judged, in one order.

    The lower bounds hold for so many `options` together.
    """

    def __init__(self, judges: Sequence[TriedOption], options: int = 1) -> None:
        self._level = 1 - 2 * MISSED / options  # of two sides, of which one is used
        every = {(one.group, one.item): one for judge in judges for one in judge.items}
        found = sorted(every.values(), key=lambda one: one.group)
        names = {label for j in judges for one in j.items for label in (one.truth, one.predicted)}
        self.labels, _ = in_order(names)
        self._place = {label: place for place, label in enumerate(self.labels)}
        self.truth: Indices = np.array([self._place[one.truth] for one in found], dtype=np.intp)
        topics, runs = ([one.group[side] for one in found] for side in (0, 1))
        self._topics, self.topics = np.unique(topics, return_inverse=True)
        self._runs, self.runs = np.unique(runs, return_inverse=True)
        self._at = {(one.group, one.item): place for place, one in enumerate(found)}

    def side(self, judge: TriedOption) -> _Side:
        """Return what a judge says of all items."""
        said: Indices = np.full(len(self.truth), NOBODY, dtype=np.intp)
        score = np.zeros(len(self.truth))
        for one in judge.items:
            place = self._at[one.group, one.item]
            said[place] = self._place[one.predicted]
            score[place] = 1.0 if one.score is None else one.score
        return _Side(said, score)

    def vote(self, sides: Sequence[_Side]) -> _Side:
        """Return what most of several judges say."""
        ballots = np.stack([one.said for one in sides], axis=1).tolist()
        said: Indices = np.array([self._most(votes) for votes in ballots], dtype=np.intp)
        return _Side(said, np.max([one.score for one in sides], axis=0))

    def _most(self, votes: Sequence[int]) -> int:
        ballots = {
            str(n): Judgment("", "", label=self.labels[place], grade=place)
            for n, place in enumerate(votes)
            if place != NOBODY
        }
        if not ballots:
            return NOBODY
        found = aggregate_votes("majority", ballots, len(votes))
        return self._place[found.label] if found.judged and found.label else NOBODY

    def option(self, name: str, said: Indices, asked: Array, of: TriedOption) -> Option:
        """Return how right a way to judge is; `asked` is 1 for each item that `of` is asked."""
        known, share = said != NOBODY, float(asked.mean())
        right = known & (said == self.truth)
        interval, least = self._bounds(right, known)
        tau, tau_interval = self._order(said)
        return Option(
            name=name,
            asked=share,
            sure=None,
            calls=share * of.calls,
            cost=None if of.cost is None else share * of.cost,
            n=int(known.sum()),
            unjudged=int((~known).sum()),
            right=float(right.sum() / known.sum()) if known.any() else None,
            interval=interval,
            least=least,
            tau=tau,
            tau_interval=tau_interval,
        )

    def with_passed(self, option: Option, words: _Side, passed: Flags) -> Option:
        """Return a cascade with how right words are on what they let pass."""
        known = (words.said != NOBODY) & passed
        right = known & (words.said == self.truth)
        if not known.any():
            return option
        interval, _ = self._bounds(right, known)
        share, n = float(right.sum() / known.sum()), int(known.sum())
        return replace(option, passed=share, passed_interval=interval, passed_n=n)

    def _bounds(self, right: Flags, known: Flags) -> tuple[Interval, float | None]:
        counts = (np.bincount(self.topics, one.astype(float)) for one in (right, known))
        hits, of = (one.astype(np.float64) for one in counts)
        return share_interval(hits, of), share_interval(hits, of, self._level).low

    def _order(self, said: Indices) -> tuple[float | None, Interval]:
        """Return tau-b of the order of the runs, by the mean place of their labels."""
        topics, runs, known = len(self._topics), len(self._runs), said != NOBODY
        if runs < 2:
            return None, NO_INTERVAL
        cell = self.topics * runs + self.runs
        sides = (self.truth, said, np.ones(len(said)))
        weights = (one[known].astype(np.float64) for one in sides)
        sums: list[Array] = [
            np.bincount(cell[known], one, topics * runs).astype(np.float64).reshape(topics, runs)
            for one in weights
        ]
        whole = _taus(sums, np.ones((1, topics)))[0]
        order = np.lexsort(np.concatenate(sums, axis=1).T)  # no name decides what is drawn
        drawn = _taus([one[order] for one in sums], draws(topics, FEWER_RESAMPLES))
        return None if np.isnan(whole) else float(whole), interval_of(drawn, topics)


def _taus(sums: Sequence[Array], weights: Array) -> Array:
    """Return tau-b in each resample; a run that has no item in it is in no pair: (resamples,)."""
    found = []
    pairs = weights.shape[0] * sums[0].shape[1] ** 2
    for part in np.array_split(weights, math.ceil(pairs / BLOCK)):
        truth, said, counts = (part @ one for one in sums)
        sides = [RankedScores(ratio(one, counts)) for one in (truth, said)]
        for side in sides:
            side.gaps = np.nan_to_num(side.gaps)
        found.append(kendall(*sides))
    return np.concatenate(found)


def compare_options(judges: Sequence[TriedOption]) -> list[Option]:
    """Return each judge, the votes of several models, and each cascade at each share asked.

    In a cascade, words decide where they are sure, by the distance to the cut between two labels,
    and a model is asked for the rest. Cuts depend on no label, so that they can be tested on all.
    """
    models = [judge for judge in judges if not judge.offline]
    cascades = (len(judges) - len(models)) * len(models) * len(SHARES)
    items = LabelledItems(judges, len(judges) + (len(models) > 1) + cascades)
    sides = {judge.name: items.side(judge) for judge in judges}
    nothing = np.zeros(len(items.truth))
    found = [
        items.option(one.name, side.said, nothing if one.offline else side.score, one)
        for one, side in ((one, sides[one.name]) for one in judges)
    ]
    if len(models) > 1:
        costs = [one.cost for one in models]
        cost = None if None in costs else sum(one for one in costs if one is not None)
        together = TriedOption(VOTES, (), False, sum(one.calls for one in models), cost)
        votes = items.vote([sides[one.name] for one in models])
        found.append(items.option(VOTES, votes.said, votes.score, together))
    for words in (one for one in judges if one.offline):
        for model in models:
            found += _cascades(items, sides[words.name], words, sides[model.name], model)
    return found


def _cascades(
    items: LabelledItems, own: _Side, words: TriedOption, theirs: _Side, model: TriedOption
) -> Iterator[Option]:
    cuts = np.quantile(own.score, SHARES).round(DECIMALS).tolist()
    for sure in sorted(set(cuts)):
        asked = (own.score < sure) | (own.said == NOBODY)
        said = np.where(asked, theirs.said, own.said)
        name = f"{words.name}{THEN}{model.name}"
        option = items.option(name, said, asked * theirs.score, model)
        yield items.with_passed(replace(option, sure=sure), own, ~asked)


def choose_option(
    options: Sequence[Option], least: float | None = None, most_asked: float | None = None
) -> Option | None:
    """Return the way to judge that keeps what is wanted for the least; None where none does.

    `least` is the share of people's labels to be met, `most_asked` the most items, 0 to 1, that a
    model may be asked about. Of several within a budget only, it is the one that is right most.

    `least` holds in 95 % whichever is chosen, for items like the labelled ones: the lower bounds
    are corrected for the number of options (Bonferroni; Angelopoulos et al., Learn then Test, 2021,
    after the selection with guaranteed risk of Geifman and El-Yaniv, NeurIPS 2017).
    """
    within = [one for one in options if most_asked is None or one.asked <= most_asked]
    if least is None:
        known = [one for one in within if one.right is not None]
        return max(known, key=lambda one: (one.right or 0.0, -one.asked), default=None)
    kept = [one for one in within if one.least is not None and one.least >= least]
    return min(kept, key=lambda one: (one.calls, -(one.right or 0.0)), default=None)


def cost_of(paid: Iterable[float | None]) -> float | None:
    """Return the mean cost of calls; None where that of one is not known, or there is none."""
    known = list(paid)
    if not known or None in known:
        return None
    return sum(one for one in known if one is not None) / len(known)


def workflow_of(option: Option, models: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the part of a workflow that judges by a cascade; empty for any other option.

    5 % of what words are sure of is asked too, so that what they let pass stays known.
    """
    if option.sure is None:
        return {}
    words, model = option.name.split(THEN)
    first = {"offline": True, "sure": option.sure, "audit": 0.05}
    llm = dict(models.get(model, {}))
    return {"voters": {words: first, model: {"llm": llm} if llm else {}}, "vote": "cascade"}
