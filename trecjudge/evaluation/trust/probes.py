"""Probes of a judge: answers and documents in which there is nothing to find."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from trecjudge.evaluation.gaming import WAYS
from trecjudge.evaluation.perturbation import CHANGES, DARK, GAME, Order, Perturbation, restate
from trecjudge.records import Document, Response, Sentence

BLANK_PAGE = "This page is intentionally left blank."
"""A document that says nothing: one without any text is never shown to a model."""
GAMES = ("copy", "frame-false", "salad", "note")
"""The ways of writing for the judge that a card has unless others are asked for."""
Rule = Callable[[Response, Response], Response]
"""(response, an answer to another topic) -> the response with nothing to find in it."""


def reverse_documents(response: Response, title: str) -> tuple[Response, Order]:
    """Return a response with its documents, and each sentence's citations, in reverse order."""
    documents = dict(list(response.documents.items())[::-1])
    sentences = tuple(replace(s, citations=s.citations[::-1]) for s in response.sentences)
    before = list(response.documents), [s.citations for s in response.sentences]
    order = [s.index for s in response.sentences]
    if before == (list(documents), [s.citations for s in sentences]):
        return response, order
    return replace(response, documents=documents, sentences=sentences), order


DOCUMENTS = Perturbation(
    "documents", "position", "its documents and citations in reverse order", reverse_documents
)
USUAL = (
    *CHANGES,
    DOCUMENTS,
    *(way for way in WAYS if way.name in {f"{GAME}:{name}" for name in GAMES}),
)
"""The changes that a card shows unless others are asked for."""


def probes_of(answers: Sequence[Response]) -> list[Perturbation]:
    """Return the probes of a sample of answers, each of which an answer to another topic serves.

    Where all are to one topic, those that need another one change nothing.
    """
    other = _answers_to_others(answers)

    def probe(name: str, what: str, rule: Rule) -> Perturbation:
        return Perturbation(f"{DARK}:{name}", DARK, what, partial(_probed, rule, other))

    blank = partial(restate, lambda text: "")
    return [
        Perturbation(f"{DARK}:empty-answer", DARK, "its sentences without text", blank),
        probe("empty-document", f"each document says “{BLANK_PAGE}”", _with_blank_pages),
        probe("swapped-document", "the documents of another topic's answer", _with_documents),
        probe("half-other-topic", "every second sentence another topic's", _with_half_of_them),
        probe("other-topic", "the sentences of another topic's answer", _with_sentences),
    ]


def _answers_to_others(answers: Sequence[Response]) -> Mapping[tuple[str, str], Response]:
    """Return, for each answer, the next one that is to another topic."""
    found = {}
    for place, one in enumerate(answers):
        behind = (*answers[place + 1 :], *answers[:place])
        other = next((r for r in behind if r.topic_asked != one.topic_asked and r.has_text), one)
        found[one.run_id, one.topic_id] = other
    return found


def _probed(
    rule: Rule, other: Mapping[tuple[str, str], Response], response: Response, title: str
) -> tuple[Response, Order]:
    made = rule(response, other.get((response.run_id, response.topic_id), response))
    return made, [sentence.index for sentence in made.sentences]


def _with_blank_pages(response: Response, other: Response) -> Response:
    documents = {
        doc_id: replace(document, text=BLANK_PAGE, title="") if document.has_text else document
        for doc_id, document in response.documents.items()
    }
    return replace(response, documents=documents)


def _with_documents(response: Response, other: Response) -> Response:
    theirs = [document for document in other.documents.values() if document.has_text]
    if not theirs or other is response:
        return response

    def swap(place: int, document: Document) -> Document:
        taken = theirs[place % len(theirs)]
        is_there = document.has_text
        return replace(document, text=taken.text, title=taken.title) if is_there else document

    documents = response.documents.items()
    swapped = {doc_id: swap(place, one) for place, (doc_id, one) in enumerate(documents)}
    return replace(response, documents=swapped)


def _with_half_of_them(response: Response, other: Response) -> Response:
    """Return a step between the answer and another one, by which a judge must fall half as far."""
    pairs = zip(response.sentences, _with_sentences(response, other).sentences, strict=True)
    mixed = (theirs if place % 2 else own for place, (own, theirs) in enumerate(pairs))
    return replace(response, sentences=tuple(mixed))


def _with_sentences(response: Response, other: Response) -> Response:
    theirs = [sentence for sentence in other.sentences if sentence.has_text]
    if not theirs or other is response:
        return response

    def say(place: int, sentence: Sentence) -> Sentence:
        return replace(sentence, text=theirs[place % len(theirs)].text, written="")

    said = (say(place, sentence) for place, sentence in enumerate(response.sentences))
    return replace(response, sentences=tuple(said))
