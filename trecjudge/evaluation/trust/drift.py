"""Whether a judge is still the one of its card: the same items, asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from trecjudge.errors import InputError
from trecjudge.evaluation.trust.card import DECIMALS, JudgeCard
from trecjudge.stats.paired import holm, sign_flip
from trecjudge.stats.resampling import Array, Interval, mean_intervals

LEVEL: Final = 0.025
"""False alarms that the answers may cause, and the figures together: 5 % in all."""
SAME: Final = ("judge", "settings", "model", "served", "prompts", "versions")
"""What both cards say of the judge, so that a difference is told."""
Four = tuple[str, str, str, str]
"""The labels of one item: before, before when asked again, now, now when asked again."""


@dataclass(frozen=True, slots=True)
class FigureDrift:
    """A figure of both cards over the same `n` responses or items, and the p of the paired test.

    The test is that of sign flips, which is McNemar's where values are 0 and 1; `holm` is its p,
    corrected for all figures. `interval` is that of the difference, 95 %.
    """

    name: str
    n: int
    before: float
    after: float
    interval: Interval
    p: float
    holm: float

    @property
    def moved(self) -> bool:
        """Whether it differs by more than chance."""
        return self.holm < LEVEL

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        numbers = {"before": self.before, "after": self.after, "p": self.p, "holm": self.holm}
        rounded = {name: round(value, DECIMALS + 2) for name, value in numbers.items()}
        bounds = list(self.interval.round_to(DECIMALS))
        found = {"figure": self.name, "n": self.n, "interval": bounds, "moved": self.moved}
        return found | rounded


@dataclass(frozen=True, slots=True)
class AnswerDrift:
    """How many of the answers to the same `n` items are others now.

    `flips` are how many of the items are answered otherwise when they are asked twice at one time:
    (then, now). `p` is the chance that one judge, which varies so, would differ as much from one
    time to the other; None where no model is asked, whose answers vary by nothing.
    """

    n: int
    changed: int
    flips: tuple[int, int]
    p: float | None

    @property
    def moved(self) -> bool:
        """Whether it is another judge that answers."""
        return self.changed > 0 if self.p is None else self.p < LEVEL

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        p = None if self.p is None else round(self.p, DECIMALS + 2)
        found = {"items": self.n, "changed": self.changed, "p": p, "moved": self.moved}
        return found | {"flips_before": self.flips[0], "flips_after": self.flips[1]}


@dataclass(frozen=True, slots=True)
class Drift:
    """What of a judge has moved since its card was made.

    `lost` are items of the card that are not here any more, or with another text. `told` are what
    the two cards say of the judge where that differs: (what, before, after).
    """

    answers: AnswerDrift
    figures: Sequence[FigureDrift]
    lost: int
    told: Sequence[tuple[str, str, str]]

    @property
    def moved(self) -> bool:
        """Whether anything moved beyond noise."""
        return self.answers.moved or any(figure.moved for figure in self.figures)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "moved": self.moved,
            "answers": self.answers.as_dict(),
            "figures": [figure.as_dict() for figure in self.figures],
            "lost": self.lost,
            "told": [list(one) for one in self.told],
        }


def compare_cards(before: JudgeCard, after: JudgeCard) -> Drift:
    """Return what moved from one card to the other. Raises InputError where no item is in both."""
    old, new = before.fixed.answers, after.fixed.answers
    shared = [item for item in old if item in new]
    if not shared:
        raise InputError("no item of the earlier card is judged here: give the same runs to judge")
    fours = [(*old[i], *new[i]) for i in shared]
    asked = [(a, b, c, d) for a, b, c, d in fours if b is not None and d is not None]
    flips = sum(a != b for a, b, _, _ in asked), sum(c != d for _, _, c, d in asked)
    changed = sum(a != c for a, _, c, _ in fours)
    varies = before.about.get("model") or after.about.get("model")
    p = chance_of_change(asked) if varies else None
    figures = _figures(before.fixed.values, after.fixed.values)
    told = list(_differences(before.about, after.about))
    lost = len(old) - len(shared)
    return Drift(AnswerDrift(len(shared), changed, flips, p), figures, lost, told)


def chance_of_change(answers: Sequence[Four]) -> float:
    """Return the p of the test that one judge gave all four answers to each item.

    If it did, each of the three ways to put the four in two pairs is as likely as the others, and
    the answers of a pair differ as often whichever they are. The statistic is how many of the pairs
    of one time differ, and p is exact: a permutation test within items, one-sided. The smallest p
    of k items that changed is 1 / 3^k.
    """
    chances, observed = np.ones(1), 0
    for a, b, c, d in answers:
        splits = [(a != b) + (c != d), (a != c) + (b != d), (a != d) + (b != c)]
        if len(set(splits)) > 1:
            observed += splits[0]
            chances = np.convolve(chances, np.bincount(splits, minlength=3) / 3)
    return min(1.0, float(chances[: observed + 1].sum()))


def _figures(
    before: Mapping[str, Mapping[str, float]], after: Mapping[str, Mapping[str, float]]
) -> list[FigureDrift]:
    found, p = [], []
    for name in (name for name in before if name in after):
        old, new = before[name], after[name]
        units = sorted(unit for unit in old if unit in new)
        if units:
            values = np.array([[old[unit] for unit in units], [new[unit] for unit in units]])
            found.append((name, values))
            p.append(_paired(values[1] - values[0]))
    return [
        FigureDrift(
            name,
            values.shape[1],
            float(values[0].mean()),
            float(values[1].mean()),
            mean_intervals((values[1] - values[0])[None, :])[0],
            plain,
            corrected,
        )
        for (name, values), plain, corrected in zip(
            found, p, holm(np.array(p)).tolist(), strict=True
        )
    ]


def _paired(differences: Array) -> float:
    """Return the p of the sign-flip test: differences of 0 change nothing in it."""
    left = differences[np.abs(differences) > 1e-9]
    return float(sign_flip(left[None, :])[0]) if left.size else 1.0


def _differences(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield what two cards say of their judges where that differs, setting by setting."""
    for part in SAME:
        sides = [
            own if isinstance(own, Mapping) else {"": own}
            for own in (before.get(part), after.get(part))
        ]
        for name in dict.fromkeys([*sides[0], *sides[1]]):
            old, new = (side.get(name) for side in sides)
            if old != new:
                yield f"{part} {name}".strip(), _said(old), _said(new)


def _said(value: Any) -> str:
    return "not known" if value in (None, "", []) else str(value)
