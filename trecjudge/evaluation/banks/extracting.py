"""Banks without a model: telling sentences of the documents most cited, or of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from trecjudge.evaluation.banks.material import Material
from trecjudge.evaluation.banks.merging import (
    NuggetDraft,
    StatingSentence,
    by_importance,
    key_of_text,
    merge_drafts,
)
from trecjudge.judging.offline.prepared import prepared_text
from trecjudge.judging.offline.relevance import TopicTerms, coverage, wanted_terms
from trecjudge.judging.offline.support import compare
from trecjudge.judging.offline.wording import wording_of
from trecjudge.records import FULL, NONE, Document, Response, Source, Topic
from trecjudge.records.nuggets import OKAY, VITAL
from trecjudge.text.sentences import sentence_spans
from trecjudge.text.tokens import comparable, scripts

SHORTEST, LONGEST = 5, 45
"""Words of a sentence that can be a nugget: fewer say too little, more say several things."""
BEST_OF_EACH = 3
"""Sentences of a document that are looked at."""
SHARED = 0.6
"""The share of a sentence's words that a document must have to be looked at."""
COUNTED = 6
"""How many times as many sentences of runs as are wanted are compared with all runs."""
_UNCLEAR = frozenset(
    """he she it they we you i this that these those his her its their our such here although though
    because but and or so also""".split()  # noqa: SIM905
)
"""A sentence that begins so says little without the one beside it."""
_NO_PROSE = ("|", "...", "…", "http")


@dataclass(frozen=True, slots=True)
class _Telling:
    """A sentence of a document, and how much of the topic it has, 0 to 1."""

    document: Document
    start: int
    end: int
    score: float

    @property
    def text(self) -> str:
        return " ".join(self.document.full_text[self.start : self.end].split())

    @property
    def source(self) -> Source:
        document = self.document
        excerpt = document.full_text[self.start : self.end]
        return Source(document.doc_id, self.start, self.end, excerpt, title=document.title)


def from_documents(material: Material, most_documents: int, most: int) -> list[NuggetDraft]:
    """Return a topic's nuggets: sentences of its documents that most runs cite documents for.

    Of each of the `most_documents` documents that most runs cite, the sentences count that have
    most of the topic; of those that say the same one counts. They are ordered by how many runs cite
    a document that states them, then by how much of the topic they have.
    """
    wanted = wanted_terms(parts_of(material.topic))
    top = material.most_cited(most_documents)
    telling = [sentence for document in top for sentence in _best_of(document, wanted)]
    scores = {key_of_text(sentence.text): sentence.score for sentence in telling}
    telling.sort(key=lambda sentence: -sentence.score)
    drafts = merge_drafts(NuggetDraft(found.text, passages=(found.source,)) for found in telling)
    stated = [_with_statements(draft, material) for draft in drafts]
    stated.sort(key=lambda draft: (-len(draft.runs), -scores.get(key_of_text(draft.text), 0.0)))
    return by_runs(stated, most)


def from_runs(material: Material, most: int) -> list[NuggetDraft]:
    """Return a topic's nuggets: sentences of the responses, those first that most runs state."""
    pooled = merge_drafts(draft for response in material.responses for draft in said_by(response))
    # No more runs can state a sentence than have its words: those with few need not be looked at.
    texts = [response.text for response in material.responses]
    at_most = {d.text: sum(_may_state(_words(d.text), text) for text in texts) for d in pooled}
    pooled.sort(key=lambda draft: -at_most[draft.text])
    stated = [with_stating(draft, material) for draft in pooled[: COUNTED * most]]
    stated.sort(key=lambda draft: -len(draft.runs))
    return [attest_draft(draft, material) for draft in by_runs(stated, most)]


def by_runs(drafts: Sequence[NuggetDraft], most: int) -> list[NuggetDraft]:
    """Return the first `most`; the half of them that most runs state is vital, with ties."""
    kept = _adding(drafts, most)
    counts = sorted((len(draft.runs) for draft in kept), reverse=True)
    limit = counts[(len(counts) - 1) // 2] if counts else 0
    labelled = (replace(d, importance=VITAL if len(d.runs) >= limit else OKAY) for d in kept)
    return by_importance(labelled)


def _adding(drafts: Iterable[NuggetDraft], most: int) -> list[NuggetDraft]:
    """Return the first `most` of those of which no one before has all that they say."""
    kept: list[NuggetDraft] = []
    for draft in drafts:
        if len(kept) == most:
            break
        if not any(states(before.text, draft.text) for before in kept):
            kept.append(draft)
    return kept


def states(text: str, statement: str) -> bool:
    """Return whether a text says all that a statement says, as far as words show it."""
    prepared = prepared_text(text)
    return _may_state(_words(statement), text) and compare(statement, prepared).label == FULL


def with_stating(draft: NuggetDraft, material: Material) -> NuggetDraft:
    """Return a nugget with all runs whose response states it, and the documents that they cite.

    Of each response the sentence counts that has most of it.
    """
    known = set(draft.runs)
    for response in material.responses:
        if response.run_id in known or not states(response.text, draft.text):
            continue
        scores = [compare(draft.text, prepared_text(s.text)).score for s in response.sentences]
        best = response.sentences[max(range(len(scores)), key=scores.__getitem__)]
        cited = tuple(c.doc_id for c in best.citations if c.doc_id)
        said = StatingSentence(response.run_id, best.index, best.text)
        more = NuggetDraft(draft.text, documents=cited, said=(said,), runs=(response.run_id,))
        draft = draft.join_with(more)
    return draft


def parts_of(topic: Topic) -> tuple[tuple[str, str], ...]:
    """Return the parts of a topic that say what is asked."""
    names = ("title", "problem_statement", "background", "body")
    return tuple((name, text) for name in names if (text := getattr(topic, name)))


def is_telling(text: str) -> bool:
    """Return whether a sentence can be a nugget: long enough, not too long, clear by itself."""
    words = text.split()
    first = words[0].strip("\"'“‘(").casefold() if words else ""
    ends = text.rstrip("\"'”’) ")[-1:]
    if not SHORTEST <= len(words) <= LONGEST or any(mark in text for mark in _NO_PROSE):
        return False
    return first not in _UNCLEAR and ends in (".", "!", "。") and bool(wording_of(text).terms)


def attest_draft(draft: NuggetDraft, material: Material) -> NuggetDraft:
    """Return a nugget that runs state with the passages of cited documents that attest it.

    Documents without text stay as they are cited; those whose text does not have it go.
    """
    there = {passage.doc_id for passage in draft.passages}
    known = [d for d in draft.documents if d in material.documents and d not in there]
    found = (locate_passage(draft.text, material.documents[doc_id]) for doc_id in known)
    unread = tuple(doc_id for doc_id in draft.documents if doc_id not in material.documents)
    passages = (*draft.passages, *filter(None, found))
    return replace(draft, passages=passages, documents=unread)


def locate_passage(text: str, document: Document, fully: bool = False) -> Source | None:
    """Return the passage of a document that states a text, `fully` or in part; None for none."""
    whole = document.full_text
    if not comparable(scripts(text), scripts(whole)):
        return None
    found = compare(text, prepared_text(whole))
    if found.label == NONE or (fully and found.label != FULL):
        return None
    excerpt = whole[found.start : found.end]
    score = round(found.score, 4)
    return Source(document.doc_id, found.start, found.end, excerpt, score, title=document.title)


def _best_of(document: Document, wanted: TopicTerms) -> list[_Telling]:
    text = document.full_text
    begin = len(text) - len(document.text)
    found = []
    for start, end in sentence_spans(text):
        if start >= begin and is_telling(text[start:end]):
            found.append(_Telling(document, start, end, coverage(wanted, text[start:end])[0]))
    return sorted((f for f in found if f.score > 0), key=lambda f: -f.score)[:BEST_OF_EACH]


def _with_statements(draft: NuggetDraft, material: Material) -> NuggetDraft:
    """Return a nugget with every document that states it, and the runs that cite one of them."""
    known = {source.doc_id for source in draft.passages}
    passages = list(draft.passages)
    words = _words(draft.text)
    for doc_id, document in material.documents.items():
        if doc_id in known or not _may_state(words, document.full_text):
            continue
        if source := locate_passage(draft.text, document, fully=True):
            passages.append(source)
    runs: dict[str, None] = {}
    for source in passages:
        runs |= material.citing.get(source.doc_id, {})
    return replace(draft, passages=tuple(passages), runs=tuple(runs))


def _words(text: str) -> set[str]:
    return {term.form for term in wording_of(text).terms if term.content}


def _may_state(words: Iterable[str], text: str) -> bool:
    """Return, fast, whether a text has enough of the words of a sentence."""
    there = prepared_text(text).segments_of
    found = [form in there for form in words]
    return sum(found) >= SHARED * len(found)


def said_by(response: Response) -> Iterator[NuggetDraft]:
    """Yield the sentences of a response that can be nuggets."""
    for sentence in response.sentences:
        text = " ".join(sentence.text.split())
        if is_telling(text):
            cited = tuple(c.doc_id for c in sentence.citations if c.doc_id)
            said = StatingSentence(response.run_id, sentence.index, sentence.text)
            yield NuggetDraft(
                text, documents=tuple(dict.fromkeys(cited)), said=(said,), runs=(response.run_id,)
            )
