"""The answer to a topic: written from numbered passages and quotes, or why there is none."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from trecjudge.baseline.generate.confidence import (
    BY,
    by_votes,
    chance_of_sentence,
    texts_of_votes,
    votes_sampling,
)
from trecjudge.baseline.generate.formats import AnswerLimits, answer_limits, cut_to_limits
from trecjudge.baseline.index.records import Filter
from trecjudge.baseline.masking import ShownPassage, mask_personal_data
from trecjudge.baseline.records import (
    Answer,
    AnswerSentence,
    ConfidenceSource,
    RetrievedPassage,
    SearchResult,
    Support,
)
from trecjudge.baseline.retrieve.retriever import IndexRetriever
from trecjudge.baseline.terms import question_of, terms_of
from trecjudge.check.rules import Track
from trecjudge.errors import PLANNED, InputError, JudgmentFailed
from trecjudge.evaluation.banks.extracting import is_telling
from trecjudge.findings import Finding, OnFinding, brief, plural
from trecjudge.models.model import Model, Prediction, Program, ReplyLength
from trecjudge.models.prompt import sampled_program
from trecjudge.records import Failure, ModelCall, Place, Topic
from trecjudge.text.frequencies import Frequencies, read_frequencies
from trecjudge.text.sentences import CITATION, sentence_spans
from trecjudge.text.steering.instructions import instruction_like
from trecjudge.text.tokens import is_spaceless, read_forms

SHORTEST_SENTENCE, LONGEST = 12, 160
"""Characters of a sentence in a script without spaces."""
SHORT_LINE = 10
"""Words of a line that may be a heading; a longer one is running text that was wrapped."""
PROSE = 0.7
"""The least share of letters and spaces: tables and codes have less."""
_MARKS = re.compile(rf"\s*{CITATION}")
_CONTINUES = re.compile(
    r"(?:however|moreover|therefore|thus|then|also|another|both|furthermore|additionally|hence"
    r"|consequently|instead|meanwhile|similarly|finally|second(?:ly)?|third(?:ly)?|later|yet|either"
    r"|afterwards?|nevertheless|nonetheless|otherwise|likewise|still|indeed|again|besides|who|which"
    r"|if so|as a result|in (?:addition|contrast|turn|fact|short|summary|conclusion|other words)"
    r"|for (?:example|instance)|on the (?:other hand|contrary)|that is|as such"
    r"|the (?:latter|former)"
    r"|(?:in|at|by|for|with|on|from|of|to|during|after|before|under|like|unlike|despite|all|some"
    r"|many|most|one|each|none) (?:of )?(?:this|these|that|those|such|them|it|him|her)"
    r"|(?:\w+ )?(?:day|week|month|year|hour|decade)s? (?:later|earlier|before|after)"
    r"|[\w' -]{1,40}, (?:however|therefore|though|meanwhile|moreover|for (?:example|instance))"
    r"|and|but|or|so|because|it|he|she|they|this|that|these|those|such|here|see|check|my|me|us|let"
    r"|for (?:more|other|further)"
    r"|the (?:study|report|author|researcher|survey|finding|result|article)s? (?:also )?\w+)\b"
    r"|.*\b(?:I'm|I’m|I (?:am|was|have|had|think|believe|would|will|can|do)|my|we|our)\b",
    re.IGNORECASE,
)
_NAVIGATION = re.compile(
    r"\b(?:click|read more|sign (?:up|in)|subscrib\w*|newsletter|cookies?|copyright|log ?in|share"
    r" this|follow us|privacy policy|terms of (?:use|service)|all rights reserved|add to cart"
    r"|see (?:also|below|above|figure|table)|shown (?:below|above)|(?:figure|fig\.|table) \d"
    r"|vote (?:up|down)|this (?:article|page|post|site|section|chapter|book|list)|download"
    r"|advertisement|www\.)|[©»›→]",
    re.IGNORECASE,
)
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))


@dataclass(frozen=True, slots=True)
class QuotableSentence:
    """A sentence of a passage; `start` and `end` count in the document's `full_text`.

    `text` is it on one line, without marks of citations; `forms` are its content words.
    """

    passage: RetrievedPassage
    start: int
    end: int
    text: str
    forms: frozenset[str]

    @property
    def quote(self) -> str:
        """The sentence as its document has it."""
        begin = self.passage.chunk.start
        return self.passage.chunk.text[self.start - begin : self.end - begin]


def quotable_sentences(passages: Iterable[RetrievedPassage]) -> Iterator[QuotableSentence]:
    """Yield the sentences that can stand by themselves, each text once, passage by passage."""
    known: set[str] = set()
    for passage in passages:
        chunk = passage.chunk
        for start, end in _spans(chunk.text, _body(passage)):
            text = on_one_line(chunk.text[start:end])
            if text not in known and stands_alone(text):
                known.add(text)
                forms = frozenset(terms_of(text))
                yield QuotableSentence(passage, chunk.start + start, chunk.start + end, text, forms)


def on_one_line(text: str) -> str:
    """Return a sentence on one line, without marks of citations: readers take these for ours."""
    return " ".join(_MARKS.sub("", text).split())


def stands_alone(text: str) -> bool:
    """Return whether a text is a sentence that a reader understands without its neighbours.

    By its form only, and best for English: it begins with no word that points back, has no
    navigation of a page and no open quote, and does not read like an instruction.
    """
    if is_spaceless(text):
        fits = SHORTEST_SENTENCE <= len(text) <= LONGEST and text[-1:] in ("。", "！")
    else:
        fits = is_telling(text) and not _CONTINUES.match(text.lstrip("\"'“‘("))
    if not fits or _begins_inside(text) or _NAVIGATION.search(text):
        return False
    return _is_prose(text) and _is_closed(text) and instruction_like(text) is None


def _body(passage: RetrievedPassage) -> int:
    """Return where the text of the document begins in a passage, behind its title."""
    title = passage.chunk.document.title
    return max(0, len(title) + 1 - passage.chunk.start) if title else 0


def _spans(text: str, begin: int) -> Iterator[tuple[int, int]]:
    """Yield sentences as offsets, without the headings that stand in lines before them."""
    for start, end in sentence_spans(text[begin:]):
        first, last = start + begin, end + begin
        while (line := text.find("\n", first, last)) >= 0:
            rest = line + len(text[line:last]) - len(text[line:last].lstrip())
            if len(text[first:line].split()) > SHORT_LINE or text[rest : rest + 1].islower():
                break
            first = rest
        yield first, last


def _begins_inside(text: str) -> bool:
    """Return whether a text begins in the middle of a sentence: with a small letter or a mark."""
    bare = text.lstrip("\"'“‘«([")
    return not bare[:1].isalnum() or bare[:1].islower()


def _is_prose(text: str) -> bool:
    letters = sum(c.isalpha() or c.isspace() for c in text)
    return letters >= PROSE * len(text)


def _is_closed(text: str) -> bool:
    """Return whether quotes and brackets that are opened are closed."""
    pairs = all(text.count(opened) == text.count(closed) for opened, closed in _PAIRS)
    return pairs and text.count('"') % 2 == 0


AGAIN = 0.5
"""What a word of the question is still worth each time that it was covered before."""
SAME = 0.7
"""The share of the shorter one's words from which on two sentences say the same."""
LEAST = 0.02
"""A sentence must bring this share of what the first one brought."""
TRUST = 0.5
"""What a passage of score 0 counts of the best one; the others by their share of its score."""


@dataclass(slots=True)
class _Choice:
    """A sentence that may be taken, and how far the most similar one taken is like it, 0 to 1."""

    sentence: QuotableSentence
    forms: frozenset[str]
    trust: float
    like: float = 0.0

    def gain(self, weights: Mapping[str, float], covered: Counter[str]) -> float:
        """Return what it adds: new weight of the question, less what repeats (MMR)."""
        new = sum(weights[form] * AGAIN ** covered[form] for form in self.forms & weights.keys())
        return new * self.trust * (1 - self.like) / math.sqrt(max(len(self.forms), 1))


def extract_answer(
    question: str, passages: Sequence[RetrievedPassage], limits: AnswerLimits
) -> tuple[AnswerSentence, ...]:
    """Return whole sentences of the passages; none where no sentence has a word of the question.

    Each next one is that with the greatest gain: greedy weighted coverage with maximal marginal
    relevance (Carbonell and Goldstein, 1998), times the trust in its passage by the score that the
    retriever gave it. They stand by document, that of the first one first. Where no sentence has a
    word of the question, those of the passage that vectors found first are taken, as they stand.
    """
    weights, trust = weighted_terms(question), trust_by_score(passages)
    choices = [_Choice(s, s.forms, trust[s.passage.rank]) for s in quotable_sentences(passages)]
    fitting = [c for c in choices if c.forms & weights.keys()]
    if not fitting and choices and "dense" in choices[0].sentence.passage.parts:
        first = choices[0].sentence.passage.rank
        weights = dict.fromkeys((f for c in choices for f in c.forms), 1.0)
        fitting = [c for c in choices if c.sentence.passage.rank == first]
    taken = _choose_sentences(fitting, weights, limits)
    return tuple(_cite_sentence(sentence, passages, limits) for sentence in _in_order(taken))


def trust_by_score(passages: Sequence[RetrievedPassage]) -> dict[int, float]:
    """Return how much each passage counts, by rank: 1 with the best score, TRUST with 0 or less."""
    best = max((passage.score for passage in passages), default=0.0)
    shares = {p.rank: max(p.score, 0.0) / best if best > 0 else 1.0 for p in passages}
    return {rank: TRUST + (1 - TRUST) * share for rank, share in shares.items()}


def weighted_terms(question: str) -> dict[str, float]:
    """Return how much each word of a question counts: its rarity, more where it is repeated."""
    frequencies, counts = _frequencies(), terms_of(question)
    written = dict(zip(*reversed(read_forms(question)), strict=True))
    return {
        # Words of the request ("I want to know") count less than one.
        form: frequencies.weight(form, written.get(form, form))
        * (1 + math.log(count) if count >= 1 else count)
        for form, count in counts.items()
    }


@cache
def _frequencies() -> Frequencies:
    return read_frequencies()


def _choose_sentences(
    choices: list[_Choice], weights: Mapping[str, float], limits: AnswerLimits
) -> list[QuotableSentence]:
    taken: list[QuotableSentence] = []
    covered: Counter[str] = Counter()
    least = 0.0
    while choices:
        # Of equal ones the first counts: it stands in the better passage.
        best = max(choices, key=lambda choice: choice.gain(weights, covered))
        gain = best.gain(weights, covered)
        if gain <= least:
            break
        choices.remove(best)
        if not limits.fit([s.text for s in _in_order([*taken, best.sentence])]):
            continue  # a shorter one may fit
        least = least or LEAST * gain
        taken.append(best.sentence)
        covered.update(best.forms)
        choices = _drop_similar(choices, best)
    return taken


def _drop_similar(choices: Iterable[_Choice], taken: _Choice) -> list[_Choice]:
    """Return the choices that do not say the same as the one taken."""
    kept = []
    for choice in choices:
        shorter = min(len(choice.forms), len(taken.forms)) or 1
        choice.like = max(choice.like, len(choice.forms & taken.forms) / shorter)
        if choice.like < SAME:
            kept.append(choice)
    return kept


def _in_order(taken: Iterable[QuotableSentence]) -> list[QuotableSentence]:
    """Return sentences by document, that taken first before the others, and as they stand there."""
    by_document: dict[str, list[QuotableSentence]] = {}
    for sentence in taken:
        by_document.setdefault(sentence.passage.chunk.doc_id, []).append(sentence)
    each = by_document.values()
    return [s for listed in each for s in sorted(listed, key=lambda s: s.start)]


def _cite_sentence(
    sentence: QuotableSentence, passages: Sequence[RetrievedPassage], limits: AnswerLimits
) -> AnswerSentence:
    """Return a sentence with the documents that have it word for word, its own first."""
    support = {sentence.passage.chunk.doc_id: _support(sentence.passage, sentence.start, sentence)}
    for passage in passages:
        at = passage.chunk.text.find(sentence.quote)
        if at >= 0 and len(support) < limits.citations:
            found = _support(passage, passage.chunk.start + at, sentence)
            support.setdefault(passage.chunk.doc_id, found)
    return AnswerSentence(sentence.text, tuple(support.values()))


def _support(passage: RetrievedPassage, start: int, sentence: QuotableSentence) -> Support:
    return Support(passage, start, start + len(sentence.quote), sentence.quote)


# Answers by a model: it cites passages by number and quotes them; both are checked here.
_HERE = "trecjudge.baseline.records"
WRITE = Program("write_answer", f"{_HERE}:WriteAnswer", length=ReplyLength(1000), in_part=True)
GAPS = Program("name_gaps", f"{_HERE}:NameGaps", length=ReplyLength(60))
PROGRAMS = (WRITE, GAPS)
REPLY = {"max_tokens": 4096}
"""An answer with its quotes does not fit into the reply of a judge."""


@dataclass(frozen=True, slots=True)
class AnswerWriter:
    """A model that writes the answer to one topic; what it gave in vain is reported.

    With `mask` it sees no personal data of a known form. `confidence` is what each sentence has
    its own from.
    """

    topic: Topic
    question: str
    model: Model
    report: OnFinding
    mask: bool = False
    confidence: ConfidenceSource = "words"

    async def write_answer(
        self, passages: Sequence[RetrievedPassage], limits: AnswerLimits
    ) -> tuple[AnswerSentence, ...] | None:
        """Return the sentences whose quotes stand in their passages; None where it has no answer.

        What is too long is cut from the end. Raises JudgmentFailed, ModelError.
        """
        seen = [ShownPassage.of(passage, self.mask) for passage in passages]
        sampling = {"logprobs": True} if self.confidence == "logprobs" else {}
        prediction = await self._ask(seen, limits, sampling)
        if prediction.fields["answerable"] == "no":
            return None
        given = prediction.fields["sentences"]
        if prediction.call.cut:
            message = f"the reply was cut: used of it: {plural(len(given), 'whole sentence')}"
            self._report_loss(Finding("answer_cut", self._place, message))
        checked = (
            self._check_sentence(number, one, seen, prediction.call)
            for number, one in enumerate(given, 1)
        )
        # A small model may say one sentence until its reply is cut.
        found = list({one.text: one for one in checked if one is not None}.values())
        kept, left_out = cut_to_limits(found, limits)
        if left_out:
            message = f"{left_out} of {len(found)} sentences are too many for {limits.in_words}"
            self._report_loss(Finding("answer_cut", self._place, message))
        return kept

    async def vote(
        self,
        sentences: Sequence[AnswerSentence],
        passages: Sequence[RetrievedPassage],
        limits: AnswerLimits,
        votes: int,
    ) -> tuple[AnswerSentence, ...]:
        """Return sentences, each with the share of `votes` further answers that say it.

        Answers that fail are left out. Raises ModelError.
        """
        seen = [ShownPassage.of(passage, self.mask) for passage in passages]
        seed = (self.model.record() or {}).get("seed")
        asked = (
            self._ask(seen, limits, sampling, number)
            for number, sampling in enumerate(votes_sampling(votes, seed), 1)
        )
        return by_votes(sentences, await texts_of_votes(asked, self._hide))

    async def _ask(
        self,
        seen: Sequence[ShownPassage],
        limits: AnswerLimits,
        sampling: Mapping[str, Any],
        rollout: int | None = None,
    ) -> Prediction:
        return await self.model.predict(
            sampled_program(WRITE, sampling, rollout) if sampling else WRITE,
            question=self._hide(self.question),
            length=limits.in_words,
            passages=[one.show_numbered(n, self.mask) for n, one in enumerate(seen, 1)],
        )

    async def name_gaps(self, sentences: Sequence[AnswerSentence]) -> list[str]:
        """Return queries for what an answer lacks, none where nothing is missing.

        Raises JudgmentFailed, ModelError.
        """
        said = [sentence.text for sentence in sentences]
        question = self._hide(self.question)
        prediction = await self.model.predict(GAPS, question=question, answer=said)
        return [query for query in map(str.strip, prediction.fields["queries"]) if query]

    @property
    def _place(self) -> Place:
        return Place(f"topic {self.topic.topic_id}")

    def _hide(self, text: str) -> str:
        return mask_personal_data(text).text if self.mask else text

    def _check_sentence(
        self, number: int, given: Any, seen: Sequence[ShownPassage], call: ModelCall
    ) -> AnswerSentence | None:
        """Return a sentence with the passages that have its quote; None where none has it."""
        text = self._hide(on_one_line(given.text))
        numbers = list(dict.fromkeys(given.passages))
        there = [cited for cited in numbers if 1 <= cited <= len(seen)]
        if len(there) < len(numbers):
            wrong = ", ".join(str(cited) for cited in numbers if cited not in there)
            message = f"sentence {number} cites passage {wrong} of {len(seen)}"
            self._report_loss(Finding("passage_unknown", self._place, message))
        quoted = {cited: seen[cited - 1].support(given.quote) for cited in there}
        support = tuple(one for one in quoted.values() if one is not None)
        if not support:
            message = f"sentence {number} has no quote of a passage it cites: {brief(text)}"
            self._report_loss(Finding("quote_not_found", self._place, message, brief(given.quote)))
            return None
        if len(support) < len(quoted):
            without = ", ".join(str(cited) for cited, one in quoted.items() if one is None)
            message = f"sentence {number}: its quote is not in passage {without}"
            self._report_loss(Finding("quote_elsewhere", self._place, message, brief(given.quote)))
        sure = chance_of_sentence(call, given.text) if self.confidence == "logprobs" else None
        return AnswerSentence(text, support, sure) if text else None

    def _report_loss(self, finding: Finding) -> None:
        self.report(replace(finding, topic_id=self.topic.topic_id))


# The answer to a topic: retrieved, written, looked at again; or why there is none.
NOTHING_FOUND = "nothing was found"
NOT_THERE = "the model found no answer in the passages"
NOTHING_QUOTED = "no sentence of the model had a quote that stands in its passages"
NOTHING_FITS = "no sentence of the passages has a word of the question, stands alone and fits"


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How answers are made: from the best `top` passages of the documents of `only`.

    A model may look `rounds` times for what its answer lacks. `mask` hides personal data from it,
    and from the answer. `most_words` is a limit beside that of the track. `confidence` is what the
    confidence of answers is from; for that of `votes` a model answers `votes` more times.
    """

    top: int = 20
    rounds: int = 0
    mask: bool = False
    most_words: int | None = None
    only: Filter | None = None
    confidence: ConfidenceSource = "words"
    votes: int = 4

    def check(self, with_model: bool, as_objects: bool = True) -> None:
        """Raise InputError for what needs a model, or answers as objects."""
        if self.rounds and not with_model:
            raise InputError("--rounds: only a model can name what is missing: add --use-env-llm")
        given = f"--confidence {self.confidence}"
        if self.confidence != "words" and not with_model:
            raise InputError(f"{given}: only a model has that: add --use-env-llm, or give words")
        if self.confidence != "words" and not as_objects:
            raise InputError(f"{given}: only answers as objects have a confidence: add --json")


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers topics, one at a time or many at once; what a model gave in vain is reported."""

    retriever: IndexRetriever
    model: Model
    track: Track
    report: OnFinding
    generating: AnswerSettings = field(default_factory=AnswerSettings)
    retrieved: Callable[[Topic, SearchResult], None] | None = None
    """Called with every search, also of a topic that fails."""

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
        first = await self._search(topic, question)
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
        mask, votes = self.generating.mask, self.generating.votes
        source = self.generating.confidence
        writer = AnswerWriter(topic, question, self.model, self.report, mask, source)
        found, passages = [first], list(first.passages)
        try:
            sentences = await writer.write_answer(passages, limits)
        except JudgmentFailed as failed:
            if failed.kind == PLANNED and source == "votes":  # they are to be counted too
                await writer.vote((), passages, limits, votes)
            raise
        for _ in range(self.generating.rounds):
            queries = await writer.name_gaps(sentences or ())
            searched = [await self._search(topic, query) for query in queries]
            more = [one for one in searched if one.answers is not False]
            fresh = _fresh(passages, more)
            if not fresh:
                break  # the same passages would give the same answer
            found += more
            passages = self._next(sentences or (), fresh, passages)
            # What was said before stays where the new passages make nothing better.
            sentences = await writer.write_answer(passages, limits) or sentences
        why = "" if sentences else NOT_THERE if sentences is None else NOTHING_QUOTED
        said = sentences or ()
        if said and source == "votes":
            said = await writer.vote(said, passages, limits, votes)
        return Answer(topic, said, tuple(found), why, confidence_from=BY[source])

    async def _search(self, topic: Topic, question: str) -> SearchResult:
        settings = self.generating
        found = await self.retriever.retrieve(question, settings.top, settings.only)
        if self.retrieved is not None:
            self.retrieved(topic, found)
        return found

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
