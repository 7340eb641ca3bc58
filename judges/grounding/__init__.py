"""Grounding: are the claims of a response in what it was given, cited, and retrieved?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trecjudge import (
    ABSTAINED,
    AMBIGUOUS,
    ANSWERED,
    ATTRIBUTED,
    CONTRADICTED,
    NO_CLAIMS,
    UNATTRIBUTED,
    UNKNOWN,
    ClaimJudging,
    Item,
    Judgment,
    LeaderboardSpec,
    MeasureSpec,
    Model,
    Response,
    WholeResponse,
    check_ranges,
    filling,
    judgment_of,
    ranged,
    rate,
)

SUPPORTED = "supported"
LABELS = {
    ATTRIBUTED: SUPPORTED,
    UNATTRIBUTED: "unsupported",
    CONTRADICTED: "contradicted",
    AMBIGUOUS: "ambiguous",
}
NOT_SUPPORTED = tuple(label for label in LABELS.values() if label != SUPPORTED)
HIT = "RETRIEVAL_HIT_3"
FIRST = 3
"""Documents among which a relevant one is a hit: HIT has the number in its name."""


@dataclass(frozen=True, slots=True)
class GroundingJudge(ClaimJudging):
    """Whether the claims of a response are in the documents it was given, and where: provenance.

    `relevant_from` is the grade of `--qrels` from which on a document is relevant.
    """

    relevant_from: int = ranged(1, 1)

    def __post_init__(self) -> None:
        ClaimJudging.__post_init__(self)
        check_ranges(self)

    @property
    def measures(self) -> LeaderboardSpec:
        """The measures, ranked by FACTUALITY_RATE."""
        hallucinated = rate(NOT_SUPPORTED, empty=None)
        columns = (
            MeasureSpec(
                "FACTUALITY_RATE",
                rate([SUPPORTED]),
                default_if_undefined=False,
                description="Share of the claims of the response that a given document"
                " supports. From 0 to 1; higher is better.",
            ),
            MeasureSpec(
                "HALLUCINATION_RATE",
                hallucinated,
                default=None,
                lower_is_better=True,
                description="Share of the claims of the response that no given document"
                " supports. From 0 to 1; lower is better.",
            ),
            MeasureSpec(
                "CITATION_COVERAGE",
                citation_coverage,
                default_if_undefined=False,
                description="Share of the claims whose sentence cites something. From 0 to 1;"
                " higher is better.",
            ),
            MeasureSpec(
                "ABSTAINED",
                abstained,
                "mean_of_bools",
                None,
                lower_is_better=True,
                description="Share of the responses that decline to answer and claim nothing."
                " From 0 to 1; lower is better.",
            ),
            MeasureSpec(
                HIT,
                retrieval_hit,
                default=None,
                description="Share of the responses with a relevant document among their first"
                " three references. From 0 to 1; higher is better.",
            ),
        )
        return LeaderboardSpec(columns, sort_by="FACTUALITY_RATE", fill=best_or_worst)

    async def judge(self, item: Item, model: Model) -> list[Judgment]:
        """Return a judgment on the response, on its first documents, and on each claim."""
        assert isinstance(item, WholeResponse)
        found = await ClaimJudging.judge(self, item, model)
        named = [replace(j, label=LABELS.get(j.label or "", j.label)) for j in found]
        answered = [judgment_of(item, label=ANSWERED)] if found[0].claim else []
        return [*answered, *self._retrieval(item), *named]

    def _retrieval(self, item: WholeResponse) -> list[Judgment]:
        """Return whether a relevant document is among the first three; nothing without qrels."""
        if item.topic.qrels is None:
            return []
        first = ranked(item.response)[:FIRST]
        hits = [i for i in first if item.topic.qrels.get(i, 0) >= self.relevant_from]
        reason = f"relevant: {hits[0]}" if hits else f"none of {', '.join(first) or 'nothing'}"
        return [judgment_of(item, label=HIT, value=float(bool(hits)), reason=reason)]


def ranked(response: Response) -> list[str]:
    """Return the documents in the order of the references or, without any, of the citations."""
    cited = (c.doc_id for s in response.sentences for c in s.citations if c.doc_id)
    return list(dict.fromkeys(response.references or cited))


def citation_coverage(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return claims whose sentence cites something / claims: None without, 0 without text."""
    if judgments and not response.has_text:
        return 0.0
    cited = [bool(judgment.claim.cited) for judgment in judgments if judgment.claim]
    return sum(cited) / len(cited) if cited else None


def abstained(response: Response, judgments: Sequence[Judgment]) -> bool | None:
    """Return whether the response declines to answer; None where its claims are not known."""
    labels = {judgment.label for judgment in judgments}
    if unknown := [judgment for judgment in judgments if judgment.claim in UNKNOWN.values()]:
        return unknown[0].claim == UNKNOWN[False]
    return ABSTAINED in labels if labels & {ABSTAINED, ANSWERED, NO_CLAIMS} else None


def retrieval_hit(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return 1 if one of the first three documents is relevant, else 0; None without qrels."""
    return next((judgment.value for judgment in judgments if judgment.label == HIT), None)


best_or_worst = filling(SUPPORTED, LABELS[CONTRADICTED])
