"""What to label next: the items whose labels would narrow the order of the runs most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

import numpy as np

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

    @property
    def doubt(self) -> float:
        """The variance of what its label may be, 0 to 1/4: largest where the judge is unsure."""
        if self.share is None:  # nothing is known: as of a coin
            return 0.25
        chance = WRONG + (1 - 2 * WRONG) * self.share
        return chance * (1 - chance)


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


def drawn(candidates: Sequence[Candidate], budget: int, rng: np.random.Generator) -> list[int]:
    """Return the places of so many candidates drawn at random, sorted.

    Responses are drawn first, each as likely as any other, and one item of each; further items of
    a response only once all responses have one. A mean over the labelled responses is then one over
    a random sample of responses: items drawn alike would prefer long ones.
    """
    responses: dict[tuple[str, str], list[int]] = {}
    for place, candidate in enumerate(candidates):
        responses.setdefault((candidate.run_id, candidate.topic_id), []).append(place)
    keys = list(responses)
    shuffled = [rng.permutation(responses[keys[i]]).tolist() for i in rng.permutation(len(keys))]
    # One item of each response, then a second of each...
    in_rounds = (place for items in zip_longest(*shuffled) for place in items if place is not None)
    return sorted(islice(in_rounds, budget))


def ranked(
    candidates: Iterator[Candidate], near_ties_of: Mapping[str, float]
) -> list[tuple[float, Candidate]]:
    """Return the candidates with their gain, the largest first.

    The gain is the variance that the label takes out of its run's mean, reach^2 x doubt, times the
    near ties of the run: the sum, over all pairs that are hard to separate, of the variance that
    the label takes out of their difference. Equal gains go by topic, run and sentence.
    """
    scored = [(c.reach**2 * c.doubt * near_ties_of.get(c.run_id, 0.0), c) for c in candidates]

    def key(entry: tuple[float, Candidate]) -> tuple[float, str, str, int, str]:
        gain, c = entry
        index = -1 if c.sentence_index is None else c.sentence_index
        return -gain, c.topic_id, c.run_id, index, c.doc_id or ""

    return sorted(scored, key=key)
