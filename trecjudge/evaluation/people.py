"""How far people agree who labelled the same items, and how long they took."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

import numpy as np

from trecjudge.inputs.labels import DECIDED, UNNAMED, Labels, Vote, majority
from trecjudge.inputs.packed import Group
from trecjudge.measures import DIGITS
from trecjudge.stats.agreement import (
    accuracy,
    alpha,
    kappa,
)
from trecjudge.stats.resampling import Array

AT_ONCE = 1000
"""Pairs of sides whose figures are computed together."""
Cells = Counter[tuple[str, str]]
"""How many items have which two labels."""
InOrder = Callable[[set[str]], tuple[list[str], bool]]
"""Labels in order, and whether they are grades."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How far two sides say the same of the items that both have; None where it is not defined.

    `kappa_linear` is there where labels are grades.
    """

    items: int
    accuracy: float | None
    kappa: float | None
    kappa_linear: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Person:
    """A person beside the judge, and both beside the majority of all other people.

    The last two are on the same items: those that the judge, the person and others have labelled
    and on which the others are not divided.
    """

    name: str
    with_judge: Likeness
    with_rest: Likeness
    judge_with_rest: Likeness

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        found = asdict(self)
        return {"person": found.pop("name")} | found


@dataclass(frozen=True, slots=True)
class TimeSpent:
    """How long a person looked at items, as their files say: in all, and the median an item."""

    person: str
    items: int
    seconds: float
    median: float

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def time_spent(labels: Labels | None) -> list[TimeSpent]:
    """Return the time of each person whose files have it, by name."""
    return [
        TimeSpent(name, len(own), round(sum(own.values()), 1), round(median(own.values()), 1))
        for name, own in sorted(labels.seconds.items() if labels else ())
    ]


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """The people of one side: `several` items are labelled by two or more, `tied` by no majority.

    `alpha` is Krippendorff's over all their labels of these items, `alpha_ordinal` where these are
    grades. `pairs` are two persons each; people without a name are in alpha only.
    """

    items: int
    several: int
    tied: int
    alpha: float | None
    alpha_ordinal: float | None
    pairs: Sequence[tuple[str, str, Likeness]]
    persons: Sequence[Person]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "items": self.items,
            "labelled_by_several": self.several,
            "tied": self.tied,
            "alpha_nominal": self.alpha,
            "alpha_ordinal": self.alpha_ordinal,
            "pairs": [{"persons": [a, b]} | both.as_dict() for a, b, both in self.pairs],
            "persons": [person.as_dict() for person in self.persons],
        }


@dataclass(slots=True)
class _PeopleTally:
    """Counts of pairs of labels, gathered item by item."""

    together: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Coincidences within an item, each weighed by 1 / (its labels - 1)."""
    pairs: defaultdict[tuple[str, str], Cells] = field(default_factory=lambda: defaultdict(Counter))
    judge: defaultdict[str, Cells] = field(default_factory=lambda: defaultdict(Counter))
    rest: defaultdict[str, Cells] = field(default_factory=lambda: defaultdict(Counter))
    judge_rest: defaultdict[str, Cells] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, names: Sequence[str], votes: Sequence[Vote], judged: str | None) -> None:
        """Take what people say of an item, and the judge's label of it, if it has one."""
        votes = [vote for vote in votes if vote[3] != DECIDED]
        said: dict[int, set[str]] = {}
        for label, _, _, who in votes:
            said.setdefault(who, set()).add(label)
        unnamed = [label for label, _, _, who in votes if who == UNNAMED]
        one_each = {who: own for who, own in said.items() if who != UNNAMED and len(own) == 1}
        named = {names[who]: next(iter(own)) for who, own in one_each.items()}
        self._together([*named.values(), *unnamed])
        for one, other in itertools.combinations(sorted(named), 2):
            self.pairs[one, other][named[one], named[other]] += 1
        if judged is None:
            return
        for person, label in named.items():
            self.judge[person][label, judged] += 1
            others = majority([v for v in votes if v[3] == UNNAMED or names[v[3]] != person])
            if others is not None:
                self.rest[person][others[0], label] += 1
                self.judge_rest[person][others[0], judged] += 1

    def _together(self, values: Sequence[str]) -> None:
        counts = Counter(values)
        if len(values) > 1:
            for one, n in counts.items():
                for other, m in counts.items():
                    self.together[one, other] += n * (m - (one == other)) / (len(values) - 1)  # type: ignore[assignment]


def compare_people(
    labels: Labels,
    judged: Callable[[Group], Mapping[Any, str]],
    items: Callable[[Any, str], Iterable[Any]],
    in_order: InOrder,
) -> PeopleAgreement:
    """Return how far people agree among themselves and with the judge.

    `judged` are the judge's labels of a response by item, `items` what an item of people is called
    there. Krippendorff, Content Analysis, 2004, ch. 11. Leaving one out: each person and the judge
    are compared with the majority of the same other people, as a second assessor would be.
    """
    tally, names = _PeopleTally(), labels.names
    for group in labels.rows:
        theirs = judged(group)
        for item, votes in labels.votes(group).items():
            found = (theirs[name] for name in items(item, group[0]) if name in theirs)
            tally.add(names, votes, next(found, None))
    every = [tally.together, *tally.pairs.values(), *tally.judge.values(), *tally.rest.values()]
    every += tally.judge_rest.values()
    order, ordered = in_order({label for cells in every for pair in cells for label in pair})
    matrix = _matrix(tally.together, order) / 2
    beside = {one for pair in tally.pairs for one in pair}
    pairs = sorted(tally.pairs.items())
    names = sorted(tally.judge.keys() & beside or tally.judge)
    beside_them = (
        _likenesses([counts[name] for name in names], order, ordered)
        for counts in (tally.judge, tally.rest, tally.judge_rest)
    )
    both = _likenesses([cells for _, cells in pairs], order, ordered)
    return PeopleAgreement(
        items=labels.size,
        several=labels.several,
        tied=labels.tied,
        alpha=rounded(alpha(ordinal=False)(matrix)),
        alpha_ordinal=rounded(alpha(ordinal=True)(matrix)) if ordered else None,
        pairs=[(*pair, found) for (pair, _), found in zip(pairs, both, strict=True)],
        persons=[Person(*found) for found in zip(names, *beside_them, strict=True)],
    )


def _matrix(cells: Mapping[tuple[str, str], float], order: Sequence[str]) -> Array:
    at = {label: place for place, label in enumerate(order)}
    found: Array = np.zeros((len(order), len(order)))
    for (one, other), n in cells.items():
        found[at[one], at[other]] = n
    return found


def _likenesses(every: Sequence[Cells], order: Sequence[str], ordered: bool) -> list[Likeness]:
    """Return how alike the two sides of each are; many at once, for thousands of people."""
    found: list[Likeness] = []
    for start in range(0, len(every), AT_ONCE):
        stack = np.array([_matrix(cells, order) for cells in every[start : start + AT_ONCE]])
        items = stack.sum(axis=(-2, -1)).astype(int).tolist()
        figures = [map(rounded, figure(stack)) for figure in (accuracy, kappa(0))]
        linear = map(rounded, kappa(1)(stack)) if ordered else itertools.repeat(None)
        found += map(Likeness, items, *figures, linear)
    return found


def rounded(value: Array | float) -> float | None:
    """Return a figure as it is shown; None where it is not defined."""
    return None if np.isnan(value) else round(float(value), DIGITS)
