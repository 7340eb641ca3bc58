"""Whether a text states an answer, by words."""

from __future__ import annotations

import pytest

from trecjudge.judging.nuggets import stated
from trecjudge.records import GoldAnswer, Nugget

E_WASTE = Nugget("1", "The rate of e-waste recycling is insufficient.")


def test_half_of_its_words_do_not_state_a_statement() -> None:
    expected = {
        "The rate of recycling of e-waste is insufficient.": "support",
        "The recycling of e-waste faces many challenges.": "partial_support",
        "Gulls nest on cliffs.": "not_support",
    }
    assert {
        text: stated(text, E_WASTE, E_WASTE.gold_answers[0]).label for text in expected
    } == expected


@pytest.mark.parametrize(
    ("text", "question", "answer", "label"),
    [
        ("In fog it waits until seven.", "What happens in fog?", "it waits until seven", "support"),
        ("In fog it waits until 7.", "What happens in fog?", "it waits until seven", "support"),
        ("It waits until seven.", "What happens in fog?", "it waits until seven", "not_support"),
        ("Gulls nest on cliffs.", "What happens in fog?", "it waits", "not_support"),
        ("The Perch sails at 22:40.", "When does the Perch sail?", "22:40", "support"),
        ("The Perch sails at 22:04.", "When does the Perch sail?", "22:40", "not_support"),
        ("The Perch costs 22:40.", "When was it lit?", "22:40", "not_support"),
        ("Скала высока.", "How high is it?", "high", "not_support"),
    ],
)
def test_a_short_answer_stands_with_its_question(
    text: str, question: str, answer: str, label: str
) -> None:
    found = stated(text, Nugget("1", question, True), GoldAnswer(answer))
    assert found.label == label
