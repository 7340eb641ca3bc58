"""Answers said otherwise keep what they say and cite."""

from __future__ import annotations

import pytest

from tests.fakes import response
from trecjudge.evaluation.stability.perturbation import CHANGES, Perturbation
from trecjudge.records import Response

ANSWER = response(
    ("The colour is big.", ["a"]), ("It is so.", ["b", "a"]), ("A third.", []), documents={"a": "x"}
)


def cited(answer: Response, order: list[int]) -> dict[int, list[str | None]]:
    """Return the documents that each sentence cites, by its former index."""
    pairs = zip(answer.sentences, order, strict=True)
    return {old: [c.doc_id for c in sentence.citations] for sentence, old in pairs}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_a_change_keeps_every_citation_with_its_sentence(change: Perturbation) -> None:
    made, order = change.make(ANSWER)
    assert made != ANSWER
    assert cited(made, order) == cited(ANSWER, [0, 1, 2])
    assert [sentence.index for sentence in made.sentences] == [0, 1, 2]
    assert made.documents == ANSWER.documents
    assert change.make(ANSWER) == (made, order)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_an_empty_answer_stays_as_it_is(change: Perturbation) -> None:
    empty = response()
    assert change.make(empty)[0] == empty
    blank = response((" ", ["a"]))
    assert change.make(blank)[0] == blank


def test_two_sentences_always_change_their_order() -> None:
    shuffled = next(change for change in CHANGES if change.name == "shuffled")
    for number in range(20):
        answer = response(("A.", []), ("B.", []), run_id=f"r{number}")
        made, order = shuffled.make(answer)
        assert [sentence.text for sentence in made.sentences] == ["B.", "A."]
        assert order == [1, 0]
