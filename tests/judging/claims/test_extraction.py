"""Claims of a response, by rules and by a model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.fakes import ScriptedModel, response
from trecjudge.errors import JudgmentFailed
from trecjudge.judging.claims.program import ClaimOfSentence
from trecjudge.judging.claims.statements import claims_by_model, claims_by_rules
from trecjudge.records import Claim, Response

ANSWER = response(
    ("The army has 18 divisions and has no navy [1].", ["a", "b"]),
    ("Is that so?", []),
    ("It was founded in 1860.", ["b"]),
)


def entry(claim: str, sentence: int = 0, importance: str = "vital") -> dict[str, Any]:
    return {"sentence": sentence, "claim": claim, "importance": importance}


def by_model(answer: Response, *entries: Any) -> list[Claim]:
    return asyncio.run(claims_by_model(answer, ScriptedModel(lambda _: {"claims": [*entries]})))


def test_by_rules_clauses_have_the_place_and_the_citations_of_their_sentence() -> None:
    assert claims_by_rules(ANSWER) == [
        Claim(0, "The army has 18 divisions.", 0, ("a", "b")),
        Claim(1, "The army has no navy.", 0, ("a", "b")),
        Claim(2, "It was founded in 1860.", 2, ("b",)),
    ]


def test_a_citation_of_no_document_is_none() -> None:
    assert claims_by_rules(response(("It is red.", [])))[0].cited == ()


def test_by_a_model_with_importance() -> None:
    found = by_model(
        ANSWER, entry("The army has 18 divisions.", 0), entry("It is old.", 2, "detail")
    )
    assert [(c.index, c.sentence_index, c.importance) for c in found[:1]] == [(0, 0, 1.0)]


def test_the_model_may_give_objects_too() -> None:
    made = ClaimOfSentence(sentence=2, claim="The army was founded in 1860.", importance="detail")
    (found,) = by_model(ANSWER, made)
    assert (found.sentence_index, found.cited, found.importance) == (2, ("b",), 0.5)


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        pytest.param(2, 2, id="as it says"),
        pytest.param(9, 2, id="a sentence that is not there"),
        pytest.param(-1, 2, id="below nought"),
    ],
)
def test_a_wrong_sentence_is_repaired(sentence: int, place: int) -> None:
    (found,) = by_model(ANSWER, entry("It was founded in 1860.", sentence))
    assert found.sentence_index == place


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([], id="no claim"),
        pytest.param([entry("")], id="an empty one"),
        pytest.param([entry("Elephants are blue.")], id="one of its own"),
    ],
)
def test_a_list_that_has_nothing_of_the_response_fails(entries: list[Any]) -> None:
    with pytest.raises(JudgmentFailed, match="rules find 3") as failed:
        by_model(ANSWER, *entries)
    assert failed.value.kind == "empty"


def test_of_what_declines_a_model_may_list_nothing() -> None:
    cases = [
        "I don't have that information.",
        "None of the supplied documents say when the bridge was built.",
        "What the passages tell is not what this question asks for.",
    ]
    wrong = [text for text in cases if by_model(response((text, []))) != []]
    assert not wrong


def test_an_answer_that_declines_in_part_has_claims() -> None:
    with pytest.raises(JudgmentFailed, match="rules find 1"):
        by_model(response(("The sources do not say when. The bridge is 40 m long.", [])))


def test_without_text_nothing_is_asked() -> None:
    model = ScriptedModel(lambda _: pytest.fail("asked"))
    assert asyncio.run(claims_by_model(response((" ", [])), model)) == []


def test_what_the_model_sees_is_numbered_and_bare() -> None:
    model = ScriptedModel(lambda _: {"claims": [entry("The army has 18 divisions.")]})
    asyncio.run(claims_by_model(ANSWER, model))
    assert model.asked[0]["response"].splitlines() == [
        "[0] The army has 18 divisions and has no navy.",
        "[1] Is that so?",
        "[2] It was founded in 1860.",
    ]
