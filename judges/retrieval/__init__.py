"""Retrieval: is what a system retrieved relevant, by given grades or by judged ones?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from trecjudge import (
    Citation,
    Item,
    Judgment,
    LeaderboardSpec,
    MeasureSpec,
    Model,
    Program,
    Response,
    Topic,
    WholeResponse,
    judgment_of,
)
from trecjudge.judging.attest import AttesterName
from trecjudge.measures import share_measure
from trecjudge.settings.fields import check_ranges, ranged

from ..direct_prompt import GRADE, DirectPromptJudge, best_or_worst

Grades = Sequence[int]
"""Grades of what was retrieved, the best first: 0 for what has none."""
UNSAID, UNGRADED, NONE_RELEVANT = "not_said", "no_grades", "none_relevant"
"""The labels of a response whose retrieval has no value, and why."""
WITHOUT = {
    UNSAID: "the run does not say what it retrieved",
    UNGRADED: "no document has a grade for this topic: --qrels, or relevance=judged",
    NONE_RELEVANT: "no document is relevant to this topic by its grades",
}
MISSING = "no document has a grade, none is relevant, or no run says what it retrieved"


@dataclass(frozen=True, slots=True)
class RetrievalJudge:
    """Whether the first documents that a system retrieved are relevant: HIT, RECALL, NDCG, MRR.

    `relevance` is `qrels`, grades given by `--qrels`, or `judged`: each document is graded 0 to 3
    by the topic, as `direct_prompt` does it by `attester`. `k` is how many of the first count, and
    `hit` how many of them for HIT. `relevant_from` is the grade from which on a document is
    relevant; 0 for 1 by qrels and 2 where judged.
    """

    relevance: Literal["qrels", "judged"] = "qrels"
    k: int = ranged(10, 1)
    hit: int = ranged(3, 1)
    relevant_from: int = ranged(0, 0)
    attester: AttesterName = "auto"
    programs: ClassVar[tuple[Program, ...]] = (GRADE,)

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def needs(self) -> tuple[str, ...]:
        """What it needs beside the runs."""
        return ("topic_text",) if self.relevance == "judged" else ()

    @property
    def needs_model(self) -> bool:
        """Whether the settings ask for a model."""
        return self.relevance == "judged" and self.attester == "llm"

    @property
    def measures(self) -> LeaderboardSpec:
        """NDCG, which ranks, RECALL, HIT, PRECISION and MRR; without given grades MRR ranks."""
        judged = self.relevance == "judged"
        columns = [
            self._measure(name, description)
            for name, description in self._descriptions.items()
            if name in self._of_first or not judged
        ]
        if not judged:
            return LeaderboardSpec(tuple(columns), columns[0].name)
        return LeaderboardSpec(
            tuple(columns), f"MRR@{self.k}", fill=best_or_worst, pooled_qrels=True
        )

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the response or, where they are judged, the first documents of its retrieval."""
        if self.relevance == "qrels":
            yield WholeResponse.of(topic, response)
            return
        found = {**response.documents, **response.retrieved_documents}
        for doc_id in _distinct(response)[: max(self.k, self.hit)]:
            document = found.get(doc_id)
            text = document.full_text if document and document.has_text else ""
            citation = Citation(doc_id, doc_id)
            yield Item(topic, response.run_id, text, None, citation, document)

    async def judge(self, item: Item, model: Model) -> Judgment | list[Judgment]:
        """Return the grade of a document, or the values of a response by the given grades."""
        if not isinstance(item, WholeResponse):
            grading = DirectPromptJudge(unit="document", attester=self.attester)
            return await grading.judge(item, model)
        grades = item.topic.qrels
        why = self._why_none(item)
        if why or grades is None:
            return judgment_of(item, label=why, reason=WITHOUT[why])
        order = _distinct(item.response)
        known = [(n, grades[i]) for n, i in enumerate(order[: self.k], 1) if i in grades]
        share = len(known) / min(self.k, len(order)) if order else None
        found = [grades.get(i, 0) for i in order]
        values = self._by_grades(found, [*grades.values()]) | {f"JUDGED@{self.k}": share}
        reason = "grades by rank: " + (", ".join(f"{n}: {grade}" for n, grade in known) or "none")
        return [judgment_of(item, label=n, value=v, reason=reason) for n, v in values.items()]

    def _why_none(self, item: WholeResponse) -> str:
        grades = item.topic.qrels
        if not grades:
            return UNGRADED
        if item.response.retrieved is None:
            return UNSAID
        return "" if any(g >= self._relevant for g in grades.values()) else NONE_RELEVANT

    @property
    def _relevant(self) -> int:
        return self.relevant_from or (1 if self.relevance == "qrels" else 2)

    def _by_grades(self, found: Grades, every: Grades) -> dict[str, float | None]:
        """Return the value of each measure; `every` are the grades of all documents there are."""
        k, relevant = self.k, sum(grade >= self._relevant for grade in every)
        ideal = gain(sorted(every, reverse=True)[:k])
        top = sum(grade >= self._relevant for grade in found[:k])
        values: dict[str, float | None] = {
            f"NDCG@{k}": gain(found[:k]) / ideal,
            f"RECALL@{k}": top / relevant,
        }
        return values | {name: of(found) for name, of in self._of_first.items()}

    @property
    def _of_first(self) -> Mapping[str, Callable[[Grades], float]]:
        """The measures that need only the grades of what was retrieved."""
        k, first, least = self.k, self.hit, self._relevant
        return {
            f"HIT@{first}": lambda found: float(any(g >= least for g in found[:first])),
            f"PRECISION@{k}": lambda found: sum(g >= least for g in found[:k]) / k,
            f"MRR@{k}": lambda found: next(
                (1 / rank for rank, g in enumerate(found[:k], 1) if g >= least), 0.0
            ),
        }

    @property
    def _descriptions(self) -> Mapping[str, str]:
        k, first = self.k, self.hit
        return {
            f"NDCG@{k}": f"Discounted gain of the grades of the first {k} documents retrieved, of"
            " the highest that there could be.",
            f"RECALL@{k}": f"Share of all relevant documents that are among the first {k}.",
            f"HIT@{first}": f"Share of the topics with a relevant one among the first {first}.",
            f"PRECISION@{k}": f"Relevant documents among the first {k}, divided by {k}.",
            f"MRR@{k}": f"Mean of 1 / rank of the first relevant document, 0 beyond rank {k}.",
            f"JUDGED@{k}": f"Share of the first {k} documents retrieved that have a grade.",
        }

    def _measure(self, name: str, description: str) -> MeasureSpec:
        def of_label(response: Response, judgments: Sequence[Judgment]) -> float | None:
            return next((j.value for j in judgments if j.label == name), None)

        def of_judged(response: Response, judgments: Sequence[Judgment]) -> float | None:
            found = [j.grade for j in judgments if j.judged and j.grade is not None]
            if response.retrieved is None or (judgments and not found):
                return None
            return self._of_first[name](found)

        compute = of_label if self.relevance == "qrels" else of_judged
        return share_measure(
            name,
            compute,
            description,
            default_if_undefined=False,
            undefined=MISSING,
            neutral=name.startswith("JUDGED"),
        )


def gain(grades: Grades) -> float:
    """Return the discounted cumulative gain of grades in the order of ranks.

    The sum of grade / log2(rank + 1), ranks counted from 1 (Järvelin and Kekäläinen, TOIS 2002, as
    trec_eval has it); a grade below 0 gains nothing.
    """
    return sum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def _distinct(response: Response) -> list[str]:
    """Return the documents that were retrieved, the best first, each once."""
    return list(dict.fromkeys(response.retrieved or ()))
