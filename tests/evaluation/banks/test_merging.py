"""Nuggets that say the same: equal words in any writing, and nothing that only looks alike."""

from __future__ import annotations

import pytest

from trecjudge.evaluation.banks.merging import (
    NuggetDraft,
    StatingSentence,
    key_of_text,
    merge_drafts,
    say_the_same,
)
from trecjudge.records import GoldAnswer, Source


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("The lamp was lit in 1871.", "the lamp was lit in 1871", id="case and stop"),
        pytest.param("Lit on 12 March 1871", "Lit on March 12, 1871", id="order of a date"),
        pytest.param("Lit on 12 March 1871", "Lit on 1871-03-12", id="an ISO date"),
        pytest.param("Lit on 12th March 1871", "Lit on Mar 12, 1871", id="an ordinal"),
        pytest.param("It cost 1.5 million crowns", "It cost 1,500,000 crowns", id="a million"),
        pytest.param("It has twelve steps", "It has 12 steps", id="a number in words"),
        pytest.param("It grew by 3 %", "It grew by 3%", id="a sign"),
        pytest.param("Kettles of the Dunmoor works", "Kettles of Dunmoor works", id="an article"),
        pytest.param("José ran the works", "Jose ran the works", id="a mark"),
        pytest.param("The U.S. bought it", "The US bought it", id="a short name"),
        pytest.param(
            "The kettle works opened in Dunmoor in 1902.",
            "In 1902 the kettle works opened in Dunmoor.",
            id="another order",
        ),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert say_the_same(one, other)
    assert len(merge_drafts([NuggetDraft(one), NuggetDraft(other)])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("The lamp was lit in 1871.", "The lamp was lit in 1872.", id="a year"),
        pytest.param("The lamp was lit in 1871.", "The lamp was not lit in 1871.", id="not"),
        pytest.param("It opened before 1902.", "It opened after 1902.", id="before and after"),
        pytest.param("It cost 41 crowns.", "It cost 41 pounds.", id="a unit"),
        pytest.param("Ada Holm left in 1983.", "Ada Berg left in 1983.", id="a name"),
        pytest.param("It opened in 1933.", "It opened in January 1933.", id="a month more"),
        pytest.param("The ferry sails to Perch.", "The ferry sails from Perch.", id="to and from"),
        pytest.param("Norway beat Sweden in 1902.", "Sweden beat Norway in 1902.", id="who whom"),
        pytest.param("All dogs travel free.", "Some dogs travel free.", id="all and some"),
    ],
)
def test_not_the_same(one: str, other: str) -> None:
    assert not say_the_same(one, other)
    assert len(merge_drafts([NuggetDraft(one), NuggetDraft(other)])) == 2


def question(text: str, *answers: GoldAnswer) -> NuggetDraft:
    return NuggetDraft(text, answers)


def test_answers_of_equal_questions_are_united() -> None:
    (found,) = merge_drafts(
        [
            question("When was it lit?", GoldAnswer("12 March 1871", ("L1",))),
            question("when was it lit", GoldAnswer("March 12, 1871", ("L2",)), GoldAnswer("1871")),
        ]
    )
    assert found.answers == (GoldAnswer("12 March 1871", ("L1", "L2")), GoldAnswer("1871"))
    assert found.also == ("when was it lit",)


def test_questions_that_ask_for_something_else_stay_apart() -> None:
    texts = ["When was it lit?", "Where was it lit?", "Did A beat B?", "Did B beat A?"]
    assert [draft.text for draft in merge_drafts(question(text) for text in texts)] == texts


def test_a_question_is_no_statement() -> None:
    assert len(merge_drafts([question("Lit in 1871"), NuggetDraft("Lit in 1871")])) == 2


def test_what_nuggets_are_from_is_kept() -> None:
    one = NuggetDraft(
        "Lit in 1871.",
        (),
        "okay",
        (Source("L1", 0, 5),),
        said=(StatingSentence("r", 0, "x"),),
        runs=("r",),
    )
    other = NuggetDraft("lit in 1871", (), "vital", (Source("L2", 1, 6),), runs=("s", "r"))
    (found,) = merge_drafts([one, other])
    assert (found.importance, found.attesting, found.runs) == ("vital", ("L1", "L2"), ("r", "s"))
    assert found.nugget("1").source == "r"


def test_keys_of_other_scripts_differ() -> None:
    assert key_of_text("灯塔建于一八七一年") != key_of_text("灯塔建于一八七二年")
