"""What to label next: the items whose labels would narrow the order of the runs most."""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest

import numpy as np
from numpy.typing import NDArray

from trecjudge.stats.resampling import Array

WRONG = 0.15
"""Assumed share of wrong labels among those that a judge finds clear."""
TINY = 1e-12
"""A standard error below it is rounding: the runs differ by a constant, or not at all."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that could be labelled.

    `reach` is by how much its label can move the run's mean, from worst to best. `share` is where
    the judge put it between the two, 0 to 1; None where it is unjudged.
    """

    run_id: str
    topic_id: str
    sentence_index: int | None
    doc_id: str | None
    reach: float
    share: float | None
    text: str = ""
    label: str = ""
    reason: str = ""
    nugget: str = ""


@dataclass(slots=True)
class Candidates:
    """Candidates of which only numbers are held, a million of them in a few columns.

    `places` are those that they were added with, by which what they are is found again.
    """

    responses: list[tuple[str, str]] = field(default_factory=list)
    """(run_id, topic_id)"""
    owners: array[int] = field(default_factory=lambda: array("i"))
    """Of each candidate the number of its response."""
    places: array[int] = field(default_factory=lambda: array("q"))
    ranks: array[int] = field(default_factory=lambda: array("i"))
    """Of each its place among those of its response, by sentence and document."""
    reaches: array[float] = field(default_factory=lambda: array("d"))
    shares: array[float] = field(default_factory=lambda: array("d"))
    """NaN where it is unjudged."""

    def __len__(self) -> int:
        return len(self.owners)

    def add(self, run_id: str, topic_id: str, found: Sequence[tuple[int, Candidate]]) -> None:
        """Add candidates of a response that has none yet, each with its place."""
        named = sorted(found, key=lambda one: _name_of(one[1]))
        for rank, (place, candidate) in enumerate(named):
            self.owners.append(len(self.responses))
            self.places.append(place)
            self.ranks.append(rank)
            self.reaches.append(candidate.reach)
            self.shares.append(math.nan if candidate.share is None else candidate.share)
        self.responses.append((run_id, topic_id))

    def ranked(self, near_ties_of: Mapping[str, float]) -> tuple[Array, NDArray[np.intp]]:
        """Return the gain of each candidate, and their numbers, those of the largest gain first.

        The gain is the variance that the label takes out of its run's mean, reach^2 x doubt, times
        the near ties of the run: the sum, over all pairs that are hard to separate, of the variance
        that the label takes out of their difference. Equal gains go by topic, run and sentence.
        """
        near = [near_ties_of.get(run_id, 0.0) for run_id, _ in self.responses]
        columns = zip(self.reaches, map(doubt, self.shares), self.owners, strict=True)
        gains = np.fromiter((r**2 * d * near[o] for r, d, o in columns), float, len(self))
        owners = np.asarray(self.owners)
        runs, topics = (_in_order(names)[owners] for names in zip(*self.responses, strict=True))
        return gains, np.lexsort((np.asarray(self.ranks), runs, topics, -gains))


def doubt(share: float) -> float:
    """Return the variance of what a label may be, 0 to 1/4: largest where the judge is unsure."""
    if math.isnan(share):  # nothing is known: as of a coin
        return 0.25
    chance = WRONG + (1 - 2 * WRONG) * share
    return chance * (1 - chance)


def _name_of(candidate: Candidate) -> tuple[int, str]:
    index = candidate.sentence_index
    return -1 if index is None else index, candidate.doc_id or ""


def _in_order(names: Sequence[str]) -> NDArray[np.intp]:
    """Return the place of each name in their order; equal ones share it."""
    places = {name: place for place, name in enumerate(sorted(set(names)))}
    return np.array([places[name] for name in names], dtype=np.intp)


def near_ties(runs: Sequence[str], values: Array) -> dict[str, float]:
    """Return for each run to how many others it is near: the effective number of near ties.

    `values` are (runs, topics). Another run counts exp(-z^2 / 2), z being the difference in
    standard errors of its paired differences over topics: 1 where the means are equal, 0.14 at two
    standard errors. Topics without a value in either run are left out.
    """
    found = {}
    for i, run in enumerate(runs):
        total = 0.0
        for j in range(len(runs)):
            gaps = values[i] - values[j]
            gaps = gaps[~np.isnan(gaps)]
            if i == j or len(gaps) < 2:
                continue
            error = float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
            mean = abs(float(gaps.mean()))
            total += math.exp(-((mean / error) ** 2) / 2) if error > TINY else float(mean < TINY)
        found[run] = total
    return found


def drawn(responses: Iterable[Hashable], budget: int, rng: np.random.Generator) -> list[int]:
    """Return the places of so many items drawn at random, sorted; `responses` has that of each.

    Responses are drawn first, each as likely as any other, and one item of each; further items of
    a response only once all responses have one. A mean over the labelled responses is then one over
    a random sample of responses: items drawn alike would prefer long ones.
    """
    own: dict[Hashable, array[int]] = {}
    for place, response in enumerate(responses):
        own.setdefault(response, array("q")).append(place)
    every = list(own.values())
    shuffled = [rng.permutation(every[i]) for i in rng.permutation(len(every))]
    # One item of each response, then a second of each...
    in_rounds = (int(p) for items in zip_longest(*shuffled) for p in items if p is not None)
    return sorted(islice(in_rounds, budget))
