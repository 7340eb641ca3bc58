"""Citation score: faithfulness, coverage and redundancy of what an answer cites.

The three axes are those of the three-axis citation scoring framework.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal

from trecjudge import (
    Document,
    Item,
    Judgment,
    LeaderboardSpec,
    Model,
    Program,
    Response,
    Sentence,
    Topic,
    WholeResponse,
    WorkflowError,
    judgment_of,
)
from trecjudge.judging.attest import (
    NO_TEXT,
    citation_item,
    citation_not_read,
    known_in_part,
    text_missing,
)
from trecjudge.judging.judge import judge_or_fail, unjudged
from trecjudge.judging.offline.relevance import Vector, mean_cosine, vector_of, weighed_forms
from trecjudge.judging.offline.wording import Term, wording_of
from trecjudge.measures import Compute, share_measure
from trecjudge.records import BY_MODEL, Failure, sum_usage
from trecjudge.text.numbers import other_writings
from trecjudge.text.questions import blank_question_words, question_kind
from trecjudge.text.tokens import comparable, read_forms, scripts

from ..citation import ATTEST, CitationJudge
from ..support import WEIGHTED

FAITHFULNESS, COVERAGE, REDUNDANCY = "FAITHFULNESS", "COVERAGE", "REDUNDANCY"
AXES = (FAITHFULNESS, COVERAGE, REDUNDANCY)
_MOST_MISSING = 8
_MOST_KEPT = 50
"""Missing words that a judgment keeps: a topic may be an article."""
_UNREAD = {
    "script": "no cited text shares a script with {what}: words cannot be compared",
    "no_topic_text": "the topic has no words to look for; supply it with --rag-topics",
}
Unreadable = Literal["script", "no_document_text"]
"""Why words cannot be compared: kinds of `errors.JudgmentFailed`."""


@dataclass(frozen=True, slots=True)
class CitationScoreJudge:
    """Faithfulness, coverage and redundancy of what an answer cites.

    `attester` is what decides FAITHFULNESS: `lexical` (keywords) or `llm`.
    `faithfulness`, `coverage` and `redundancy` are the weights of the axes in CITATION_SCORE: none
    below 0, 1 together. `uncited` is what a sentence without citations counts in FAITHFULNESS:
    `zero`, or nothing at all (`skip`).
    """

    faithfulness: float = 0.4
    coverage: float = 0.4
    redundancy: float = 0.2
    uncited: Literal["zero", "skip"] = "zero"
    attester: Literal["lexical", "llm"] = "lexical"
    # The citation judge's own program: an equal question of both judges is one model call.
    programs: ClassVar[tuple[Program, ...]] = (ATTEST,)
    needs: ClassVar[tuple[str, ...]] = ("topic_text", "document_text")

    def __post_init__(self) -> None:
        weights = (self.faithfulness, self.coverage, self.redundancy)
        # Not exactly 1: thirds add up to 1 only but for rounding.
        whole = math.isclose(math.fsum(weights), 1.0, rel_tol=0.0, abs_tol=1e-9)
        if not (whole and all(weight >= 0 for weight in weights)):
            given = "faithfulness {!r}, coverage {!r}, redundancy {!r}".format(*weights)
            message = f"the weights of citation_score are {given}: none below 0, 1 together"
            raise WorkflowError(message)

    @property
    def needs_model(self) -> bool:
        """Whether the settings ask for a model."""
        return self.attester == "llm"

    @property
    def measures(self) -> LeaderboardSpec:
        """The score, which ranks runs, and its axes."""
        columns = (
            share_measure(
                "CITATION_SCORE",
                self.citation_score,
                "FAITHFULNESS, COVERAGE and the opposite of REDUNDANCY, weighed into one number.",
            ),
            share_measure(
                FAITHFULNESS,
                axis_measure(FAITHFULNESS),
                "Mean share of the keywords of a sentence that the documents it cites contain, or"
                " mean support of a sentence by them where a model decides.",
            ),
            share_measure(
                COVERAGE,
                axis_measure(COVERAGE),
                "Share of the keywords of the topic that all cited documents together contain.",
            ),
            share_measure(
                REDUNDANCY,
                axis_measure(REDUNDANCY),
                "How similar the cited documents are to each other, by their words.",
                lower_is_better=True,
            ),
        )
        return LeaderboardSpec(columns, sort_by="CITATION_SCORE", fill=best_or_worst)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the whole response as one item."""
        yield WholeResponse.of(topic, response)

    async def judge(self, item: Item, model: Model) -> list[Judgment]:
        """Return a judgment for each axis, its name as label and its number as value.

        0 on every axis where nothing cited is there, or only what the run carries without text;
        unjudged where its text is not known.
        """
        assert isinstance(item, WholeResponse)
        response = item.response
        # What it cites there is unknown, so no axis is known.
        if unread := [c for s in response.sentences for c in s.citations if c.unread]:
            return [unjudged(item, citation_not_read(unread[0]))] * len(AXES)
        ids = dict.fromkeys(response.cited_ids())
        there = {i: response.documents.get(i) for i in ids if response.has(i) is not False}
        cited = {i: _text_of(found) for i, found in there.items() if not (found and found.hollow)}
        if not cited:
            reason = "nothing cited that has text" if there else "nothing cited that is there"
            axes = [_nothing_cited(item, name, reason) for name in AXES]
            asked = _asked(axes[1], item.topic, topic_terms(topic_text(item.topic)))
            return [axes[0], asked, axes[2]]
        passages = [passage for passage in cited.values() if passage is not None]
        in_part = [found for found in there.values() if found and not found.complete]
        if not passages:
            without = unjudged(item, known_in_part(*in_part)) if in_part else None
            return [without or _without_text(item, cited)] * len(AXES)
        if self.needs_model:
            faithful = await self._model_faithfulness(item, model)
        else:
            faithful = self._faithfulness(item, response, cited)
        found = [faithful, _coverage(item, passages)]
        if in_part:  # what they lack may be in the rest
            gap = unjudged(item, known_in_part(*in_part))
            read = all(document.has_text for document in in_part)
            found = [axis_value if read and axis_value.value == 1 else gap for axis_value in found]
        return [*found, _redundancy(item, passages)]

    def _faithfulness(
        self, item: Item, response: Response, cited: Mapping[str, CitedText | None]
    ) -> Judgment:
        """Judge the mean over claims of keywords found in the cited documents / keywords."""
        claims = read_claims(response.sentences, cited, count_uncited=self.uncited == "zero")
        value = claims.faithfulness
        if value is None:
            if claims.unread[0] == NO_TEXT:
                return _without_text(item, cited)
            return _unjudged_axis(item, claims.unread[0], "a sentence")
        return _axis_judgment(item, FAITHFULNESS, value, claims.reason)

    async def _model_faithfulness(self, item: WholeResponse, model: Model) -> Judgment:
        """Judge the mean support of claims by a model: 1 full, 0.5 partial, 0 none, each at best.

        A claim whose documents have no text is left out. Another that could not be judged, and that
        no document supports in full, leaves the axis unjudged.
        """
        response, attester = item.response, CitationJudge(attester="llm")
        claims = list(claims_of(response.sentences, count_uncited=self.uncited == "zero"))
        pairs = [
            citation_item(item.topic, response, sentence, citation)
            for sentence, _ in claims
            for citation in sentence.citations
        ]
        every = await asyncio.gather(*(judge_or_fail(p, attester.judge(p, model)) for p in pairs))
        by_sentence = defaultdict[int | None, list[Judgment]](list)
        for judgment in every:
            by_sentence[judgment.sentence_index].append(judgment)
        shares, idle, lost = list[float](), 0, list[Judgment]()
        for sentence, _ in claims:
            own = by_sentence[sentence.index]
            share = max((WEIGHTED[j.label] for j in own if j.label is not None), default=0.0)
            if share < 1 and (open_ones := [j for j in own if not j.judged]):
                lost.append(open_ones[0])
            elif any(j.exists for j in own):
                shares.append(share)
            else:
                idle += 1
        failures = [j.failure for j in lost if j.failure]
        failure = next((f for f in failures if f.kind != NO_TEXT), None)
        if failure is None and failures and not shares:
            failure = failures[0]
        usage = sum_usage([judgment.usage for judgment in every], ATTEST.name)
        if failure is not None:
            return judgment_of(item, failure=failure, usage=usage)
        compared = Claims(tuple(shares), idle, tuple([NO_TEXT] * len(failures)))
        value = sum(shares) / max(1, len(shares) + idle)
        found = _axis_judgment(item, FAITHFULNESS, value, compared.reason)
        return replace(found, attester=BY_MODEL, usage=usage)

    def citation_score(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return the weighted sum of F, C and 1 - R; 0 where nothing cited is there."""
        # Without it 1 - REDUNDANCY would reward citing nothing.
        if any(judgment.exists is False for judgment in judgments):
            return 0.0
        f, c = axis_value(judgments, FAITHFULNESS), axis_value(judgments, COVERAGE)
        apart = variety(judgments)
        if f is None or c is None or apart is None:
            return None
        return self.faithfulness * f + self.coverage * c + self.redundancy * apart


def axis_value(judgments: Sequence[Judgment], name: str) -> float | None:
    """Return the number of an axis; None where it is unjudged."""
    by_label = {judgment.label: judgment.value for judgment in judgments}
    # Unjudged at its best or worst has no label: its value stands for each axis that is lacking.
    return by_label.get(name, by_label.get(None))


def variety(judgments: Sequence[Judgment]) -> float | None:
    """Return 1 - REDUNDANCY; None where that is unjudged."""
    value = axis_value(judgments, REDUNDANCY)
    if value is None or all(judgment.label != REDUNDANCY for judgment in judgments):
        return value  # unjudged at its best or worst: 1 is the best
    return 1 - value


def axis_measure(name: str) -> Compute:
    """Return the measure that is the number of an axis."""
    return lambda response, judgments: axis_value(judgments, name)


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged judgment with the highest or the lowest number that it could have."""
    return replace(judgment, value=float(best), failure=None)


def _coverage(item: Item, passages: Sequence[CitedText]) -> Judgment:
    text = topic_text(item.topic)
    terms = topic_terms(text)
    if not terms:
        return _unjudged_axis(item, "no_topic_text")
    if not any(passage.comparable(text) for passage in passages):
        return _unjudged_axis(item, "script", "the topic")
    absent = missing_terms(terms, passages)
    found = len(terms) - len(absent)
    reason = f"{found} of {len(terms)} topic terms"
    if absent:
        shown = ", ".join(repr(text[t.start : t.end]) for t in absent[:_MOST_MISSING])
        reason += f"; missing: {shown}"
    judgment = _axis_judgment(item, COVERAGE, found / len(terms), reason)
    return _asked(judgment, item.topic, absent)


def _asked(judgment: Judgment, topic: Topic, absent: Sequence[Term]) -> Judgment:
    """Return the judgment with the kind of question of its topic, and the words that it lacks."""
    text = topic_text(topic)
    missing = tuple(text[term.start : term.end] for term in absent[:_MOST_KEPT])
    return replace(judgment, question=topic.question or question_kind(text), missing=missing)


def topic_text(topic: Topic) -> str:
    """Return what a topic asks: title, problem statement and background, else its article."""
    text = "\n".join((topic.title, topic.problem_statement, topic.background)).strip()
    return text or topic.body


def _redundancy(item: Item, passages: Sequence[CitedText]) -> Judgment:
    value = mean_cosine([passage.vector for passage in passages])
    return _axis_judgment(item, REDUNDANCY, value, f"cited passages: {len(passages)}")


def _text_of(document: Document | None) -> CitedText | None:
    return read_cited_text(document.full_text) if document and document.has_text else None


def _nothing_cited(item: Item, name: str, reason: str) -> Judgment:
    return judgment_of(item, label=name, value=0.0, exists=False, reason=reason)


def _axis_judgment(item: Item, name: str, value: float, reason: str) -> Judgment:
    return judgment_of(item, label=name, value=value, exists=True, reason=reason)


def _without_text(item: Item, cited: Mapping[str, CitedText | None]) -> Judgment:
    return unjudged(item, text_missing(*(i for i, passage in cited.items() if passage is None)))


def _unjudged_axis(item: Item, kind: str, what: str = "the answer") -> Judgment:
    return judgment_of(item, failure=Failure(kind, _UNREAD[kind].format(what=what)))


@dataclass(frozen=True, slots=True)
class CitedText:
    """A cited text: its forms (also in other writings), TF-IDF vector and writing systems."""

    forms: Set[str]
    vector: Vector
    scripts: frozenset[str]

    def has(self, term: Term) -> bool:
        """Return whether a term of a claim is in the text, as a number in either writing."""
        return term.form in self.forms

    def comparable(self, text: str) -> bool:
        """Return whether the two share a writing system, or one has no letters."""
        return comparable(scripts(text), self.scripts)


@lru_cache(maxsize=1024)
def read_cited_text(text: str) -> CitedText:
    """Return a text as a passage, remembered: runs on one topic cite the same documents."""
    written, forms = read_forms(text)
    found = {*forms, *other_writings(text, written, forms)}
    return CitedText(found, vector_of(weighed_forms(text)), scripts(text))


def keywords(text: str) -> list[Term]:
    """Return the distinct words and numbers of a text that carry its content."""
    return [term for term in wording_of(text).terms if term.content]


@lru_cache(maxsize=1024)
def topic_terms(text: str) -> Sequence[Term]:
    """Return the keywords of a topic without function words and words that ask, unless all are."""
    every = keywords(blank_question_words(text))
    return [term for term in every if term.meaningful] or every or keywords(text)


def missing_terms(terms: Iterable[Term], passages: Sequence[CitedText]) -> list[Term]:
    """Return the terms that none of the passages has."""
    return [term for term in terms if not any(passage.has(term) for passage in passages)]


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of an answer, and how far what they cite has them.

    `shares` are the parts of the keywords found, of claims that could be compared with what they
    cite; `idle` counts claims with nothing cited that is there; `unread` has for each of the rest
    why it could not be compared.
    """

    shares: tuple[float, ...]
    idle: int
    unread: tuple[Unreadable, ...]

    @property
    def reason(self) -> str:
        """How many claims were compared, cite nothing that is there, and were left out."""
        found = f"claims compared: {len(self.shares)}; with nothing cited: {self.idle}"
        return f"{found}; left out: {len(self.unread)}" if self.unread else found

    @property
    def faithfulness(self) -> float | None:
        """Mean share over the claims, the idle ones as 0; None if none that cites could be read."""
        if self.unread and not self.shares:
            return None
        return sum(self.shares) / max(1, len(self.shares) + self.idle)


def claims_of(
    sentences: Iterable[Sentence], count_uncited: bool
) -> Iterator[tuple[Sentence, list[Term]]]:
    """Yield the sentences that claim something, those without citations on wish, with keywords."""
    for sentence in sentences:
        terms = keywords(sentence.text)
        if terms and (sentence.citations or count_uncited):
            yield sentence, terms


def read_claims(
    sentences: Iterable[Sentence], cited: Mapping[str, CitedText | None], count_uncited: bool
) -> Claims:
    """Return how far the sentences are in what they cite.

    `cited` are the documents that are there, None for one whose text is not known; one that the run
    carries without text is not among them. A sentence
    without keywords claims nothing.
    """
    shares: list[float] = []
    unread: list[Unreadable] = []
    idle = 0
    for sentence, terms in claims_of(sentences, count_uncited):
        found = [cited[i] for c in sentence.citations if (i := c.doc_id) and i in cited]
        with_text = [passage for passage in found if passage is not None]
        readable = [passage for passage in with_text if passage.comparable(sentence.text)]
        if readable:
            shares.append(1 - len(missing_terms(terms, readable)) / len(terms))
        elif found:
            unread.append("script" if with_text else NO_TEXT)
        else:
            idle += 1
    return Claims(tuple(shares), idle, tuple(unread))
