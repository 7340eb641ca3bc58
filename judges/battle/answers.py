"""What a battle needs of each answer: its text, what it cites, and how well words support it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from trecjudge import JudgmentFailed, Response, Topic
from trecjudge.models.model import NoModel
from trecjudge.text.visible import is_blank

from ..support import SupportJudge

MOST_DOCUMENTS, MOST_WORDS = 10, 150
"""How many documents of an answer are shown as evidence, and how many words of each."""
SUPPORT = SupportJudge(attester="lexical")


@dataclass(frozen=True, slots=True)
class Support:
    """The support of the citations of an answer as words tell it: its mean, 0 to 1, and variance.

    `failed` is why it is not known.
    """

    mean: float = 0.0
    variance: float = 0.0
    failed: JudgmentFailed | None = None

    def chance_above(self, other: Support) -> float:
        """Return the probability that it is above another one, 0 to 1; 0.5 for equal ones."""
        apart, spread = self.mean - other.mean, math.sqrt(2 * (self.variance + other.variance))
        if not spread:
            return 0.5 + 0.5 * ((apart > 0) - (apart < 0))
        return 0.5 + 0.5 * math.erf(apart / spread)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response as a battle sees it: without its run's name, and without marks of citations."""

    text: str
    evidence: str = ""
    support: Support = Support()

    @property
    def words(self) -> int:
        """How long it is, split at white space."""
        return len(self.text.split())

    @property
    def is_blank(self) -> bool:
        """Whether it has no visible character."""
        return is_blank(self.text)


def evidence_of(response: Response) -> str:
    """Return the beginnings of the documents that a response cites, numbered, as one text."""
    cited = list(dict.fromkeys(response.cited_ids()))[:MOST_DOCUMENTS]
    found = (response.documents.get(doc_id) for doc_id in cited)
    texts = (" ".join(one.full_text.split()[:MOST_WORDS]) for one in found if one is not None)
    shown = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1) if text)
    return shown or "none"


async def support_of(topic: Topic, response: Response) -> Support:
    """Return the expected support of the citations of a response, as the support judge has it.

    Of unjudged citations nothing is known; an answer of which all are has failed. Without citations
    it is 0.
    """
    weights, failed = [], None
    for item in SUPPORT.pool(topic, response):
        try:
            judgment = await SUPPORT.judge(item, NoModel())
        except JudgmentFailed as error:
            failed = error
            continue
        weights += list(_weights(judgment))
    if not weights:
        return Support(failed=failed)
    mean = sum(weights) / len(weights)
    variance = sum(weight * (1 - weight) for weight in weights) / len(weights) ** 2
    return Support(mean, variance)


def _weights(judgment: object) -> Iterator[float]:
    expected = getattr(judgment, "expected", None)
    if expected is not None:
        yield expected
    elif getattr(judgment, "grade", None) is not None:
        yield getattr(judgment, "grade", 0) / 2
