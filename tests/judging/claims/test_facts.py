"""The facts of a document, and which of them a response states."""

from __future__ import annotations

from tests.fakes import response
from trecjudge.judging.claims.by_words import LexicalDetector
from trecjudge.judging.claims.judge import facts_found, facts_of
from trecjudge.records import Document

KETTLE = Document(
    "k", "Steam makes a kettle whistle [2]. Is it loud? It was sold in Lyon.", "Kettles"
)


def test_facts_are_what_it_claims_without_its_title() -> None:
    facts = facts_of(KETTLE)
    assert [fact.text for fact in facts] == [
        "Steam makes a kettle whistle.",
        "It was sold in Lyon.",
    ]
    assert [KETTLE.full_text[f.start : f.end] for f in facts] == [
        "Steam makes a kettle whistle [2].",
        "It was sold in Lyon.",
    ]


def test_found_is_what_the_response_states() -> None:
    answer = response(("A kettle is made to whistle by steam.", []), ("It is loud.", []))
    found = facts_found(KETTLE, answer, LexicalDetector(0.6))
    assert [fact.found for fact in found] == [True, False]


def test_a_response_without_text_states_nothing() -> None:
    assert [f.found for f in facts_found(KETTLE, response(), LexicalDetector())] == [False, False]
