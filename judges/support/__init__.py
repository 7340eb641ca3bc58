"""Citation support as the TREC RAG track scores it, and as ALCE and Auto-ARGUE would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from trecjudge import (
    Item,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    MeasureSpec,
    Model,
    Program,
    Response,
    Topic,
    judgment_of,
)
from trecjudge.judging.attest import Attesting, best_or_worst, citation_item
from trecjudge.judging.judge import unjudged
from trecjudge.records import FULL

from ..citation import ATTEST, ATTEST_GROUP, sentence_support
from .measures import (
    HARD,
    WEIGHTED,
    AssessedCitations,
    Together,
    Weighing,
    alce_precision,
    alce_recall,
    best_or_worst_together,
    cited_together,
    strongest,
    without,
)

ALCE = (
    MeasureSpec(
        "ALCE_RECALL",
        alce_recall,
        description="Share of all sentences that their cited documents, taken"
        " together, fully support. From 0 to 1; higher is better.",
    ),
    MeasureSpec(
        "ALCE_PRECISION",
        alce_precision,
        description="Share of the citations that are needed: they support the sentence"
        " themselves, or the others do not suffice without them. From 0 to"
        " 1; higher is better.",
    ),
)
ARGUE = (
    MeasureSpec(
        "ARGUE_CITATION_SUPPORT",
        Weighing("all", HARD).precision,
        description="Share of all citations that fully support their sentence. From 0"
        " to 1; higher is better.",
    ),
    MeasureSpec(
        "ARGUE_SENTENCE_SUPPORT",
        sentence_support,
        description="Share of the sentences with citations in which every citation"
        " fully supports the sentence. From 0 to 1; higher is better.",
    ),
)


@dataclass(frozen=True, slots=True)
class SupportJudge(Attesting):
    """How well sentences are supported by what they cite (TREC RAG track's support evaluation).

    `citations` is which citations of a sentence are assessed: the strongest (`first`), all of
    them, or all with the best one counting. `compat` adds Auto-ARGUE's measures (`argue`), or asks
    ALCE's questions and takes its measures in place of the track's (`alce`).
    """

    citations: AssessedCitations = "first"
    compat: Literal["none", "alce", "argue"] = "none"
    # The citation judge's own programs: an equal question of both judges is one model call.
    programs: ClassVar[tuple[Program, ...]] = (ATTEST, ATTEST_GROUP)

    @property
    def measures(self) -> LeaderboardSpec:
        """The measures, ranked by WEIGHTED_PRECISION; with `alce` ALCE's, ranked by its recall."""
        if self.compat == "alce":
            return LeaderboardSpec(ALCE, sort_by="ALCE_RECALL", fill=best_or_worst_together)
        weighted, hard = Weighing(self.citations, WEIGHTED), Weighing(self.citations, HARD)
        columns = (
            MeasureSpec(
                "WEIGHTED_PRECISION",
                weighted.precision,
                description="Mean support of the assessed citations: 1 for full support, 0.5"
                " for support in part, 0 for none. From 0 to 1; higher is better.",
            ),
            MeasureSpec(
                "WEIGHTED_RECALL",
                weighted.recall,
                description="Mean support over all sentences: 1 for full support, 0.5 for"
                " support in part, 0 for none or no citation. From 0 to 1; higher"
                " is better.",
            ),
            MeasureSpec(
                "HARD_PRECISION",
                hard.precision,
                description="Share of the assessed citations that fully support their"
                " sentence. From 0 to 1; higher is better.",
            ),
            MeasureSpec(
                "HARD_RECALL",
                hard.recall,
                description="Share of all sentences that a cited document fully supports. From"
                " 0 to 1; higher is better.",
            ),
        )
        more = ARGUE if self.compat == "argue" else ()
        return LeaderboardSpec((*columns, *more), sort_by="WEIGHTED_PRECISION", fill=best_or_worst)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield what the measures need: with `alce` cited sentences, else citations."""
        only_strongest = self.citations == "first" and self.compat == "none"
        for sentence in response.sentences:
            if not sentence.citations:
                continue
            if self.compat == "alce":
                yield cited_together(topic, response, sentence)
                continue
            for citation in (strongest(sentence),) if only_strongest else sentence.citations:
                yield citation_item(topic, response, sentence, citation)

    async def judge(  # type: ignore[override]  # a judge may return a list, its base never does
        self, item: Item, model: Model
    ) -> Judgment | list[Judgment]:
        """Return full, partial or no support; of citations together, all that ALCE's rules need."""
        if not isinstance(item, Together) or item.exists is False:
            return drop_grade(item, await Attesting.judge(self, item, model))
        whole = drop_grade(item, await self._attempt(item, model))
        if whole.failure is not None:
            # Its citations are listed as unjudged too, so that the bounds know of them.
            return [whole, *(judgment_of(each, failure=whole.failure) for each in item.parts)]
        if whole.label != FULL:
            return [whole]
        return [whole, *await self._each(item, model)]

    def group_of(self, item: Item) -> str | None:
        """Return the document that a model would be asked about; None for several together."""
        return None if isinstance(item, Together) else Attesting.group_of(self, item)

    async def _each(self, item: Together, model: Model) -> list[Judgment]:
        """Judge each citation by itself and, where it does not suffice, the rest without it."""
        found = []
        for each in item.parts:
            found.append(await self._attempt(each, model))
            if found[-1].label != FULL:
                rest = without(item, each)
                found.append(drop_grade(rest, await self._attempt(rest, model)))
        return found

    async def _attempt(self, item: Item, model: Model) -> Judgment:
        """Return the judgment on an item, an unjudged one where it fails: others still count."""
        try:
            return await Attesting.judge(self, item, model)
        except JudgmentFailed as failed:
            return unjudged(item, failed)


def drop_grade(item: Item, judgment: Judgment) -> Judgment:
    """Return the judgment, without a grade for qrels if it is on several documents."""
    return replace(judgment, grade=None) if isinstance(item, Together) else judgment
