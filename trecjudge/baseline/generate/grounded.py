"""Answers by a model: it cites passages by number and quotes them; both are checked here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from trecjudge.baseline.generate.extractive import on_one_line
from trecjudge.baseline.generate.limits import AnswerLimits, cut_to_limits
from trecjudge.baseline.masking import MaskedText, mask_personal_data
from trecjudge.baseline.records import AnswerSentence, RetrievedPassage, Support
from trecjudge.findings import Finding, OnFinding, brief, plural
from trecjudge.models.model import Model, Program, ReplyLength
from trecjudge.records import Place, Topic
from trecjudge.text.quotes import find_quote_span
from trecjudge.text.tokens import read_forms

_HERE = "trecjudge.baseline.program"
WRITE = Program("write_answer", f"{_HERE}:WriteAnswer", length=ReplyLength(1000), in_part=True)
GAPS = Program("name_gaps", f"{_HERE}:NameGaps", length=ReplyLength(60))
PROGRAMS = (WRITE, GAPS)
REPLY = {"max_tokens": 4096}
"""An answer with its quotes does not fit into the reply of a judge."""
SHORTEST = 3
"""The fewest words of a quote: one or two stand in nearly every passage."""
LONGER = 2
"""How many times as long as the quote what is found may be: else too much was left out of it."""


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage as a model sees it: with personal data masked, if that was asked for."""

    passage: RetrievedPassage
    text: MaskedText

    @classmethod
    def of(cls, passage: RetrievedPassage, mask: bool) -> ShownPassage:
        """Return a passage as it is shown."""
        text = passage.chunk.text
        return cls(passage, mask_personal_data(text) if mask else MaskedText(text, text))

    def show_numbered(self, number: int, mask: bool) -> str:
        """Return it behind its number; one from within a document has the document's title too."""
        chunk = self.passage.chunk
        title = chunk.document.title if chunk.start else ""
        heading = mask_personal_data(title).text if mask else title
        return f"[{number}] {heading}\n{self.text.text}".replace("] \n", "] ", 1)

    def support(self, quote: str) -> Support | None:
        """Return where a quote stands, word for word; None where it does not."""
        if len(read_forms(quote)[1]) < SHORTEST:
            return None
        span = find_quote_span(self.text.text, quote)
        if span is None or span[1] - span[0] > LONGER * len(quote):
            return None
        begin = self.passage.chunk.start
        start, end = self.text.span(*span)
        return Support(self.passage, begin + start, begin + end, self.text.text[slice(*span)])


@dataclass(frozen=True, slots=True)
class AnswerWriter:
    """A model that writes the answer to one topic; what it gave in vain is reported.

    With `mask` it sees no personal data of a known form.
    """

    topic: Topic
    question: str
    model: Model
    report: OnFinding
    mask: bool = False

    async def write_answer(
        self, passages: Sequence[RetrievedPassage], limits: AnswerLimits
    ) -> tuple[AnswerSentence, ...] | None:
        """Return the sentences whose quotes stand in their passages; None where it has no answer.

        What is too long is cut from the end. Raises JudgmentFailed, ModelError.
        """
        seen = [ShownPassage.of(passage, self.mask) for passage in passages]
        prediction = await self.model.predict(
            WRITE,
            question=self._hide(self.question),
            length=limits.in_words,
            passages=[one.show_numbered(n, self.mask) for n, one in enumerate(seen, 1)],
        )
        if prediction.fields["answerable"] == "no":
            return None
        given = prediction.fields["sentences"]
        if prediction.call.cut:
            message = f"the reply was cut: used of it: {plural(len(given), 'whole sentence')}"
            self._report_loss(Finding("answer_cut", self._place, message))
        checked = (self._check_sentence(number, one, seen) for number, one in enumerate(given, 1))
        # A small model may say one sentence until its reply is cut.
        found = list({one.text: one for one in checked if one is not None}.values())
        kept, left_out = cut_to_limits(found, limits)
        if left_out:
            message = f"{left_out} of {len(found)} sentences are too many for {limits.in_words}"
            self._report_loss(Finding("answer_cut", self._place, message))
        return kept

    async def name_gaps(self, sentences: Sequence[AnswerSentence]) -> list[str]:
        """Return queries for what an answer lacks, none where nothing is missing.

        Raises JudgmentFailed, ModelError.
        """
        said = [sentence.text for sentence in sentences]
        question = self._hide(self.question)
        prediction = await self.model.predict(GAPS, question=question, answer=said)
        return [query for query in map(str.strip, prediction.fields["queries"]) if query]

    @property
    def _place(self) -> Place:
        return Place(f"topic {self.topic.topic_id}")

    def _hide(self, text: str) -> str:
        return mask_personal_data(text).text if self.mask else text

    def _check_sentence(
        self, number: int, given: Any, seen: Sequence[ShownPassage]
    ) -> AnswerSentence | None:
        """Return a sentence with the passages that have its quote; None where none has it."""
        text = self._hide(on_one_line(given.text))
        numbers = list(dict.fromkeys(given.passages))
        there = [cited for cited in numbers if 1 <= cited <= len(seen)]
        if len(there) < len(numbers):
            wrong = ", ".join(str(cited) for cited in numbers if cited not in there)
            message = f"sentence {number} cites passage {wrong} of {len(seen)}"
            self._report_loss(Finding("passage_unknown", self._place, message))
        quoted = {cited: seen[cited - 1].support(given.quote) for cited in there}
        support = tuple(one for one in quoted.values() if one is not None)
        if not support:
            message = f"sentence {number} has no quote of a passage it cites: {brief(text)}"
            self._report_loss(Finding("quote_not_found", self._place, message, brief(given.quote)))
            return None
        if len(support) < len(quoted):
            without = ", ".join(str(cited) for cited, one in quoted.items() if one is None)
            message = f"sentence {number}: its quote is not in passage {without}"
            self._report_loss(Finding("quote_elsewhere", self._place, message, brief(given.quote)))
        return AnswerSentence(text, support) if text else None

    def _report_loss(self, finding: Finding) -> None:
        self.report(replace(finding, topic_id=self.topic.topic_id))
