"""Citation support by Auto-ARGUE attestation: every citation of every sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from trecjudge import Judgment, LeaderboardSpec, MeasureSpec, Program, ReplyLength, Response
from trecjudge.judging.attest import Attesting, best_or_worst
from trecjudge.measures import expected_weight, mean_of, share_measure
from trecjudge.records import FULL, NONE, NOTHING_TO_CHECK, PARTIAL
from trecjudge.settings.fields import ranged

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

    `partial` is what a partial support counts, 0 to 1.
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
        return LeaderboardSpec(columns, sort_by="CITATION_SUPPORT", fill=best_or_worst)

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
