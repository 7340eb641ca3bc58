"""ARGUE: what a report is rewarded and penalised for, sentence by sentence and nugget by nugget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeVar

from trecjudge import (
    Item,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    Model,
    Nugget,
    Program,
    Response,
    Sentence,
    Topic,
    WholeResponse,
    judgment_of,
)
from trecjudge.judging.attest import AttesterName, Attesting, citation_item
from trecjudge.judging.judge import unjudged
from trecjudge.judging.nuggets import CUT, NEGATIVE, Matches, SentencePath, Tree, nuggets_given
from trecjudge.settings.fields import check_ranges, ranged

from ..citation import ATTEST, ATTEST_GROUP
from .deciding import (
    STATE_ANSWERS,
    UNCITED,
    ByModel,
    ByWords,
    Decider,
    bank_judgment,
    confirms,
    within,
)
from .scoring import ArgueScoring, best_or_worst

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ArgueJudge(Attesting):
    """What ARGUE rewards and penalises: attested sentences, answered nuggets, citations that lack.

    `matches` is which stated answers count: those in sentences that all they cite attests
    (`attested`), in sentences that cite a document of the answer (`linked`), or in any
    (`any_text`). `matcher` is who decides on answers and on uncited sentences: `lexical`, `llm`, or
    `auto`; a model gets a sentence with `window` questions at a time. `partial` is what a partial
    support counts in CITATION_SUPPORT. `limit` is where the response is cut, in characters, 0 for
    nowhere, or `topic` for the topic's own. `cited` is whether any run cites a document of the
    banks, which a job finds out; where none does, what looks for them has no value.
    """

    matches: Matches = "attested"
    matcher: AttesterName = "auto"
    window: int = ranged(10, 1)
    partial: float = ranged(0.0, 0.0, 1.0)
    limit: int | Literal["topic"] = ranged(0, 0)
    cited: bool = True
    # The citation judge's own programs: an equal question of both judges is one model call.
    programs: ClassVar[tuple[Program, ...]] = (ATTEST, ATTEST_GROUP, STATE_ANSWERS, UNCITED)
    needs: ClassVar[tuple[str, ...]] = ("nuggets", "document_text")

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def needs_model(self) -> bool:
        """Whether the settings ask for a model."""
        return "llm" in (self.attester, self.matcher)

    @property
    def measures(self) -> LeaderboardSpec:
        """The measures by topic and, as means over all, from summed counts; ranked by F1."""
        columns = ArgueScoring(self.matches, self.partial, self.cited).measures
        return LeaderboardSpec(columns, sort_by="F1", fill=best_or_worst)

    def fitted(self, nuggets: Sequence[Nugget], cited: Callable[[], bool]) -> ArgueJudge:
        """Return the judge, which knows whether the runs cite documents of the banks."""
        return replace(self, cited=self.cited and cited())

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield each citation, as the citation judge does, and then the whole response."""
        for sentence in self._kept_sentences(topic, response):
            for citation in sentence.citations:
                yield citation_item(topic, response, sentence, citation)
        yield WholeResponse.of(topic, response)

    async def judge(  # type: ignore[override]  # a judge may return a list, its base never does
        self, item: Item, model: Model
    ) -> Judgment | list[Judgment]:
        """Return the support of a citation; of a response all decisions on sentences and nuggets.

        Those are, each with its reason: what every uncited sentence is; every answer that a
        sentence states, or of which that could not be decided; every nugget of the bank.
        """
        if not isinstance(item, WholeResponse):
            return await Attesting.judge(self, item, model)
        kept = self._kept_sentences(item.topic, item.response)
        decider = self._decider(item.topic, model)
        behind = [
            judgment_of(item, sentence_index=s.index, label=CUT, reason="it is behind the limit")
            for s in item.response.sentences[len(kept) :]
        ]
        work = [_judge_uncited(item, kept, s, decider) for s in kept if not s.citations]
        uncited, stated = await asyncio.gather(
            in_turn(work, model), self._judge_answers(item, kept, decider, model)
        )
        return [*uncited, *behind, *_confirming_negatives(stated, uncited)]

    def decides_itself(self, item: Item) -> bool:
        """Return whether labels of others say nothing about an item: they are on citations."""
        return item.citation is None

    def given(self, item: Item, label: str) -> Judgment:
        """Return the judgment of a citation that somebody else's label makes.

        Raises JudgmentFailed for what is no label of support, and on anything but a citation.
        """
        if item.citation is None:
            raise JudgmentFailed("parse", "argue takes labels on citations only")
        return Attesting.given(self, item, label)

    def paths(self, response: Response, judgments: Sequence[Judgment]) -> list[SentencePath]:
        """Return the way of each sentence through the tree, from the judgments on its response."""
        return Tree.of(response, judgments).paths()

    def _kept_sentences(self, topic: Topic, response: Response) -> Sequence[Sentence]:
        limit = topic.limit or 0 if self.limit == "topic" else self.limit
        return within(limit, response.sentences)

    def _decider(self, topic: Topic, model: Model) -> Decider:
        if self.matcher == "llm" or (self.matcher == "auto" and model.available):
            return ByModel(model, topic.title, self.window)
        return ByWords()

    async def _judge_answers(
        self, item: WholeResponse, kept: Sequence[Sentence], decider: Decider, model: Model
    ) -> list[Judgment]:
        """Return a judgment on each answer that a sentence states, then one on each nugget."""
        try:
            nuggets = nuggets_given(item.topic)
        except JudgmentFailed as failed:
            return [unjudged(item, failed)]
        with_text = [sentence for sentence in kept if sentence.has_text]
        work = [decider.judge_answers(item, sentence, nuggets) for sentence in with_text]
        pairs = [judgment for found in await in_turn(work, model) for judgment in found]
        return [*pairs, *(bank_judgment(item, nugget, pairs) for nugget in nuggets)]


async def in_turn(work: Sequence[Awaitable[T]], model: Model) -> list[T]:
    """Await everything at once where a model is asked; else nothing waits, and tasks would cost."""
    return await asyncio.gather(*work) if model.available else [await one for one in work]


def _confirming_negatives(
    stated: Sequence[Judgment], uncited: Sequence[Judgment]
) -> list[Judgment]:
    """Return the judgments without those on what nobody knows of sentences that assert more.

    Only a negative assertion can confirm that a question has no answer.
    """
    negative = {j.sentence_index for j in uncited if j.label == NEGATIVE or not j.judged}
    return [j for j in stated if not confirms(j) or j.sentence_index in negative]


async def _judge_uncited(
    item: WholeResponse, kept: Sequence[Sentence], sentence: Sentence, decider: Decider
) -> Judgment:
    """Return what an uncited sentence is; an unjudged one where that fails: others still count."""
    earlier = [s for s in kept if s.index < sentence.index and s.has_text]
    try:
        found = await decider.judge_uncited(item, sentence, earlier)
    except JudgmentFailed as failed:
        found = unjudged(item, failed)
    return replace(found, sentence_index=sentence.index)
