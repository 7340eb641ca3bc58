"""ARGUE: what a report is rewarded and penalised for, sentence by sentence and nugget by nugget."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from trecjudge import (
    Item,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    Model,
    Nugget,
    Program,
    ReplyLength,
    Response,
    Sentence,
    Topic,
    WholeResponse,
    judgment_of,
)
from trecjudge.judging.attest import AttesterName, Attesting, citation_item
from trecjudge.judging.judge import (
    ask_together,
    asks_model,
    await_all,
    charge_first,
    judge_or_fail,
    unjudged,
)
from trecjudge.judging.nuggets import (
    CUT,
    NEEDS_CITATION,
    NEEDS_NONE,
    NEGATIVE,
    NOT_STATED,
    PARTLY,
    REPEATED,
    STATED,
    Matches,
    SentencePath,
    Tree,
    leaves_open,
    nuggets_given,
    stated,
    uncited_by_words,
)
from trecjudge.records import AskedNugget, GoldAnswer, Usage
from trecjudge.settings.fields import ranged

from ..citation import ATTEST, ATTEST_GROUP
from .scoring import ArgueScoring, best_or_worst

# Who decides on sentences: words, or a model.
STATE_ANSWERS = Program(
    "state_answers",
    f"{__package__}.program:StateAnswers",
    "questions",
    ReplyLength(fixed=15, each=30),
)
UNCITED = Program("judge_uncited", f"{__package__}.program:JudgeUncited", length=ReplyLength(60))
# Judgments on answers that sentences state, and on the nuggets of a bank.
UNANSWERABLE = "UNANSWERABLE"
"""The label of a question without answers."""
NOBODY_KNOWS = "nobody knows, or it is not so"
"""What stands for the answer to such a question."""


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
        work = [
            judge_or_fail(item, _judge_uncited(item, kept, s, decider), sentence_index=s.index)
            for s in kept
            if not s.citations
        ]
        uncited, answers = await asyncio.gather(
            await_all(work, model), self._judge_answers(item, kept, decider, model)
        )
        return [*uncited, *behind, *_confirming_negatives(answers, uncited)]

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
        return cut_at_limit(limit, response.sentences)

    def _decider(self, topic: Topic, model: Model) -> Decider:
        if asks_model(self.matcher, model):
            return ModelDecider(model, topic.title, self.window)
        return WordDecider()

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
        pairs = [judgment for found in await await_all(work, model) for judgment in found]
        return [*pairs, *(bank_judgment(item, nugget, pairs) for nugget in nuggets)]


def _confirming_negatives(
    answers: Sequence[Judgment], uncited: Sequence[Judgment]
) -> list[Judgment]:
    """Return the judgments without those on what nobody knows of sentences that assert more.

    Only a negative assertion can confirm that a question has no answer.
    """
    negative = {j.sentence_index for j in uncited if j.label == NEGATIVE or not j.judged}
    return [j for j in answers if not confirms(j) or j.sentence_index in negative]


async def _judge_uncited(
    item: WholeResponse, kept: Sequence[Sentence], sentence: Sentence, decider: Decider
) -> Judgment:
    found = judgment_of(item, label=NEEDS_NONE, reason="the sentence has no text")
    if sentence.has_text:
        earlier = [s for s in kept if s.index < sentence.index and s.has_text]
        found = await decider.judge_uncited(item, sentence, earlier)
    return replace(found, sentence_index=sentence.index)


def cut_at_limit(limit: int, sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return the sentences that end within so many characters; all of them where it is 0.

    Counted as RAGTIME does it: after NFKC, sentences joined by spaces.
    """
    if not limit:
        return sentences
    size = -1
    for count, sentence in enumerate(sentences):
        size += 1 + len(unicodedata.normalize("NFKC", sentence.text))
        if size > limit:
            return sentences[:count]
    return sentences


def answer_judgment(
    item: WholeResponse, sentence: Sentence, nugget: Nugget, answer: str, **decision: Any
) -> Judgment:
    """Return the judgment on whether a sentence states an answer to a nugget."""
    asked = AskedNugget(nugget.nugget_id, nugget.text, nugget.importance, answer)
    return judgment_of(item, sentence_index=sentence.index, nugget=asked, **decision)


def confirms(judgment: Judgment) -> bool:
    """Return whether it is on a sentence and a question that has no answer."""
    asked = judgment.nugget
    return judgment.sentence_index is not None and asked is not None and not asked.answer


def bank_judgment(item: WholeResponse, nugget: Nugget, pairs: Sequence[Judgment]) -> Judgment:
    """Return the judgment on a nugget: whether the response states it, in whatever sentences.

    It carries all answers with their documents, so that measures need no bank.
    """
    answers = distinct_answers(nugget)
    together = nugget.together
    asked = AskedNugget(
        nugget.nugget_id, nugget.text, nugget.importance, answers=answers, together=together
    )
    if not answers:
        reason = "it has no answer: a negative assertion may confirm it"
        return judgment_of(item, label=UNANSWERABLE, reason=reason, nugget=asked)
    own = [pair for pair in pairs if pair.nugget and pair.nugget.nugget_id == nugget.nugget_id]
    named = {pair.nugget.answer for pair in own if pair.nugget and pair.label == STATED}
    label = _label(answers, named, together)
    failed = next((pair.failure for pair in own if pair.failure), None)
    if failed and label != STATED:
        return judgment_of(item, failure=failed, nugget=asked)
    attester = next((pair.attester for pair in own), "")
    reason = _reason(answers, named, own)
    return judgment_of(item, label=label, reason=reason, attester=attester, nugget=asked)


def distinct_answers(nugget: Nugget) -> tuple[GoldAnswer, ...]:
    """Return the distinct answers of a nugget; one without documents has the nugget's own."""
    found: dict[str, GoldAnswer] = {}
    for answer in nugget.gold_answers:
        documents = answer.documents or nugget.documents
        found.setdefault(answer.text, GoldAnswer(answer.text, documents, answer.answer_id))
    return tuple(found.values())


def _label(answers: Sequence[GoldAnswer], named: set[str], together: bool) -> str:
    if not named:
        return NOT_STATED
    return PARTLY if together and len(named) < len(answers) else STATED


def _reason(answers: Sequence[GoldAnswer], named: set[str], pairs: Sequence[Judgment]) -> str:
    if not named:
        return "no sentence states it"
    numbers = sorted({j.sentence_index + 1 for j in pairs if j.sentence_index is not None})
    return f"{len(named)} of {len(answers)} answers, in sentence {', '.join(map(str, numbers))}"


@dataclass(frozen=True, slots=True)
class WordDecider:
    """Decides by words and rules."""

    async def judge_uncited(
        self, item: WholeResponse, sentence: Sentence, earlier: Sequence[Sentence]
    ) -> Judgment:
        """Return what an uncited sentence is."""
        found = uncited_by_words(sentence.text, [s.text for s in earlier])
        return judgment_of(item, label=found.label, reason=found.reason, attester="lexical")

    async def judge_answers(
        self, item: WholeResponse, sentence: Sentence, nuggets: Sequence[Nugget]
    ) -> list[Judgment]:
        """Return a judgment on each answer that a sentence states."""
        found = []
        for nugget in nuggets:
            answers = distinct_answers(nugget)
            for answer in answers:
                match = stated(sentence.text, nugget, answer)
                if match.label == STATED:
                    decision = {"label": STATED, "reason": match.reason, "attester": "lexical"}
                    found.append(answer_judgment(item, sentence, nugget, answer.text, **decision))
            if not answers and not sentence.citations and leaves_open(sentence.text, nugget.text):
                reason = "it has most of the question's words"
                decision = {"label": STATED, "reason": reason, "attester": "lexical"}
                found.append(answer_judgment(item, sentence, nugget, "", **decision))
        return found


@dataclass(frozen=True, slots=True)
class ModelDecider:
    """Asks a model: all about an uncited sentence at once, `window` questions at a time."""

    model: Model
    topic: str
    window: int

    async def judge_uncited(
        self, item: WholeResponse, sentence: Sentence, earlier: Sequence[Sentence]
    ) -> Judgment:
        """Return what an uncited sentence is."""
        before = "\n".join(s.text for s in earlier)
        prediction = await self.model.predict(UNCITED, earlier=before, sentence=sentence.text)
        given = prediction.fields
        label: str = NEEDS_CITATION
        if given["negative"]:
            label = NEGATIVE
        elif not given["needs_citation"]:
            label = NEEDS_NONE
        elif earlier and not given["first"]:  # the first sentence cannot say something again
            label = REPEATED
        usage, reason = prediction.call.usage, given.get("reason", "")
        return judgment_of(item, label=label, reason=reason, attester="llm", usage=usage)

    async def judge_answers(
        self, item: WholeResponse, sentence: Sentence, nuggets: Sequence[Nugget]
    ) -> list[Judgment]:
        """Return a judgment on each answer that a sentence states, or that is undecided.

        Whether it confirms what nobody knows is asked only of an uncited sentence.
        """

        async def ask(part: Sequence[Nugget]) -> tuple[Sequence[Any], Usage]:
            questions = [question_of(nugget) for nugget in part]
            prediction = await self.model.predict(
                STATE_ANSWERS, topic=self.topic, sentence=sentence.text, questions=questions
            )
            return prediction.fields["stated"], prediction.call.usage

        asked = [n for n in nuggets if n.answerable or not sentence.citations]
        found = []
        for part, answers, usage in await ask_together(asked, self.window, ask):
            pairs = zip(part, answers, strict=True)
            judged = [j for pair in pairs for j in answer_judgments(item, sentence, *pair)]
            found += charge_first(judged, usage)
        return found


Decider = WordDecider | ModelDecider


def answer_judgments(
    item: WholeResponse, sentence: Sentence, nugget: Nugget, given: Any
) -> list[Judgment]:
    """Return a judgment on each answer that a model numbers: `given` has the numbers and a reason.

    All answers are unjudged where it failed, or numbers one that does not exist.
    """
    answers = [answer.text for answer in distinct_answers(nugget)] or [""]
    failed = given if isinstance(given, JudgmentFailed) else None
    if failed is None and any(not 0 < number <= len(answers) for number in given.answers):
        shown = ", ".join(map(str, given.answers))
        message = f"the model names answers {shown} of a question that has {len(answers)}"
        failed = JudgmentFailed("parse", message)
    if failed is not None:
        failure = unjudged(item, failed).failure
        return [answer_judgment(item, sentence, nugget, a, failure=failure) for a in answers]
    decision = {"label": STATED, "reason": given.reason, "attester": "llm"}
    named = [answers[number - 1] for number in sorted(set(given.answers))]
    return [answer_judgment(item, sentence, nugget, answer, **decision) for answer in named]


def question_of(nugget: Nugget) -> str:
    """Return a nugget as a model is asked about it: the question with its numbered answers."""
    answers = [answer.text for answer in distinct_answers(nugget)] or [NOBODY_KNOWS]
    listed = "; ".join(f"({number}) {text}" for number, text in enumerate(answers, 1))
    return f"{nugget.text} {listed}" if nugget.is_question else listed
