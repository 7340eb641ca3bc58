"""Grounding: are the claims of a response in what it was given, cited, and retrieved?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from trecjudge import (
    Item,
    Judgment,
    LeaderboardSpec,
    Model,
    Response,
    WholeResponse,
    judgment_of,
)
from trecjudge.inputs.provenance import quote_span
from trecjudge.judging.claims.judge import (
    ANSWERED,
    EXPECTED,
    NO_CLAIMS,
    UNKNOWN,
    ClaimJudging,
    complement,
    expected_rate,
    filling,
    is_silent,
    rate,
)
from trecjudge.judging.claims.search import AMBIGUOUS, ATTRIBUTED, CONTRADICTED, UNATTRIBUTED
from trecjudge.measures import mean_of, share_measure
from trecjudge.records import ABSTAINED, Evidence, ProvenanceLine
from trecjudge.settings.fields import check_ranges, ranged

SUPPORTED = "supported"
LABELS = {
    ATTRIBUTED: SUPPORTED,
    UNATTRIBUTED: "unsupported",
    CONTRADICTED: "contradicted",
    AMBIGUOUS: "ambiguous",
}
HIT = "RETRIEVAL_HIT_3"
QUOTE_FOUND, QUOTE_MISSING = "quote_found", "quote_missing"
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
        return LeaderboardSpec(MEASURES, sort_by="FACTUALITY_RATE", fill=best_or_worst)

    async def judge(self, item: Item, model: Model) -> list[Judgment]:
        """Return a judgment on the response, its first documents, each claim and each quote.

        What a run says of the origin of a sentence is looked up and changes no verdict on a claim:
        a run cannot lift its rates by what it names.
        """
        assert isinstance(item, WholeResponse)
        found = await ClaimJudging.judge(self, item, model)
        named = [replace(j, label=LABELS.get(j.label or "", j.label)) for j in found]
        answered = [judgment_of(item, label=ANSWERED)] if found[0].claim else []
        return [*answered, *self._retrieval(item), *named, *_quotes(item)]

    def _retrieval(self, item: WholeResponse) -> list[Judgment]:
        """Return whether a relevant document is among the first three; nothing without qrels.

        It has no value where that cannot be told: what is cited need not be what was retrieved.
        """
        if item.topic.qrels is None:
            return []
        first, whole = first_retrieved(item.response)
        hits = [i for i in first if item.topic.qrels.get(i, 0) >= self.relevant_from]
        reason = f"relevant: {hits[0]}" if hits else f"none of {', '.join(first) or 'nothing'}"
        if not (hits or whole):
            reason = "the run does not say which three documents it retrieved first"
        value = float(bool(hits)) if hits or whole else None
        return [judgment_of(item, label=HIT, value=value, reason=reason)]


def _quotes(item: WholeResponse) -> Iterator[Judgment]:
    """Yield a judgment on each quote that the run names as the origin of a sentence.

    A document that is not there, or that the run carries without text, has no quote. Where that is
    not known, or nobody gave its text, there is no judgment.
    """
    response = item.response
    for line in response.provenance:
        document = response.documents.get(line.doc_id)
        if document is not None and document.has_text:
            yield _of_quote(item, line, document.full_text)
        elif response.has(line.doc_id) is False or (document is not None and document.hollow):
            yield _of_quote(item, line, "")


def _of_quote(item: WholeResponse, line: ProvenanceLine, text: str) -> Judgment:
    span = quote_span(text, line)
    where = f"rank {line.rank} of {line.retriever}" if line.retriever else "the run's provenance"
    return judgment_of(
        item,
        sentence_index=line.sentence_index,
        doc_id=line.doc_id,
        label=QUOTE_FOUND if span else QUOTE_MISSING,
        value=float(bool(span)),
        evidence=Evidence(*span, text[slice(*span)]) if span else None,
        reason=f"{'quoted from' if span else 'its quote is not in'} the document: {where}",
    )


def first_retrieved(response: Response) -> tuple[list[str], bool]:
    """Return the documents known to be among the first three retrieved, and whether that is all.

    A provenance has the ranks of what is cited only: three of them may not all be there.
    """
    if response.retrieved is not None:
        return list(dict.fromkeys(response.retrieved))[:FIRST], True
    ranks: dict[int, str] = {}
    for line in response.provenance:
        if 0 < line.rank <= FIRST:
            ranks.setdefault(line.rank, line.doc_id)
    return [ranks[rank] for rank in sorted(ranks)], len(ranks) == FIRST


def citation_coverage(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return claims whose sentence cites something / claims: None without, 0 in silence."""
    if is_silent(response, judgments):
        return 0.0
    return mean_of(bool(judgment.claim.cited) for judgment in judgments if judgment.claim)


def declines_to_answer(response: Response, judgments: Sequence[Judgment]) -> bool | None:
    """Return whether the response declines to answer; None where its claims are not known."""
    labels = {judgment.label for judgment in judgments}
    if unknown := [judgment for judgment in judgments if judgment.claim in UNKNOWN.values()]:
        return unknown[0].claim == UNKNOWN[False]
    return ABSTAINED in labels if labels & {ABSTAINED, ANSWERED, NO_CLAIMS} else None


def retrieval_hit(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return 1 if one of the first three documents is relevant, else 0; None without qrels."""
    return next((judgment.value for judgment in judgments if judgment.label == HIT), None)


def quotes_found(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return quotes that stand in their documents / quotes looked up; None without provenance."""
    quotes = (j for j in judgments if j.label in (QUOTE_FOUND, QUOTE_MISSING))
    return mean_of(quote.label == QUOTE_FOUND for quote in quotes)


MEASURES = (
    share_measure(
        "FACTUALITY_RATE",
        rate([SUPPORTED]),
        "Share of the claims of the response that a given document supports.",
        default_if_undefined=False,
    ),
    share_measure(
        "HALLUCINATION_RATE",
        complement(rate([SUPPORTED])),
        "1 - FACTUALITY_RATE: share of the claims of the response that no given document supports.",
        lower_is_better=True,
        default=1.0,
        default_if_undefined=False,
    ),
    share_measure(
        "CITATION_COVERAGE",
        citation_coverage,
        "Share of the claims whose sentence cites something.",
        default_if_undefined=False,
    ),
    share_measure(
        "ABSTAINED",
        declines_to_answer,
        "Share of the responses that decline to answer and claim nothing.",
        lower_is_better=True,
        aggregate="mean_of_bools",
        default=None,
    ),
    share_measure(
        HIT,
        retrieval_hit,
        "Share of the responses with a relevant document among the first three that their system"
        " retrieved.",
        default=None,
    ),
    share_measure(
        "QUOTES_FOUND",
        quotes_found,
        "Share of the quotes in the run's provenance that stand in the documents they are said to"
        " be from.",
        default=None,
    ),
    share_measure(
        "EXPECTED_FACTUALITY",
        expected_rate({SUPPORTED: 1.0, LABELS[AMBIGUOUS]: 0.5}),
        f"FACTUALITY_RATE by expectation. {EXPECTED}",
        default_if_undefined=False,
        expected_of="FACTUALITY_RATE",
    ),
)


best_or_worst = filling(SUPPORTED, LABELS[CONTRADICTED])
