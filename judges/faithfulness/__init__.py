"""Faithfulness in four steps: claims, truths of the documents, verdicts, score."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from trecjudge import (
    Document,
    Item,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    Model,
    Program,
    WholeResponse,
    judgment_of,
)
from trecjudge.errors import PLANNED
from trecjudge.judging.attest import HOLLOW
from trecjudge.judging.claims.by_model import first_sure
from trecjudge.judging.claims.judge import (
    EXPECTED,
    ClaimJudging,
    expected_rate,
    facts_of,
    filling,
    judgment_on,
    on_claim,
    rate,
    without_text,
)
from trecjudge.judging.claims.search import (
    AMBIGUOUS,
    ATTRIBUTED,
    CONTRADICTED,
    UNATTRIBUTED,
    Library,
)
from trecjudge.judging.claims.statements import SPLIT
from trecjudge.judging.judge import asks_model, unjudged
from trecjudge.measures import share_measure
from trecjudge.records import Claim, Fact, Usage
from trecjudge.settings.fields import check_ranges, ranged

from .steps import NO, TRUTHS, UNSURE, VERIFY, YES, ClaimAnswer, Truth, Verifier, truths_of

STATED = "TRUTHS"
LABELS = {ATTRIBUTED: YES, CONTRADICTED: NO, UNATTRIBUTED: UNSURE, AMBIGUOUS: UNSURE}


@dataclass(frozen=True, slots=True)
class FaithfulnessJudge(ClaimJudging):
    """Whether the claims of a response agree with the truths that its documents state.

    With a model every step is its own: it lists claims, then the truths of each document, then
    gives verdicts on up to `group` claims in one request.
    """

    group: int = ranged(10, 1)
    programs: ClassVar[tuple[Program, ...]] = (SPLIT, TRUTHS, VERIFY)

    def __post_init__(self) -> None:
        ClaimJudging.__post_init__(self)
        check_ranges(self)

    @property
    def measures(self) -> LeaderboardSpec:
        """FAITHFULNESS, which ranks, HALLUCINATION, and the first by expectation."""
        columns = (
            share_measure(
                "FAITHFULNESS",
                rate([YES]),
                "Share of the claims of the response that its documents support.",
                default_if_undefined=False,
            ),
            share_measure(
                "HALLUCINATION",
                rate([NO], empty=None),
                "Share of the claims of the response that its documents contradict.",
                lower_is_better=True,
                default=None,
            ),
            share_measure(
                "EXPECTED_FAITHFULNESS",
                expected_rate({YES: 1.0}),
                f"FAITHFULNESS by expectation. {EXPECTED}",
                default_if_undefined=False,
                expected_of="FAITHFULNESS",
            ),
        )
        return LeaderboardSpec(columns, sort_by="FAITHFULNESS", fill=best_or_worst)

    async def judge_claims(
        self, item: WholeResponse, claims: Sequence[Claim], library: Library, model: Model
    ) -> list[Judgment]:
        """Return the truths of each document, then the verdict on each claim."""
        if not asks_model((self.cascade or [self.detector])[-1], model):
            verdicts = await ClaimJudging.judge_claims(self, item, claims, library, model)
            named = [replace(j, label=LABELS.get(j.label or "")) for j in verdicts]
            return [*_all_stated_by_rules(item), *named]
        found = await self._sure(item, claims, library)
        asked = [claim for claim in claims if claim.index not in found]
        if not asked:  # nothing is left for the model, not even the truths
            return [*_all_stated_by_rules(item), *found.values()]
        truths = await self._truths(item, model)
        found |= await self._verify_claims(item, asked, truths, library, model)
        return [*truths, *(found[claim.index] for claim in claims)]

    async def _sure(
        self, item: WholeResponse, claims: Sequence[Claim], library: Library
    ) -> dict[int, Judgment]:
        """Return, by claim, the verdicts of which the detectors before the model are sure."""
        cheap, found = self.before_the_last(), {}
        for claim in claims:
            verdict = await first_sure(cheap, claim.text, library.of_claim(claim))
            if verdict is not None:
                judgment = judgment_on(item, claim, verdict)
                label = LABELS[verdict.label]
                found[claim.index] = replace(judgment, label=label, usage=Usage(spared=1))
        return found

    async def _verify_claims(
        self,
        item: WholeResponse,
        claims: Sequence[Claim],
        truths: Sequence[Judgment],
        library: Library,
        model: Model,
    ) -> dict[int, Judgment]:
        """Return, by claim, the verdicts of the model."""
        verifier = Verifier(
            model, _known_truths(item, truths), self.characters, self.group, self.rounds
        )
        answers = await verifier.verify(claims)
        pairs = zip(claims, answers, strict=True)
        return {
            claim.index: _claim_judgment(item, claim, answer, truths, library.of_claim(claim))
            for claim, answer in pairs
        }

    async def _truths(self, item: WholeResponse, model: Model) -> list[Judgment]:
        """Return what each document states, an unjudged judgment where that is not known."""
        documents = item.response.sources.values()
        return await asyncio.gather(*(self._judge_truths(item, d, model) for d in documents))

    async def _judge_truths(
        self, item: WholeResponse, document: Document, model: Model
    ) -> Judgment:
        if unread := without_text(item, document):
            return unread
        if document.hollow:
            return _stated_by_rules(item, document)
        try:
            facts = await truths_of(document, model, self.characters)
        except JudgmentFailed as failed:
            if failed.kind == PLANNED:  # about as many truths, to count the questions after them
                return _stated_by_rules(item, document)
            return replace(unjudged(item, failed), doc_id=document.doc_id)
        return _truths_judgment(item, document, facts, "llm")


def _all_stated_by_rules(item: WholeResponse) -> list[Judgment]:
    """Return what each document states, by rules; an unjudged judgment where it has no text."""
    documents = item.response.sources.values()
    return [without_text(item, d) or _stated_by_rules(item, d) for d in documents]


def _stated_by_rules(item: Item, document: Document) -> Judgment:
    return _truths_judgment(item, document, facts_of(document), "rules")


def _truths_judgment(
    item: Item, document: Document, facts: Sequence[Fact], attester: str
) -> Judgment:
    reason = HOLLOW if document.hollow else f"{len(facts)} truths"
    given = {"doc_id": document.doc_id, "facts": tuple(facts), "attester": attester}
    return judgment_of(item, label=STATED, reason=reason, **given)


def _known_truths(item: WholeResponse, truths: Sequence[Judgment]) -> list[Truth]:
    """Return the truths of all documents that were read."""
    documents = item.response.sources
    return [Truth(documents[t.doc_id], fact) for t in truths if t.doc_id for fact in t.facts]


def _claim_judgment(
    item: Item,
    claim: Claim,
    answer: ClaimAnswer | JudgmentFailed,
    truths: Sequence[Judgment],
    library: Library,
) -> Judgment:
    """Return the judgment that an answer makes.

    Where the truths of a document are not known, what the others leave unsure is unjudged; where
    its text is missing, only if it matters to the claim.
    """
    if isinstance(answer, JudgmentFailed):
        return replace(unjudged(item, answer), **on_claim(claim))
    elsewhere = set(library.unread).difference(library.missing)
    unknown = (t.failure for t in truths if t.failure and t.doc_id not in elsewhere)
    failure = next(unknown, None)
    if answer.label == UNSURE and failure is not None:
        return judgment_of(item, failure=failure, usage=answer.usage, **on_claim(claim))
    if answer.label == UNSURE and library.in_part and library.gap:
        return replace(unjudged(item, library.gap), usage=answer.usage, **on_claim(claim))
    source = next(iter(answer.sources), None)
    return judgment_of(
        item,
        label=answer.label,
        reason=answer.reason,
        attester="llm",
        doc_id=source.doc_id if source else None,
        evidence=source.evidence if source else None,
        sources=answer.sources,
        usage=answer.usage,
        **on_claim(claim),
    )


_best_or_worst_claim = filling(YES, NO)


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged claim at its best or at its worst; truths without claims score nothing."""
    if judgment.claim is None and judgment.doc_id is not None:
        return replace(judgment, label=STATED, failure=None)
    return _best_or_worst_claim(judgment, best)
