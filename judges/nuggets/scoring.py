"""AutoNuggetizer's scores of a response, from the labels of its nuggets.

Source: Pradeep et al., Initial Nugget Evaluation Results for the TREC 2024 RAG Track
(arXiv 2411.09607); the weighted form as in ir_axioms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from trecjudge import Judgment, Response
from trecjudge.judging.nuggets import NOT_STATED, PARTLY, STATED
from trecjudge.records import AskedNugget
from trecjudge.records.nuggets import OKAY, VITAL

NO_NUGGETS = "NO_NUGGETS"
WEIGHTS = {VITAL: 1.0, "A": 1.0, OKAY: 0.5, "B": 0.5, "C": 0.25}
"""By importance; a nugget without one counts as an okay one, or, where none has one, as vital."""
UNKNOWN = AskedNugget("", "", VITAL)
"""Stands for the nuggets of a response of which nothing is known."""


@dataclass(frozen=True, slots=True)
class NuggetScoring:
    """The scores; `partly` is what a nugget counts that is stated in part: 0.5, strictly 0."""

    partly: float

    def every(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return sum of s / nuggets, 0 to 1; None where none is judged."""
        return self._mean(response, judgments, lambda nugget: 1.0)

    def vital(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return the same over vital nuggets; None where the bank has none."""
        return self._mean(response, judgments, lambda nugget: float(is_vital(nugget)))

    def weighted_share(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return (vital s + 0.5 okay s) / (vital + 0.5 okay nuggets), 0 to 1."""
        nuggets = [judgment.nugget for judgment in judgments if judgment.nugget]
        labelled = any(nugget.importance for nugget in nuggets)

        def weight(nugget: AskedNugget) -> float:
            return WEIGHTS.get(nugget.importance, 0.5) if labelled else 1.0

        return self._mean(response, judgments, weight)

    def _mean(
        self, response: Response, judgments: Sequence[Judgment], weight: Callable[..., float]
    ) -> float | None:
        found = [(weight(j.nugget), self._worth(j)) for j in judgments if j.nugget and j.judged]
        whole = math.fsum(weight for weight, _ in found)
        return math.fsum(weight * worth for weight, worth in found) / whole if whole else None

    def _worth(self, judgment: Judgment) -> float:
        return {STATED: 1.0, PARTLY: self.partly}.get(judgment.label or "", 0.0)


def is_vital(nugget: AskedNugget) -> bool:
    """Return whether a good answer must have the nugget."""
    return nugget.importance in (VITAL, "A")


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged nugget at its best or at its worst."""
    label = STATED if best else NOT_STATED
    return replace(judgment, nugget=judgment.nugget or UNKNOWN, label=label, failure=None)
