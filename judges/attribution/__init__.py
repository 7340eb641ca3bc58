"""Attribution: which claims of a response its documents state, and which of their facts it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from trecjudge import (
    Document,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    Model,
    Program,
    Response,
    WholeResponse,
    judgment_of,
)
from trecjudge.judging.attest import EXCERPT_CUT, HOLLOW, NO_TEXT
from trecjudge.judging.claims.by_model import ATTRIBUTE
from trecjudge.judging.claims.by_words import LexicalDetector
from trecjudge.judging.claims.importance import MODEL, WEIGH, importance_at, weigh_by_model
from trecjudge.judging.claims.judge import (
    EXPECTED,
    ClaimJudging,
    expected_rate,
    facts_found,
    filling,
    is_silent,
    rate,
    without_text,
)
from trecjudge.judging.claims.search import AMBIGUOUS, ATTRIBUTED, CONTRADICTED, Library
from trecjudge.judging.claims.statements import SPLIT
from trecjudge.judging.judge import unjudged
from trecjudge.judging.offline.prepared import scripts_of
from trecjudge.measures import mean_of, share_measure
from trecjudge.records import Claim, Evidence, Fact
from trecjudge.text.tokens import comparable, scripts

USED, UNUSED = "USED", "UNUSED"
ANY_NUMBER = {found: Fact("", -1, -1, found) for found in (True, False)}
"""Stands for the facts of a document that could not be read: it decides the recall by itself."""


@dataclass(frozen=True, slots=True)
class AttributionJudge(ClaimJudging):
    """Whether the documents of a response state its claims: attributed, contradicted, or neither.

    `facts` also asks which facts of the documents the response has. With a model these are those
    in the passages that it quotes for attributed claims, and those found by words. `claim_weights`
    is a file with weights of claims for WEIGHTED_ATTRIBUTION, or `model`: a model weighs them.
    """

    facts: bool = True
    claim_weights: str = ""
    programs: ClassVar[tuple[Program, ...]] = (SPLIT, ATTRIBUTE, WEIGH)

    @property
    def needs_model(self) -> bool:
        """Whether the settings ask for a model."""
        return self.claim_weights == MODEL or "llm" in (self.claims, self.detector, *self.cascade)

    @property
    def measures(self) -> LeaderboardSpec:
        """The measures, ranked by ATTRIBUTION_RATE."""
        return LeaderboardSpec(MEASURES, sort_by="ATTRIBUTION_RATE", fill=best_or_worst)

    async def judge_claims(
        self, item: WholeResponse, claims: Sequence[Claim], library: Library, model: Model
    ) -> list[Judgment]:
        """Return a judgment on each claim, then one on each document.

        Where a model should have weighed the claims and did not, there is an unjudged one for that.
        """
        failed: list[Judgment] = []
        if self.claim_weights == MODEL:
            try:
                claims = await weigh_by_model(item.topic, claims, model)
            except JudgmentFailed as error:
                claims = [replace(claim, importance=None) for claim in claims]
                failed = [replace(unjudged(item, error), attester=WEIGH.name)]
        elif self.claim_weights:
            file, topic = importance_at(self.claim_weights), item.topic.topic_id
            claims = file.weigh(item.run_id, topic, claims)
        found = await ClaimJudging.judge_claims(self, item, claims, library, model)
        used = {s.doc_id for j in found if j.label == ATTRIBUTED for s in j.sources}
        documents = item.response.sources.values()
        detector = self.without_model(model)
        judged = (self._document(item, d, d.doc_id in used, found, detector) for d in documents)
        return [*found, *judged, *failed]

    def _document(
        self,
        item: WholeResponse,
        document: Document,
        used: bool,
        found: Sequence[Judgment],
        detector: LexicalDetector,
    ) -> Judgment:
        """Return whether a claim is attributed to a document, and which facts the response has.

        While a claim is unjudged that may be attributed to it, an unused document is too.
        """
        if unread := without_text(item, document):
            return unread
        facts: Sequence[Fact] = ()
        if self.facts:
            facts = facts_found(document, item.response, detector, quoted_evidence(found, document))
        given = {"doc_id": document.doc_id, "facts": tuple(facts), "attester": detector.name}
        # A used document stays used, whatever the unjudged claims are.
        failed = next((j.failure for j in found if j.failure and _leaves_open(j, document)), None)
        if failed and not used:
            return judgment_of(item, failure=failed, **given)
        states = f"{sum(bool(fact.found) for fact in facts)} of {len(facts)} facts are said"
        reason = HOLLOW if document.hollow else states
        label = USED if used else UNUSED
        return judgment_of(item, label=label, grade=int(used), reason=reason, **given)


def quoted_evidence(found: Sequence[Judgment], document: Document) -> list[Evidence]:
    """Return the passages of a document that a model gave as sources of attributed claims."""
    attributed = (j for j in found if j.label == ATTRIBUTED and j.attester == "llm")
    sources = (source for judgment in attributed for source in judgment.sources)
    return [source.evidence for source in sources if source.doc_id == document.doc_id]


def _leaves_open(judgment: Judgment, document: Document) -> bool:
    """Return whether an unjudged claim may be attributed to a document.

    A claim that is open because of documents not read was compared with all the others.
    """
    assert judgment.failure is not None and judgment.claim is not None
    compared = judgment.failure.kind in (NO_TEXT, EXCERPT_CUT) and document.complete
    if document.hollow or compared:
        return False
    ours, theirs = scripts(judgment.claim.text), scripts_of(document.full_text)
    return judgment.failure.kind != "script" or not comparable(ours, theirs)


def document_coverage(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return documents with an attributed claim / documents; None without, 0 in silence."""
    if is_silent(response, judgments):
        return 0.0
    return mean_of(j.label == USED for j in judgments if j.label in (USED, UNUSED))


def attribution_recall(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return facts of the documents that the response states / facts: 0 in silence, else None."""
    if is_silent(response, judgments):
        return 0.0
    facts = [fact for j in judgments for fact in j.facts]
    if stand_ins := [fact for fact in facts if fact in ANY_NUMBER.values()]:
        return float(all(fact.found for fact in stand_ins))
    return mean_of(bool(fact.found) for fact in facts)


BEST, WORST = "BEST", "WORST"
"""The labels that stand for weights that are not known, at the bounds of a mean."""
_weighted_rate = rate([ATTRIBUTED], lambda claim: claim.importance or 0.0)


def weighted_attribution(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return the weight of attributed claims / that of all judged ones; None without, 0 in silence.

    Where the weights are not known it is None. At its best one claim has all the weight, and that
    one is attributed if any is; at its worst it is another one.
    """
    weighing = next((j.label for j in judgments if j.attester == WEIGH.name), BEST)
    if all(j.claim is None or j.claim.importance is not None for j in judgments):
        return _weighted_rate(response, judgments)
    found = [j.label == ATTRIBUTED for j in judgments if j.claim and j.judged]
    if weighing is None or not found:
        return None
    return float(any(found) if weighing == BEST else all(found))


BANDS = {"excellent": 0.95, "good": 0.85, "fair": 0.7, "poor": 0.0}
"""What rates of attribution are called in the literature: the least rate of each name."""
COLUMNS = (
    share_measure(
        "ATTRIBUTION_RATE",
        rate([ATTRIBUTED]),
        "Share of the claims of the response that some document states.",
        bands=BANDS,
    ),
    share_measure(
        "WEIGHTED_ATTRIBUTION",
        weighted_attribution,
        "The same as ATTRIBUTION_RATE, with important claims weighing more.",
    ),
    share_measure(
        "EXPECTED_ATTRIBUTION",
        expected_rate({ATTRIBUTED: 1.0, AMBIGUOUS: 0.5}),
        f"ATTRIBUTION_RATE by expectation. {EXPECTED}",
        expected_of="ATTRIBUTION_RATE",
    ),
    share_measure(
        "CONTRADICTION_RATE",
        rate([CONTRADICTED], empty=None),
        "Share of the claims of the response that a document contradicts.",
        lower_is_better=True,
        default=None,
    ),
    share_measure(
        "DOCUMENT_COVERAGE",
        document_coverage,
        "Share of the documents to which at least one claim can be attributed.",
    ),
    share_measure(
        "ATTRIBUTION_PRECISION",
        rate([ATTRIBUTED]),
        "Share of the claims that some document states; equal to ATTRIBUTION_RATE and read beside"
        " ATTRIBUTION_RECALL.",
    ),
    share_measure(
        "ATTRIBUTION_RECALL",
        attribution_recall,
        "Share of the facts of the documents that the response states.",
    ),
)
MEASURES = tuple(replace(column, default_if_undefined=False) for column in COLUMNS)


_best_or_worst_claim = filling(ATTRIBUTED, CONTRADICTED)


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged judgment, on a claim or on a document, at its best or at its worst.

    One on the weights of claims, too.
    """
    if judgment.attester == WEIGH.name:
        return replace(judgment, label=BEST if best else WORST, failure=None)
    if judgment.claim or judgment.doc_id is None:
        return _best_or_worst_claim(judgment, best)
    facts = judgment.facts or (ANY_NUMBER[best],)
    return replace(judgment, label=USED if best else UNUSED, facts=facts, failure=None)
