"""Banks with a model: what it finds in documents, in runs and in a topic, weighed and matched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trecjudge.errors import PLANNED, JudgmentFailed
from trecjudge.evaluation.banks.extracting import locate_passage
from trecjudge.evaluation.banks.material import Material
from trecjudge.evaluation.banks.merging import (
    NuggetDraft,
    StatingSentence,
    key_of_text,
    merge_drafts,
)
from trecjudge.judging.offline.prepared import prepared_text
from trecjudge.judging.offline.support import compare
from trecjudge.models.model import Model, Prediction, Program, ReplyLength
from trecjudge.records import Document, GoldAnswer, Response, Sentence, Source, Topic

_HERE = "trecjudge.evaluation.banks.program"
FIND = Program("find_nuggets", f"{_HERE}:FindNuggets", length=ReplyLength(600))
STATED = Program("find_stated", f"{_HERE}:FindStated", length=ReplyLength(300))
PROPOSE = Program("propose_questions", f"{_HERE}:ProposeQuestions", length=ReplyLength(500))
WEIGH = Program("weigh_nuggets", f"{_HERE}:WeighNuggets", "nuggets", ReplyLength(15, each=8))
MATCH = Program("match_nuggets", f"{_HERE}:MatchNuggets", "nuggets", ReplyLength(15, each=10))
PROGRAMS = (FIND, STATED, PROPOSE, WEIGH, MATCH)
REPLY = {"max_tokens": 4096}
"""A list of 30 nuggets does not fit into the reply of a judge."""

LONGEST = 6000
"""Characters of a document that a model reads."""
MATCHED = 40
"""Nuggets that are matched with one another by one request."""
Note = Callable[[Topic, str], None]
"""(topic, what could not be asked and why)."""


@dataclass(frozen=True, slots=True)
class BankModel:
    """A model, asked for the bank of one topic; `window` documents or nuggets at a time.

    What it cannot answer goes to `note`, and the bank is made without it.
    """

    topic: Topic
    model: Model
    window: int
    note: Note

    @property
    def query(self) -> str:
        """What was asked, all of it."""
        topic = self.topic
        parts = (topic.title, topic.problem_statement, topic.background, topic.body)
        return "\n".join(filter(None, parts))[:LONGEST]

    async def from_documents(self, documents: Sequence[Document]) -> list[NuggetDraft]:
        """Return what documents state, window by window, as one list that is brought up to date."""
        found: list[NuggetDraft] = []
        for first in range(0, len(documents), self.window):
            window = documents[first : first + self.window]
            texts = [f"[{n}] {d.full_text[:LONGEST]}" for n, d in enumerate(window, 1)]
            inputs = {"documents": texts, "nuggets": [draft.text for draft in found]}
            what = f"documents {first + 1} to {first + len(window)}"
            prediction = await self._ask(FIND, what, query=self.query, **inputs)
            if prediction is None:
                continue
            updated = _update_list(found, prediction.fields["updated"], window)
            if updated or not found:
                found = updated
            else:
                self.note(self.topic, f"{what}: the model gave an empty list; the old one stays")
        return found

    async def from_runs(self, material: Material) -> list[NuggetDraft]:
        """Return what the responses state, pooled."""
        with_text = [response for response in material.responses if response.has_text]
        each = await asyncio.gather(*(self._stated_by(response) for response in with_text))
        return merge_drafts(draft for drafts in each for draft in drafts)

    async def _stated_by(self, response: Response) -> list[NuggetDraft]:
        sentences = [s for s in response.sentences if s.has_text]
        texts = [f"[{n}] {sentence.text}" for n, sentence in enumerate(sentences, 1)]
        what = f"run {response.run_id!r}"
        prediction = await self._ask(STATED, what, query=self.query, sentences=texts)
        given = prediction.fields["stated"] if prediction else ()
        return [stated_in(response.run_id, sentences, g) for g in given if g.text.strip()]

    async def from_topic(self) -> list[NuggetDraft]:
        """Return the questions of the topic, with answers where the model knows them."""
        prediction = await self._ask(PROPOSE, "the questions", query=self.query)
        given = prediction.fields["questions"] if prediction else ()
        return [
            NuggetDraft(g.question, (GoldAnswer(g.answer),) if g.answer.strip() else ())
            for g in given
            if g.question.strip()
        ]

    async def weigh(self, drafts: Sequence[NuggetDraft]) -> list[NuggetDraft]:
        """Return nuggets with their importance; without one where the model could not tell."""
        windows = [drafts[i : i + self.window] for i in range(0, len(drafts), self.window)]
        each = await asyncio.gather(*(self._weigh_window(window) for window in windows))
        return [draft for window in each for draft in window]

    async def _weigh_window(self, drafts: Sequence[NuggetDraft]) -> list[NuggetDraft]:
        texts = [with_answers(draft) for draft in drafts]
        what = f"the importance of {len(drafts)} nuggets"
        alone = len(drafts) == 1
        try:
            prediction = await self._try(WEIGH, what, alone, query=self.query, nuggets=texts)
        except JudgmentFailed:
            each = await asyncio.gather(*(self._weigh_window([draft]) for draft in drafts))
            return [draft for one in each for draft in one]
        if prediction is None:
            return list(drafts)
        labels = (given.label for given in prediction.fields["labels"])
        return [replace(d, importance=label) for d, label in zip(drafts, labels, strict=True)]

    async def match(self, drafts: Sequence[NuggetDraft]) -> list[NuggetDraft]:
        """Return nuggets, each once: those that say the same in other words are joined.

        Where they are too many for one request, each is matched with its neighbours, and then
        with those that stand as far apart as there are requests.
        """
        kept = list(drafts)
        for strided in (False, True):
            parts = -(-len(kept) // MATCHED)
            if strided and parts < 2:
                break
            size = MATCHED
            chunks = [
                kept[i::parts] if strided else kept[i * size : (i + 1) * size] for i in range(parts)
            ]
            each = await asyncio.gather(*(self._match_window(chunk) for chunk in chunks))
            kept = [draft for chunk in each for draft in chunk]
        return merge_drafts(kept)

    async def _match_window(self, drafts: Sequence[NuggetDraft]) -> list[NuggetDraft]:
        if len(drafts) < 2:
            return list(drafts)
        texts = [with_answers(draft) for draft in drafts]
        what = f"which of {len(drafts)} nuggets say the same"
        prediction = await self._ask(MATCH, what, nuggets=texts)
        if prediction is None:
            return list(drafts)
        return join_same(drafts, [given.same_as for given in prediction.fields["matches"]])

    async def _ask(self, program: Program, what: str, **inputs: Any) -> Prediction | None:
        """Return what a model answers; None, with a note, where it could not be asked."""
        return await self._try(program, what, True, **inputs)

    async def _try(
        self, program: Program, what: str, last: bool, **inputs: Any
    ) -> Prediction | None:
        """As `_ask`; raises JudgmentFailed for a reply that does not fit, unless it is the last."""
        try:
            return await self.model.predict(program, **inputs)
        except JudgmentFailed as failed:
            if not last and failed.kind in ("parse", "cut"):
                raise
            if failed.kind != PLANNED:
                self.note(self.topic, f"{what}: {failed.message}")
            return None


def stated_in(run_id: str, sentences: Sequence[Sentence], given: Any) -> NuggetDraft:
    """Return a nugget that a model found in a response, with the sentence that states it.

    Where the model names none that is there, it is the one that has most of its words.
    """
    if 1 <= given.sentence <= len(sentences):
        sentence = sentences[given.sentence - 1]
    else:
        scores = [compare(given.text, prepared_text(s.text)).score for s in sentences]
        sentence = sentences[max(range(len(scores)), key=scores.__getitem__)]
    said = StatingSentence(run_id, sentence.index, sentence.text)
    cited = dict.fromkeys(c.doc_id for c in sentence.citations if c.doc_id)
    return NuggetDraft(given.text, documents=tuple(cited), said=(said,), runs=(run_id,))


def with_answers(draft: NuggetDraft) -> str:
    """Return a nugget as a model is asked about it: a question with its answers."""
    answers = " / ".join(answer.text for answer in draft.answers or ())
    return f"{draft.text} {answers}".rstrip()


def join_same(drafts: Sequence[NuggetDraft], same_as: Sequence[int]) -> list[NuggetDraft]:
    """Return nuggets, each joined to the first that it is the same as, by numbers from 1.

    A number that is not one before it, or of a question where it is a statement, joins nothing.
    """
    kept: dict[int, NuggetDraft] = {}
    root: dict[int, int] = {}
    for number, (draft, other) in enumerate(zip(drafts, same_as, strict=True), 1):
        first = root.get(other, number) if other < number else number
        if first in kept and kept[first].is_question == draft.is_question:
            kept[first] = kept[first].join_with(draft)
        else:
            first = number
            kept[number] = draft
        root[number] = first
    return list(kept.values())


def _update_list(
    before: Sequence[NuggetDraft], given: Iterable[Any], window: Sequence[Document]
) -> list[NuggetDraft]:
    """Return the list that a model gave, each nugget with the passages that it is from."""
    known: Mapping[Any, NuggetDraft] = {key_of_text(draft.text): draft for draft in before}
    found = []
    for nugget in given:
        if not nugget.text.strip():
            continue
        draft = NuggetDraft(nugget.text, passages=_passages(nugget.text, nugget.documents, window))
        earlier = known.get(key_of_text(nugget.text)) or _nearest(nugget.text, before)
        found.append(draft if earlier is None else earlier_with(earlier, draft))
    return merge_drafts(found)


def earlier_with(earlier: NuggetDraft, draft: NuggetDraft) -> NuggetDraft:
    """Return a nugget in its new wording, with all that it was from before."""
    return draft.join_with(replace(earlier, importance=""))


def _nearest(text: str, before: Sequence[NuggetDraft]) -> NuggetDraft | None:
    """Return the nugget that a new wording is of: one whose words all are in it."""
    words = set(key_of_text(text))
    return next((d for d in before if set(key_of_text(d.text)) <= words), None)


def _passages(text: str, numbers: Iterable[int], window: Sequence[Document]) -> tuple[Source, ...]:
    """Return the passages that state a nugget, of the documents that the model named.

    Of a document in which words do not find it, its beginning stands: the model's word is kept.
    """
    named = [window[n - 1] for n in dict.fromkeys(numbers) if 1 <= n <= len(window)]
    return tuple(
        locate_passage(text, document) or Source(document.doc_id, 0, 0, "", title=document.title)
        for document in named
    )
