"""Relevance on UMBRELA's scale of 0 to 3, by a direct prompt or, offline, by lexical coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from trecjudge import (
    Citation,
    Item,
    Judgment,
    JudgmentFailed,
    LeaderboardSpec,
    MeasureSpec,
    Model,
    Program,
    ReplyLength,
    Response,
    Topic,
    WorkflowError,
    judgment_of,
)
from trecjudge.judging.attest import HOLLOW, AttesterName, require_shared_script, require_text
from trecjudge.judging.judge import asks_model
from trecjudge.judging.offline.relevance import Parts, Unit, relevance
from trecjudge.measures import mean_of, share_measure
from trecjudge.text.tokens import scripts
from trecjudge.text.visible import is_blank

from .grades import MAX_GRADE, grade_of

GRADE = Program("grade", f"{__package__}.program:GradeText", length=ReplyLength(fixed=45))
HEADINGS = {
    "title": "Title",
    "problem_statement": "Problem statement",
    "background": "Background",
    "url": "Address of the article",
    "body": "Article",
}
"""The parts of a topic, in the order and under the headings by which a model sees them."""


@dataclass(frozen=True, slots=True)
class DirectPromptJudge:
    """Relevance to the whole topic, 0 to 3, of a response, its sentences or its documents.

    The scale is UMBRELA's (Upadhyay et al., 2024, arXiv 2406.06519). `unit` is `response`,
    `sentence` or `document`; `threshold` the grade from which on a unit is relevant, 1 to 3.
    `attester` is `lexical`, `llm`, or `auto`: the model where one is used, else lexical.
    """

    unit: Unit = "response"
    threshold: int = 2
    attester: AttesterName = "auto"
    programs: ClassVar[tuple[Program, ...]] = (GRADE,)

    def __post_init__(self) -> None:
        if not 1 <= self.threshold <= MAX_GRADE:
            raise WorkflowError(f"threshold is {self.threshold!r}; there are: 1, 2, 3")

    @property
    def needs(self) -> tuple[str, ...]:
        """What it needs beside the runs."""
        return ("topic_text", "document_text") if self.unit == "document" else ("topic_text",)

    @property
    def needs_model(self) -> bool:
        """Whether the settings ask for a model."""
        return self.attester == "llm"

    @property
    def measures(self) -> LeaderboardSpec:
        """AVG_GRADE, which ranks, and IS_RELEVANT; documents make classic, pooled qrels."""
        columns = (
            MeasureSpec(
                "AVG_GRADE",
                avg_grade,
                description="Mean grade of how well the text answers the topic. From 0 (not at"
                " all) to 3 (perfectly); higher is better.",
            ),
            share_measure(
                "IS_RELEVANT",
                self.is_relevant,
                "Share of the graded texts that reach the grade from which a text is relevant (2"
                " unless set otherwise).",
                aggregate="mean_of_bools",
            ),
        )
        pooled = self.unit == "document"
        return LeaderboardSpec(columns, "AVG_GRADE", fill=best_or_worst, pooled_qrels=pooled)

    def pool(self, topic: Topic, response: Response) -> Iterator[Item]:
        """Yield the response, its sentences, or its documents, each once."""
        if self.unit == "document":
            yield from _documents(topic, response)
        elif self.unit == "sentence":
            for sentence in response.sentences:
                yield Item(topic, response.run_id, sentence.text, sentence.index)
        else:
            yield Item(topic, response.run_id, response.text)

    async def judge(self, item: Item, model: Model) -> Judgment:
        """Return the grade; a text that is not there is the system's fault and has grade 0.

        Raises JudgmentFailed for a document of which nobody gave text, whose relevance is unknown,
        and for a topic of which nothing is known.
        """
        if self.unit == "document":
            require_text(item.document)
        if not item.has_text:
            return _grade_judgment(item, 0, reason=HOLLOW if item.document else "no text")
        if not parts_of(item.topic):
            raise JudgmentFailed("no_topic_text", "nothing is known of the topic: --rag-topics")
        if asks_model(self.attester, model):
            return await _by_model(item, model)
        return self._offline(item)

    def given(self, item: Item, label: str) -> Judgment:
        """Return the judgment that somebody else's grade makes.

        Raises JudgmentFailed for what is no grade from 0 to 3.
        """
        grade = grade_of(label)
        if grade is None:
            raise JudgmentFailed("parse", f"label {label!r} is none of 0, 1, 2, 3")
        return _grade_judgment(item, grade, attester="given")

    def is_relevant(self, response: Response, judgments: Sequence[Judgment]) -> float | None:
        """Return the share of units whose grade reaches the threshold: of one, whether it does.

        Of documents that is their precision. 0 without units, None if none is judged.
        """
        relevant = (float(grade >= self.threshold) for grade in _grades(judgments))
        return mean_of(relevant, empty=None if judgments else 0.0)

    def _offline(self, item: Item) -> Judgment:
        """Return the lexical grade. Raises JudgmentFailed if topic and text share no script."""
        topic = parts_of(item.topic)
        whole = " ".join(text for _, text in topic)
        require_shared_script("topic", scripts(whole), "text", scripts(item.text))
        found = relevance(topic, item.text, self.unit)
        reason = f"covers {found.score:.0%} of the topic".replace("%", " %")
        if found.missing:
            reason += "; missing: " + ", ".join(map(repr, found.missing))
        how = {"reason": reason, "attester": "lexical", "missing": found.missing}
        return _grade_judgment(item, found.grade, found.score, **how)


def parts_of(topic: Topic) -> Parts:
    """Return the parts of a topic that there are, but for its address: (name, text) each."""
    named = ((name, getattr(topic, name).strip()) for name in HEADINGS if name != "url")
    return tuple((name, text) for name, text in named if not is_blank(text))


def topic_text(topic: Topic) -> str:
    """Return the whole topic as one text: each part under its heading, what is empty left out."""
    named = ((heading, getattr(topic, name).strip()) for name, heading in HEADINGS.items())
    return "\n\n".join(f"{heading}:\n{text}" for heading, text in named if not is_blank(text))


def avg_grade(response: Response, judgments: Sequence[Judgment]) -> float | None:
    """Return the mean grade of the units: 0 without units, None if none is judged."""
    return mean_of(_grades(judgments), empty=None if judgments else 0.0)


def best_or_worst(judgment: Judgment, best: bool) -> Judgment:
    """Return an unjudged judgment as the best or the worst that it could have been."""
    grade = MAX_GRADE if best else 0
    return replace(judgment, label=str(grade), grade=grade, failure=None)


def _documents(topic: Topic, response: Response) -> Iterator[Item]:
    """Yield the documents that the response cites or refers to, in that order.

    Of what it only refers to, those with text; of what it cites, all that exist or, where no
    document text was given at all, may exist.
    """
    cited = response.cited_ids()
    for doc_id in dict.fromkeys((*cited, *filter(response.documents.get, response.references))):
        document = response.documents.get(doc_id)
        if response.has(doc_id) is False:
            continue
        text = document.full_text if document and document.has_text else ""
        exists = None if document is None else True
        citation = Citation(doc_id, doc_id)
        yield Item(topic, response.run_id, text, None, citation, document, exists)


async def _by_model(item: Item, model: Model) -> Judgment:
    prediction = await model.predict(GRADE, topic=topic_text(item.topic), text=item.text)
    grade, reason = prediction.fields["grade"], prediction.fields["reason"]
    return _grade_judgment(item, grade, reason=reason, attester="llm", usage=prediction.call.usage)


def _grade_judgment(
    item: Item, grade: int, value: float | None = None, **decision: object
) -> Judgment:
    """Return a judgment; that of a document is of the document, not of a citation of it."""
    found = judgment_of(item, label=str(grade), grade=grade, value=value, **decision)
    return replace(found, citation=None)


def _grades(judgments: Sequence[Judgment]) -> list[int]:
    return [j.grade for j in judgments if j.judged and j.grade is not None]
