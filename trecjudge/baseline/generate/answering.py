"""The answer to a topic: retrieved, written, looked at again; or why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from trecjudge.baseline.generate.extractive import extract_answer
from trecjudge.baseline.generate.grounded import AnswerWriter
from trecjudge.baseline.generate.limits import AnswerLimits, answer_limits, cut_to_limits
from trecjudge.baseline.index.protocol import Filter
from trecjudge.baseline.masking import mask_personal_data
from trecjudge.baseline.records import Answer, AnswerSentence, RetrievedPassage, SearchResult
from trecjudge.baseline.retrieve.retriever import IndexRetriever
from trecjudge.baseline.terms import question_of
from trecjudge.check.rules import Track
from trecjudge.errors import PLANNED, InputError, JudgmentFailed
from trecjudge.findings import Finding, OnFinding
from trecjudge.models.model import Model
from trecjudge.records import Failure, Place, Topic

NOTHING_FOUND = "nothing was found"
NOT_THERE = "the model found no answer in the passages"
NOTHING_QUOTED = "no sentence of the model had a quote that stands in its passages"
NOTHING_FITS = "no sentence of the passages has a word of the question, stands alone and fits"


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How answers are made: from the best `top` passages of the documents of `only`.

    A model may look `rounds` times for what its answer lacks. `mask` hides personal data from it,
    and from the answer. `most_words` is a limit beside that of the track.
    """

    top: int = 20
    rounds: int = 0
    mask: bool = False
    most_words: int | None = None
    only: Filter | None = None

    def check(self, with_model: bool) -> None:
        """Raise InputError for what needs a model."""
        if self.rounds and not with_model:
            raise InputError("--rounds: only a model can name what is missing: add --use-env-llm")


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers topics, one at a time or many at once; what a model gave in vain is reported."""

    retriever: IndexRetriever
    model: Model
    track: Track
    report: OnFinding
    generating: AnswerSettings = field(default_factory=AnswerSettings)

    async def answer(self, topic: Topic) -> Answer:
        """Return the answer to a topic; one that failed says why, and has no sentence.

        Raises ModelError where no topic could be answered.
        """
        try:
            return await self._answer(topic, question_of(topic))
        except JudgmentFailed as failed:
            if failed.kind != PLANNED:
                place, message = Place(f"topic {topic.topic_id}"), f"no answer: {failed.message}"
                self.report(Finding("answer_failed", place, message, topic_id=topic.topic_id))
            failure = Failure(failed.kind, failed.message, failed.tries)
            return Answer(topic, (), (), failure=failure)

    async def _answer(self, topic: Topic, question: str) -> Answer:
        if not question:
            raise JudgmentFailed("no_topic_text", "the topic has no text")
        first = await self._search(question)
        if why := _unanswerable(first):
            return Answer(topic, (), (first,), why)
        limits = answer_limits(self.track, topic, self.generating.most_words)
        if self.model.available:
            return await self._by_model(topic, question, first, limits)
        sentences = self._mask(extract_answer(question, first.passages, limits))
        kept, _ = cut_to_limits(sentences, limits)
        return Answer(topic, kept, (first,), "" if kept else NOTHING_FITS)

    async def _by_model(
        self, topic: Topic, question: str, first: SearchResult, limits: AnswerLimits
    ) -> Answer:
        """Return what a model writes from the passages, in up to `rounds` rounds more."""
        mask = self.generating.mask
        writer = AnswerWriter(topic, question, self.model, self.report, mask)
        found, passages = [first], list(first.passages)
        sentences = await writer.write_answer(passages, limits)
        for _ in range(self.generating.rounds):
            queries = await writer.name_gaps(sentences or ())
            searched = [await self._search(query) for query in queries]
            more = [one for one in searched if one.answers is not False]
            fresh = _fresh(passages, more)
            if not fresh:
                break  # the same passages would give the same answer
            found += more
            passages = self._next(sentences or (), fresh, passages)
            # What was said before stays where the new passages make nothing better.
            sentences = await writer.write_answer(passages, limits) or sentences
        why = "" if sentences else NOT_THERE if sentences is None else NOTHING_QUOTED
        return Answer(topic, sentences or (), tuple(found), why)

    async def _search(self, question: str) -> SearchResult:
        only = self.generating.only
        return await self.retriever.retrieve(question, self.generating.top, only)

    def _next(
        self,
        sentences: Iterable[AnswerSentence],
        fresh: Sequence[RetrievedPassage],
        old: Sequence[RetrievedPassage],
    ) -> list[RetrievedPassage]:
        """Return the passages of the next round: those cited, then new ones, then the others."""
        cited = [support.passage for sentence in sentences for support in sentence.support]
        each = {_key(passage): passage for passage in (*cited, *fresh, *old)}
        return list(each.values())[: self.generating.top]

    def _mask(self, sentences: tuple[AnswerSentence, ...]) -> tuple[AnswerSentence, ...]:
        """Return sentences of documents without personal data, if it is to be masked."""
        if not self.generating.mask:
            return sentences
        return tuple(
            AnswerSentence(
                mask_personal_data(sentence.text).text,
                tuple(replace(s, quote=mask_personal_data(s.quote).text) for s in sentence.support),
            )
            for sentence in sentences
        )


def _unanswerable(found: SearchResult) -> str:
    """Return why nothing is tried with what was found; empty where something is."""
    if not found.passages:
        return NOTHING_FOUND
    if found.answers is False:
        return f"too little was found: {found.confidence_by} is {found.confidence:.3f}"
    return ""


def _fresh(
    known: Iterable[RetrievedPassage], found: Iterable[SearchResult]
) -> list[RetrievedPassage]:
    """Return the passages that were not there before, the best of each search first."""
    there = set(map(_key, known))
    fresh = {_key(p): p for one in found for p in one.passages if _key(p) not in there}
    return sorted(fresh.values(), key=lambda passage: passage.rank)


def _key(passage: RetrievedPassage) -> tuple[str, int, int]:
    return passage.chunk.doc_id, passage.chunk.start, passage.chunk.end
