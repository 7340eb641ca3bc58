"""Attribution: which claims of a response its documents state, and which of their facts it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trecjudge.claims.facts import facts_found
from trecjudge.claims.judging import ClaimJudging
from trecjudge.claims.measures import filling, rate
from trecjudge.claims.offline import LexicalDetector
from trecjudge.claims.search import NO_TEXT, Library
from trecjudge.claims.verdicts import ATTRIBUTED, CONTRADICTED
from trecjudge.errors import JudgmentFailed
from trecjudge.judge import unjudged
from trecjudge.llm.model import Model
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.records import (
    Claim,
    Document,
    Fact,
    Judgment,
    Response,
    WholeResponse,
    judgment_of,
)

USED, UNUSED = "USED", "UNUSED"


@dataclass(frozen=True, slots=True)
class AttributionJudge(ClaimJudging):
    """Whether the documents of a response state its claims: attributed, contradicted, or neither.

    `facts` also asks which facts of the documents the response has, by words alone.
    """

    facts: bool = True

    @property
    def measures(self) -> LeaderboardSpec:
        """The measures, ranked by ATTRIBUTION_RATE."""
        attributed = rate([ATTRIBUTED])
        columns = [
            MeasureSpec("ATTRIBUTION_RATE", attributed),
            MeasureSpec("WEIGHTED_ATTRIBUTION", rate([ATTRIBUTED], lambda c: c.importance)),
            MeasureSpec(
                "CONTRADICTION_RATE", rate([CONTRADICTED]), default=None, lower_is_better=True
            ),
            MeasureSpec("DOCUMENT_COVERAGE", document_coverage),
            MeasureSpec("ATTRIBUTION_PRECISION", attributed),
            MeasureSpec("ATTRIBUTION_RECALL", attribution_recall),
        ]
        measures = tuple(replace(column, default_if_undefined=False) for column in columns)
        return LeaderboardSpec(measures, sort_by="ATTRIBUTION_RATE", fill=filled)

    async def judged(
        self, item: WholeResponse, claims: Sequence[Claim], library: Library, model: Model
    ) -> list[Judgment]:
        """Return a judgment on each claim, then one on each document."""
        found = await ClaimJudging.judged(self, item, claims, library, model)
        used = {s.doc_id for j in found if j.label == ATTRIBUTED for s in j.sources}
        documents = item.response.documents.values()
        return [*found, *(self._document(item, d, d.doc_id in used) for d in documents)]

    def _document(self, item: WholeResponse, document: Document, used: bool) -> Judgment:
        """Return whether a claim is attributed to a document, and which of its facts are said."""
        if not document.text.strip():
            failed = JudgmentFailed(NO_TEXT, "a document without text; supply it with --documents")
            return replace(unjudged(item, failed), doc_id=document.doc_id)
        facts: Sequence[Fact] = ()
        if self.facts:
            facts = facts_found(document, item.response, LexicalDetector(self.overlap))
        return judgment_of(
            item,
            doc_id=document.doc_id,
            label=USED if used else UNUSED,
            grade=int(used),
            reason=f"{sum(bool(fact.found) for fact in facts)} of {len(facts)} facts are said",
            facts=tuple(facts),
            attester="lexical",
        )


def document_coverage(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return documents with an attributed claim / documents; None without documents."""
    labels = [j.label for j in judgments if j.label in (USED, UNUSED)]
    return labels.count(USED) / len(labels) if labels else None


def attribution_recall(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return facts of the documents that the response states / facts; None without facts."""
    found = [bool(fact.found) for j in judgments for fact in j.facts]
    return sum(found) / len(found) if found else None


_filled_claim = filling(ATTRIBUTED, CONTRADICTED)


def filled(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged judgment, on a claim or on a document, at its best or at its worst."""
    if judgment.claim or judgment.doc_id is None:
        return _filled_claim(judgment, best)
    label, facts = (USED if best else UNUSED), (Fact("", 0, 0, best),)
    return replace(judgment, label=label, facts=facts, failure=None)
