"""The first passages put in another order, by what reads them: a model, or an endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from trecjudge.baseline.masking import mask_personal_data
from trecjudge.baseline.retrieve.ranking import ScoredChunk
from trecjudge.errors import PLANNED, JudgmentFailed
from trecjudge.models.model import Model, Program, ReplyLength

GRADE_PASSAGES = Program(
    "grade_passages",
    "trecjudge.baseline.program:GradePassages",
    aligned_with="passages",
    length=ReplyLength(fixed=20, each=16),
)
AT_ONCE = 10
"""Passages of one request."""


class Ranks(Protocol):
    """Scores texts for a question, to rerank them: a model, or an endpoint's `/rerank`."""

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score for each text, in this order; higher is better.

        Raises JudgmentFailed for this question, ModelError for all.
        """


@dataclass(frozen=True, slots=True)
class ModelRanks:
    """Grades passages 0 to 3 by a model; passages of one grade keep the order they had."""

    model: Model

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the grade of each text. Raises JudgmentFailed if one of them has none."""
        groups = [texts[start : start + AT_ONCE] for start in range(0, len(texts), AT_ONCE)]
        found = await asyncio.gather(*(self._grades(question, group) for group in groups))
        return [grade for grades in found for grade in grades]

    async def _grades(self, question: str, texts: Sequence[str]) -> list[float]:
        prediction = await self.model.predict(
            GRADE_PASSAGES, question=question, passages=list(texts)
        )
        given = {graded.number: float(graded.grade) for graded in prediction.grades}
        if set(given) != set(range(1, len(texts) + 1)):
            message = f"the grades are of passages {sorted(given)}, not of 1 to {len(texts)}"
            raise JudgmentFailed("parse", message, call=prediction.call)
        return [given[number] for number in range(1, len(texts) + 1)]


@dataclass(frozen=True, slots=True)
class PlannedRanks:
    """Grades of a plan: those that are cached; passages without any keep their order."""

    ranks: ModelRanks

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the grade of each text, as far as it is known. Raises JudgmentFailed."""
        try:
            return await self.ranks.scores(question, texts)
        except JudgmentFailed as failed:
            if failed.kind != PLANNED:
                raise
            return [0.0] * len(texts)


@dataclass(frozen=True, slots=True)
class MaskedRanks:
    """What `ranks` gives for texts without personal data of a known form."""

    ranks: Ranks

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the score of each text; see `Ranks.scores`."""
        hidden = [mask_personal_data(text).text for text in texts]
        return await self.ranks.scores(mask_personal_data(question).text, hidden)


async def rerank(
    candidates: Sequence[ScoredChunk], question: str, ranks: Ranks, first: int
) -> list[ScoredChunk]:
    """Return candidates with the first `first` in the order of their new scores, the rest after.

    Of equal new scores the order stays. The rest keep their order, with scores below the others.
    """
    head, rest = candidates[:first], candidates[first:]
    if not head:
        return []
    scores = await ranks.scores(question, [candidate.chunk.text for candidate in head])
    given = [c.with_score(float(s), rerank=float(s)) for c, s in zip(head, scores, strict=True)]
    given.sort(key=lambda candidate: -candidate.score)
    lowest = given[-1].score
    return [*given, *(c.with_score(lowest - 1 / (1 + max(c.score, 0.0))) for c in rest)]
