"""Citation support by Auto-ARGUE attestation: every citation of every sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar

from trecjudge.attest import Attestation, AttesterName, ModelAttester, attester_for
from trecjudge.errors import JudgmentFailed
from trecjudge.llm.model import Model, Program
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.records import (
    FULL,
    GRADES,
    NONE,
    PARTIAL,
    Citation,
    Item,
    Judgment,
    Response,
    Sentence,
    Topic,
    judgment_of,
)

ATTEST = Program("attest", "judges.citation.program:Attest")
ATTEST_GROUP = Program("attest_group", "judges.citation.program:AttestGroup", "sentences")


@dataclass(frozen=True, slots=True)
class CitationJudge:
    """Whether each cited document is there and supports its sentence (Auto-ARGUE attestation).

    `partial` is what a partial support counts, 0 to 1. `attester` is `lexical`, `llm`, or `auto`:
    the model where one is used, else lexical. `group` sentences of a response that cite one
    document are put to the model in one request.
    """

    attester: AttesterName = "auto"
    partial: float = 0.0
    group: int = 1
    programs: ClassVar[tuple[Program, ...]] = (ATTEST, ATTEST_GROUP)

    @property
    def measures(self) -> LeaderboardSpec:
        """The measures, ranked by CITATION_SUPPORT."""
        columns = (
            MeasureSpec("CITATION_ACCURACY", citation_accuracy),
            MeasureSpec("CITATION_SUPPORT", self.citation_support),
            MeasureSpec("AVG_CITATIONS", avg_citations),
            MeasureSpec("PERFECT_CITATIONS", perfect_citations, "mean_of_bools"),
            MeasureSpec("SENTENCE_SUPPORT", sentence_support),
        )
        return LeaderboardSpec(columns, sort_by="CITATION_SUPPORT", fill=filled)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield one item for each citation of each sentence."""
        for sentence in response.sentences:
            for citation in sentence.citations:
                yield _item(topic, response, sentence, citation)

    async def judge(self, item: Item, model: Model) -> Judgment:
        """Return full, partial or no support.

        A document that is not there supports nothing; where no document text was given at all,
        raises JudgmentFailed, since that says nothing about the system.
        """
        if item.exists is False:
            return _unsupported(item, "no such document")
        if item.document is None or not item.document.text.strip():
            what = "a document without text" if item.document else "no document text was given"
            raise JudgmentFailed("no_document_text", f"{what}; supply it with --documents")
        if not item.text.strip():
            return _unsupported(item, "the sentence has no text")
        attester = attester_for(self.attester, model, ATTEST)
        return _attested(item, await attester.attest(item.text, item.document))

    def group_of(self, item: Item) -> str | None:
        """Return the document that a model would be asked about, or None."""
        asked = item.document is not None and item.document.text.strip() and item.text.strip()
        return item.document.doc_id if item.document and asked else None

    async def judge_group(self, items: Sequence[Item], model: Model) -> list[Judgment]:
        """Put several sentences on one document to the model; singly where that fails."""
        attester = attester_for(self.attester, model, ATTEST)
        document = items[0].document
        if isinstance(attester, ModelAttester) and document is not None:
            sentences = [item.text for item in items]
            try:
                found = await attester.attest_group(ATTEST_GROUP, sentences, document)
                return [_attested(*pair) for pair in zip(items, found, strict=True)]
            except JudgmentFailed as failed:
                if failed.kind not in ("parse", "cut"):
                    raise
        return [await self.judge(item, model) for item in items]

    def citation_support(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return supporting citations / citations: 0 without citations, None if none is judged."""
        judged = [j for j in judgments if j.judged]
        if not judged:
            return 0.0 if not judgments else None
        return sum(self._weight(j) for j in judged) / len(judged)

    def _weight(self, judgment: Judgment) -> float:
        return {FULL: 1.0, PARTIAL: self.partial}.get(judgment.label or "", 0.0)


def _attested(item: Item, found: Attestation) -> Judgment:
    return judgment_of(
        item,
        label=found.label,
        grade=GRADES[found.label],
        reason=found.reason,
        evidence=found.evidence,
        attester=found.attester,
        usage=found.usage,
    )


def _unsupported(item: Item, reason: str) -> Judgment:
    return judgment_of(item, label=NONE, grade=GRADES[NONE], reason=reason)


def _item(topic: Topic, response: Response, sentence: Sentence, citation: Citation) -> Item:
    document = response.documents.get(citation.doc_id) if citation.doc_id else None
    knowable = response.documents_given or citation.doc_id is None
    return Item(
        topic=topic,
        run_id=response.run_id,
        text=sentence.text,
        sentence_index=sentence.index,
        citation=citation,
        document=document,
        exists=document is not None if knowable else None,
    )


def citation_accuracy(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return existing citations / citations: 0 without citations, None if none can be told."""
    known = [j.exists for j in judgments if j.exists is not None]
    if not known:
        return 0.0 if not judgments else None
    return sum(known) / len(known)


def avg_citations(response: Response, judgments: Sequence[Judgment]) -> float:
    """Return the number of citations; the mean comes with the `all` row."""
    return float(len(judgments))


def perfect_citations(response: Response, judgments: Sequence[Judgment]) -> bool | None:
    """Return whether there are citations and all exist and fully support.

    None where those judged are perfect and others are unjudged.
    """
    judged = [j for j in judgments if j.judged]
    perfect = all(j.label == FULL and j.exists for j in judged)
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
        labels = [judgment.label for judgment in cited]
        lost = any(label not in (FULL, None) for label in labels)
        if lost or None not in labels:
            outcomes.append(not lost)
    return sum(outcomes) / len(outcomes) if outcomes else None


def filled(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged judgment as the best or the worst that it could have been."""
    exists = best if judgment.exists is None else judgment.exists
    label = FULL if best else NONE
    return replace(judgment, label=label, grade=GRADES[label], exists=exists, failure=None)
