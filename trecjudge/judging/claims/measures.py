"""Rates over the judged claims of a response, for the measures of several judges."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from trecjudge.measures import Fill
from trecjudge.records import ABSTAINED, Claim, Judgment, Response

UNKNOWN = {True: Claim(-1, "", 0, ("",)), False: Claim(-1, "", 0)}
"""Stands for the unknown claims of a response: at their best (True) and at their worst."""

Weight = Callable[[Claim], float]
Rate = Callable[[Response, Sequence[Judgment]], float | None]


def is_silent(response: Response, judgments: Sequence[Judgment]) -> bool:
    """Return whether a judged response has no text, and does not say that it abstains."""
    if response.has_text or not judgments:
        return False
    return all(judgment.label != ABSTAINED for judgment in judgments)


def complement(share: Rate) -> Rate:
    """Return the measure: 1 - another one, and not defined where that is not."""

    def computed(response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return the rest, 0 to 1; None where the share is not defined."""
        value = share(response, judgments)
        return None if value is None else 1 - value

    return computed


def rate(
    labels: Collection[str],
    weight: Weight = lambda claim: 1.0,
    empty: float | None = 0.0,
) -> Rate:
    """Return the measure: the weight of the claims with such a label / that of all judged ones.

    `empty` is the value of a response that is silent, which is as good as none.
    """

    def computed(response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return the share, 0 to 1; None where no claim is judged."""
        if is_silent(response, judgments):
            return empty
        judged = [(j.label, weight(j.claim)) for j in judgments if j.claim and j.judged]
        whole = sum(weight for _, weight in judged)
        return sum(weight for label, weight in judged if label in labels) / whole if whole else None

    return computed


def expected_rate(weights: Mapping[str, float]) -> Rate:
    """Return the measure: the mean weight to be expected of the judged claims, 0 to 1.

    A claim without calibrated probabilities counts what its label does in `weights`, else 0. A
    response that is silent has 0.
    """

    def computed(response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return the mean; None where no claim is judged."""
        if is_silent(response, judgments):
            return 0.0
        judged = [j for j in judgments if j.claim and j.judged]
        found = [
            weights.get(j.label or "", 0.0) if j.expected is None else j.expected for j in judged
        ]
        return math.fsum(found) / len(found) if found else None

    return computed


def filling(best: str, worst: str) -> Fill:
    """Return what gives an unjudged claim its best or worst label.

    A response whose claims are not known counts as one claim.
    """

    def best_or_worst(judgment: Judgment, is_best: bool) -> Judgment:
        claim = judgment.claim or UNKNOWN[is_best]
        return replace(judgment, claim=claim, label=best if is_best else worst, failure=None)

    return best_or_worst
