"""The track's precision and recall: which citations of a sentence are assessed, and their weights.

Source: Thakur et al., Support Evaluation for the TREC 2024 RAG Track (arXiv 2504.15205).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from trecjudge import FULL, NONE, NOTHING_TO_CHECK, PARTIAL, Citation, Judgment, Response, Sentence

AssessedCitations = Literal["first", "all", "best"]
CitationKey = tuple[int | None, str | None, str | None]
"""(sentence_index, doc_id, citation as written): one judgment of a response."""

WEIGHTED: Final[Mapping[str, float]] = {FULL: 1.0, PARTIAL: 0.5, NONE: 0.0}
HARD: Final[Mapping[str, float]] = {FULL: 1.0, PARTIAL: 0.0, NONE: 0.0}


@dataclass(frozen=True, slots=True)
class Weighing:
    """Precision and recall of the citations that `rule` selects; w is the weight of a label."""

    rule: AssessedCitations
    weights: Mapping[str, float]

    def precision(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return sum of w / assessed citations, 0 to 1.

        With `best` a sentence has one assessed citation, its best. 0 without citations, None if
        none is judged.
        """
        return mean(
            [w for assessed in self._assessed_weights(response, judgments) for w in assessed]
        )

    def recall(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return sum of w of sentences / sentences, 0 to 1.

        A sentence's w is that of its assessed citation, with `all` the mean over its citations, and
        0 without citations. It leaves the sums while one of these is unjudged. 0 without sentences,
        None if no citation is judged.
        """
        assessed = self._assessed_weights(response, judgments)
        if mean([w for weights in assessed for w in weights]) is None:
            return None
        return mean([None if None in weights else mean(weights) for weights in assessed])

    def _assessed_weights(
        self, response: Response, judgments: Sequence[Judgment]
    ) -> list[list[float | None]]:
        """Return for each sentence the w of its assessed citations, None for an unjudged one.

        A citation on a sentence that states nothing is not assessed.
        """
        found = by_citation(judgments)
        return [self._weights(sentence, found) for sentence in response.sentences]

    def _weights(
        self, sentence: Sentence, found: Mapping[CitationKey, Judgment]
    ) -> list[float | None]:
        if not sentence.citations:
            return []
        wanted = (strongest(sentence),) if self.rule == "first" else sentence.citations
        labels = [label_at(found, citation_key(sentence, citation)) for citation in wanted]
        weights = [
            None if label is None else self.weights[label]
            for label in labels
            if label != NOTHING_TO_CHECK
        ]
        if not weights:
            return []
        return [self._best(weights)] if self.rule == "best" else weights

    def _best(self, weights: list[float | None]) -> float | None:
        """Return the highest w; None while an unjudged one could be higher."""
        # Full support cannot be exceeded: then it does not matter what is unjudged.
        known = max((w for w in weights if w is not None), default=0.0)
        return None if None in weights and known < self.weights[FULL] else known


def strongest(sentence: Sentence) -> Citation:
    """Return the citation of the highest score; the first one of equals, and where none is given.

    The sentence has citations.
    """
    return max(sentence.citations, key=lambda c: -math.inf if c.score is None else c.score)


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the known values; 0 if there are no values, None if none is known."""
    known = [value for value in values if value is not None]
    if not known:
        return None if values else 0.0
    # Exact sums: the order of citations must not change the last digit.
    return math.fsum(known) / len(known)


def by_citation(judgments: Sequence[Judgment]) -> dict[CitationKey, Judgment]:
    """Return the judgments by their citation."""
    return {(j.sentence_index, j.doc_id, j.citation): j for j in judgments}


def citation_key(sentence: Sentence, citation: Citation) -> CitationKey:
    """Return the key of the judgment on a citation."""
    return sentence.index, citation.doc_id, citation.value


def label_at(found: Mapping[CitationKey, Judgment], key: CitationKey) -> str | None:
    """Return the label of a judgment; None if it is unjudged or was not asked for."""
    judgment = found.get(key)
    return None if judgment is None else judgment.label
