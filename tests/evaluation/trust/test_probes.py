"""Probes: answers and documents in which there is nothing to find."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trecjudge.evaluation.trust.probes import BLANK_PAGE, probes_of, reverse_documents
from trecjudge.records import Citation, Document, Response, Sentence


def answer(topic_id: str, *doc_ids: str) -> Response:
    """Return an answer with a sentence for each document, which it cites."""
    sentences = (
        Sentence(n, f"Says {topic_id} {doc_id}.", (Citation(doc_id, doc_id),))
        for n, doc_id in enumerate(doc_ids)
    )
    documents = {doc_id: Document(doc_id, f"Text of {topic_id} {doc_id}.") for doc_id in doc_ids}
    return Response("r", topic_id, tuple(sentences), documents=documents)


ONE, TWO = answer("1", "a", "b", "c"), answer("2", "d", "e")


def probed(name: str, *answers: Response) -> Response:
    """Return the first of some answers after a probe."""
    (probe,) = (one for one in probes_of(answers) if one.name == f"dark:{name}")
    return probe.make(answers[0], "")[0]


@pytest.mark.parametrize(
    ("name", "texts", "documents"),
    [
        ("empty-answer", ["", "", ""], ["Text of 1 a.", "Text of 1 b.", "Text of 1 c."]),
        ("empty-document", ["Says 1 a.", "Says 1 b.", "Says 1 c."], [BLANK_PAGE] * 3),
        (
            "swapped-document",
            ["Says 1 a.", "Says 1 b.", "Says 1 c."],
            ["Text of 2 d.", "Text of 2 e.", "Text of 2 d."],
        ),
        (
            "half-other-topic",
            ["Says 1 a.", "Says 2 e.", "Says 1 c."],
            ["Text of 1 a.", "Text of 1 b.", "Text of 1 c."],
        ),
        (
            "other-topic",
            ["Says 2 d.", "Says 2 e.", "Says 2 d."],
            ["Text of 1 a.", "Text of 1 b.", "Text of 1 c."],
        ),
    ],
)
def test_a_probe_leaves_what_is_cited_and_takes_what_it_says(
    name: str, texts: list[str], documents: list[str]
) -> None:
    made = probed(name, ONE, TWO)
    assert [sentence.text for sentence in made.sentences] == texts
    assert [document.text for document in made.documents.values()] == documents
    assert list(made.documents) == list(ONE.documents)
    assert [s.citations for s in made.sentences] == [s.citations for s in ONE.sentences]


@pytest.mark.parametrize("name", ["swapped-document", "half-other-topic", "other-topic"])
def test_without_another_topic_nothing_is_swapped(name: str) -> None:
    assert probed(name, ONE, replace(TWO, topic_id="1", run_id="s")) == ONE


def test_documents_and_citations_are_reversed() -> None:
    both = replace(ONE.sentences[0], citations=(Citation("a", "0"), Citation("b", "1")))
    made, order = reverse_documents(replace(ONE, sentences=(both,)), "")
    assert [citation.doc_id for citation in made.sentences[0].citations] == ["b", "a"]
    assert (list(made.documents), order) == (["c", "b", "a"], [0])
    single = replace(answer("1", "a"), sentences=())
    assert reverse_documents(single, "")[0] is single
