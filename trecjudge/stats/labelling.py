"""What to label next: the items whose labels would narrow the order of the runs most."""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest

import numpy as np

from trecjudge.stats.resampling import SEED, Array
from trecjudge.stats.shrinkage import USUAL

TINY = 1e-12
"""A standard error below it is rounding: the runs differ by a constant, or not at all."""


@dataclass(frozen=True, slots=True)
class LabelCandidate:
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
    place: int = -1
    """That of its judgment among those of the response."""
    sampled: str = ""
    """How it came into a list: `random`, `ranking`, `strata` or `cut`."""
    votes: tuple[tuple[str, str], ...] = ()
    """(person, label) of those who differ on it."""
    against: str = ""
    """The other run of a battle."""


@dataclass(slots=True)
class LabelCandidates:
    """Candidates of which only numbers are held, a million of them in a few columns.

    `places` are those that they were added with, by which what they are is found again.
    """

    responses: list[tuple[str, str]] = field(default_factory=list)
    """(run_id, topic_id)"""
    owners: array[int] = field(default_factory=lambda: array("i"))
    """Of each candidate the number of its response."""
    places: array[int] = field(default_factory=lambda: array("q"))
    reaches: array[float] = field(default_factory=lambda: array("d"))
    shares: array[float] = field(default_factory=lambda: array("d"))
    """NaN where it is unjudged."""
    labels: array[int] = field(default_factory=lambda: array("q"))
    """Of each response how many of its items have a label."""

    def __len__(self) -> int:
        return len(self.owners)

    def add(
        self,
        run_id: str,
        topic_id: str,
        found: Sequence[tuple[int, LabelCandidate]],
        labels: int = 0,
    ) -> None:
        """Add candidates of a response that has none yet, each with its place.

        `labels` is how many other items of the response have one already.
        """
        named = sorted(found, key=lambda one: _name_of(one[1]))
        for place, candidate in named:
            self.owners.append(len(self.responses))
            self.places.append(place)
            self.reaches.append(candidate.reach)
            self.shares.append(math.nan if candidate.share is None else candidate.share)
        self.responses.append((run_id, topic_id))
        self.labels.append(labels)

    def in_order(self) -> list[int]:
        """Return the numbers of all by topic, run, sentence and document."""
        return sorted(range(len(self)), key=lambda n: (*self.responses[self.owners[n]][::-1], n))

    def best(self, near: Mapping[str, float], budget: int) -> list[tuple[float, int]]:
        """Return so many numbers of candidates, each with its gain: the best, then the best after.

        The gain is the variance that the label takes out of its run's mean, given the labels before
        it (Krause, Singh and Guestrin, JMLR 2008), times the near ties of the run. Equal gains go
        by topic and run. Within a response those that move the mean most come first, then any: the
        ones of which the judge is unsure are no sample of the others.
        """
        owners, left = np.asarray(self.owners), len(self.responses)
        starts = np.searchsorted(owners, np.arange(left + 1)).tolist()
        by_run: dict[str, list[int]] = {}
        for number in sorted(range(left), key=self.responses.__getitem__):
            by_run.setdefault(self.responses[number][0], []).append(number)
        chance = np.random.default_rng(SEED)
        groups = {
            run: _OpenItems.of(self, own, starts, chance) for run, own in sorted(by_run.items())
        }
        queue = [group.next(near.get(run, 0.0), run) for run, group in groups.items()]
        heapq.heapify(queue)
        found: list[tuple[float, int]] = []
        while queue and len(found) < budget:
            gain, _, run, response = heapq.heappop(queue)
            if gain > 0:  # no candidate is left in it
                continue
            found.append((-gain, groups[run].take(response)))
            heapq.heappush(queue, groups[run].next(near.get(run, 0.0), run))
        return found


@dataclass(slots=True)
class _OpenItems:
    """The candidates of a run that are still open, by response; sizes are over the item's error."""

    topics: list[str]
    open: list[list[tuple[float, int]]]
    """(reach, number), the next last."""
    reach: Array
    """(responses,) The sum of the reaches of open items, and of those labelled their number."""
    labels: Array

    @classmethod
    def of(
        cls,
        held: LabelCandidates,
        numbers: Sequence[int],
        starts: Sequence[int],
        chance: np.random.Generator,
    ) -> _OpenItems:
        """Return the candidates of some responses; those of one begin at its start."""
        own = []
        for number in numbers:
            at = range(starts[number], starts[number + 1])
            mixed = np.random.default_rng(SEED).permutation(len(at)).tolist()
            own.append(
                sorted(((held.reaches[at[i]], at[i]) for i in mixed), key=lambda one: one[0])
            )
        topics = [held.responses[number][1] for number in numbers]
        sums = [math.fsum(reach for reach, _ in items) for items in own]
        labels = [float(held.labels[number]) for number in numbers]
        return cls(topics, own, np.array(sums), np.array(labels))

    def next(self, near: float, run: str) -> tuple[float, str, str, int]:
        """Return minus the best gain, and where: topic, run and place of the response."""
        first = np.array([items[-1][0] if items else math.nan for items in self.open])
        left = 1 / (1 + self.labels * USUAL**2)
        own = USUAL**2 * left
        of_run = USUAL**2 / (1 + (self.labels * left).sum() * USUAL**2)
        shared = first + (self.reach * left).sum() * of_run * left + self.reach * own
        gains = near * shared**2 / (1 + of_run * left**2 + own)
        place = int(np.nanargmax(gains)) if any(self.open) else 0
        gain = float(gains[place])
        return (1.0 if math.isnan(gain) else -gain), self.topics[place], run, place

    def take(self, place: int) -> int:
        """Return the number of the next candidate of a response; it is open no more."""
        reach, number = self.open[place].pop()
        self.reach[place] -= reach
        self.labels[place] += 1
        return number


def _name_of(candidate: LabelCandidate) -> tuple[int, str]:
    index = candidate.sentence_index
    return -1 if index is None else index, candidate.doc_id or ""


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


def draw_sample(responses: Iterable[Hashable], budget: int, rng: np.random.Generator) -> list[int]:
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
