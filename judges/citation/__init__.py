"""Citation support by Auto-ARGUE attestation: every citation of every sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import ClassVar

from trecjudge import (
    Item,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    MeasureSpec,
    Model,
    Program,
    ReplyLength,
    Response,
    Topic,
    judgment_of,
)
from trecjudge.errors import UNDECIDED
from trecjudge.inputs.labels.vocabulary import sense_of
from trecjudge.judging.attest import (
    HOLLOW,
    Attesting,
    citation_item,
    citation_not_read,
    known_in_part,
    require_shared_script,
    require_text,
)
from trecjudge.judging.attest import best_or_worst as best_or_worst_support
from trecjudge.judging.claims.by_words import contradiction
from trecjudge.judging.offline.prepared import prepared_text, scripts_of
from trecjudge.judging.offline.support import compare
from trecjudge.measures import Compute, expected_weight, mean_of, share_measure
from trecjudge.records import CONTRADICTED, FULL, NONE, NOT_CONTRADICTED, NOTHING_TO_CHECK, PARTIAL
from trecjudge.settings.fields import ranged
from trecjudge.text.tokens import scripts

ATTEST = Program("attest", f"{__package__}.program:Attest")
ATTEST_GROUP = Program(
    "attest_group",
    f"{__package__}.program:AttestGroup",
    "sentences",
    ReplyLength(fixed=15, each=60),
    each=ATTEST,
)


@dataclass(frozen=True, slots=True)
class CitationJudge(Attesting):
    """Whether each cited document is there and supports its sentence (Auto-ARGUE attestation).

    `partial` is what a partial support counts, 0 to 1. A document that is cited as contradicting a
    sentence is looked through for that by words, whoever attests: it is in no measure of support.
    """

    partial: float = ranged(0.0, 0.0, 1.0)
    programs: ClassVar[tuple[Program, ...]] = (ATTEST, ATTEST_GROUP)

    @property
    def measures(self) -> LeaderboardSpec:
        """The measures, ranked by CITATION_SUPPORT."""
        columns = (
            share_measure(
                "CITATION_ACCURACY",
                citation_accuracy,
                "Share of the citations that lead to a document that exists.",
            ),
            share_measure(
                "CITATION_SUPPORT",
                self.citation_support,
                "Share of the citations whose document supports the sentence that cites it.",
            ),
            AVG_CITATIONS,
            PERFECT_CITATIONS,
            SENTENCE_SUPPORT,
            share_measure(
                "EXPECTED_CITATION_SUPPORT",
                self.expected_support,
                "CITATION_SUPPORT with the support that a person would be expected to find in place"
                " of labels.",
                expected_of="CITATION_SUPPORT",
            ),
        )
        supporting = (replace(m, compute=partial(of_support, m.compute)) for m in columns)
        every = (*supporting, CONTRADICTION_SUPPORT)
        return LeaderboardSpec(every, sort_by="CITATION_SUPPORT", fill=best_or_worst)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield each citation of each sentence, and each that is said to contradict it."""
        for sentence in response.sentences:
            for citation in sentence.citations:
                yield citation_item(topic, response, sentence, citation)
            for citation in sentence.contradicting:
                yield citation_item(topic, response, sentence, citation, contradicts=True)

    async def judge(self, item: Item, model: Model) -> Judgment:
        """Return full, partial or no support, or whether a document contradicts the sentence."""
        return contradicts(item) if item.contradicts else await Attesting.judge(self, item, model)

    def group_of(self, item: Item) -> str | None:
        """Return the document that a model would be asked about, or None."""
        return None if item.contradicts else Attesting.group_of(self, item)

    def given(self, item: Item, label: str) -> Judgment:
        """Return the judgment that somebody else's label makes.

        A label of support says that a document does not contradict. Raises JudgmentFailed for what
        is none of the labels of the item, and for no support: files of labels say so of both.
        """
        if not item.contradicts:
            return Attesting.given(self, item, label)
        sense = NOT_CONTRADICTED if label == NOT_CONTRADICTED else sense_of(label)
        if sense in (None, NONE):
            choices = f"{CONTRADICTED}, {NOT_CONTRADICTED}"
            raise JudgmentFailed("parse", f"label {label!r} is none of {choices}")
        known = CONTRADICTED if sense == CONTRADICTED else NOT_CONTRADICTED
        return judgment_of(item, label=known, attester="given")

    def citation_support(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return supporting citations / citations: 0 without citations, None if none is judged.

        A citation on a sentence that states nothing is none of them.
        """
        weights = self._weights
        return self._mean_weight(judgments, lambda judgment: weights[judgment.label or ""])

    def expected_support(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return the same of the weights that a person would give on average, 0 to 1."""
        weights = self._weights
        return self._mean_weight(judgments, lambda judgment: expected_weight(judgment, weights))

    @property
    def _weights(self) -> dict[str, float]:
        return {FULL: 1.0, PARTIAL: self.partial, NONE: 0.0}

    def _mean_weight(
        self, judgments: Sequence[Judgment], weight: Callable[[Judgment], float]
    ) -> float | None:
        checked = [j for j in judgments if j.label != NOTHING_TO_CHECK]
        found = [weight(j) for j in checked if j.judged]
        return mean_of(found, empty=None if len(found) < len(checked) else 0.0)


def contradicts(item: Item) -> Judgment:
    """Return whether a document that is cited as contradicting a sentence does so, by words.

    One that is not there, or is empty, does not, nor one that supports the sentence in full. Raises
    JudgmentFailed where words show neither: that is no proof.
    """
    if item.citation is not None and item.citation.unread:
        raise citation_not_read(item.citation)
    if item.exists is False:
        return judgment_of(item, label=NOT_CONTRADICTED, reason="no such document")
    document = item.document
    require_text(document)
    assert document is not None
    if document.hollow or not item.has_text:
        reason = HOLLOW if document.hollow else "the sentence has no text"
        return judgment_of(item, label=NOT_CONTRADICTED, reason=reason)
    text = document.full_text
    require_shared_script("sentence", scripts(item.text), "document", scripts_of(text))
    if found := contradiction(item.text, text):
        return judgment_of(item, label=CONTRADICTED, reason=found, attester="lexical")
    if not document.complete:
        raise known_in_part(document)
    if compare(item.text, prepared_text(text)).label == FULL:
        reason = "it supports the sentence"
        return judgment_of(item, label=NOT_CONTRADICTED, reason=reason, attester="lexical")
    raise JudgmentFailed(UNDECIDED, "words do not show whether the document contradicts it")


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged judgment with the best or the worst label that it could have had."""
    found = best_or_worst_support(judgment, best)
    if not judgment.contradicts:
        return found
    return replace(found, label=CONTRADICTED if best else NOT_CONTRADICTED, grade=None)


def of_support(
    compute: Compute, response: Response, judgments: Sequence[Judgment]
) -> float | bool | None:
    """Return what a measure makes of the citations that are to support their sentences."""
    return compute(response, [j for j in judgments if not j.contradicts])


def contradiction_support(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return documents that contradict / those judged that are cited as such; None without any."""
    return mean_of(j.label == CONTRADICTED for j in judgments if j.contradicts and j.judged)


def citation_accuracy(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return existing citations / citations: 0 without citations, None if none is known."""
    known = [j.exists for j in judgments if j.exists is not None]
    return mean_of(known, empty=None if judgments else 0.0)


def avg_citations(response: Response, judgments: Sequence[Judgment]) -> float:
    """Return the number of citations; the mean comes with the `all` row."""
    return float(len(judgments))


def perfect_citations(response: Response, judgments: Sequence[Judgment]) -> bool | None:
    """Return whether there are citations and all exist and fully support.

    None where those judged are perfect and others are unjudged.
    """
    judgments = [j for j in judgments if j.label != NOTHING_TO_CHECK]
    judged = [j for j in judgments if j.judged]
    perfect = all(j.label == FULL and j.exists for j in judged)
    # One imperfect citation decides; perfect ones do not while another is open.
    if perfect and len(judged) < len(judgments):
        return None
    return bool(judgments) and perfect


def sentence_support(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return sentences all of whose citations support / sentences with citations.

    A sentence counts once its outcome is known: it is lost as soon as one citation fails to
    support. None without such a sentence.
    """
    outcomes = []
    for _, cited in groupby(judgments, key=lambda judgment: judgment.sentence_index):
        labels = [j.label for j in cited if j.label != NOTHING_TO_CHECK]
        if not labels:
            continue
        lost = any(label not in (FULL, None) for label in labels)
        if lost or None not in labels:
            outcomes.append(not lost)
    return mean_of(outcomes)


AVG_CITATIONS = MeasureSpec(
    "AVG_CITATIONS",
    avg_citations,
    neutral=True,
    description="How many citations a response has. From 0 up; neither more nor fewer is better.",
)
PERFECT_CITATIONS = share_measure(
    "PERFECT_CITATIONS",
    perfect_citations,
    "Share of the responses that cite something and in which every citation exists and supports its"
    " sentence.",
    aggregate="mean_of_bools",
)
SENTENCE_SUPPORT = share_measure(
    "SENTENCE_SUPPORT",
    sentence_support,
    "Share of the sentences with citations in which every citation supports the sentence.",
)
CONTRADICTION_SUPPORT = share_measure(
    "CONTRADICTION_SUPPORT",
    contradiction_support,
    "Share of the documents cited as contradicting a sentence that contradict it.",
    default=None,
    optional=True,
)
