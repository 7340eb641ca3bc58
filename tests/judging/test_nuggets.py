"""Nuggets matched with what sentences say, cited or not."""

from __future__ import annotations

import pytest

from trecjudge.judging.nuggets import leaves_open, says_again, stated, uncited_by_words
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


def test_what_an_uncited_sentence_is() -> None:
    cases = {
        "a fact": ("The works opened in 1902.", "NEEDS_CITATION"),
        "not only": ("Not only tin but zinc was used.", "NEEDS_CITATION"),
        "negated beside": ("It closed because copper was not to be had.", "NEEDS_CITATION"),
        "without": ("The lamp shone without a keeper.", "NEEDS_CITATION"),
        "not but": ("The danger is not in the lamp but in the oil.", "NEEDS_CITATION"),
        "a condition": ("If there is no wind, the lamp burns low.", "NEEDS_CITATION"),
        "where": ("Such kits help where laboratories are not near.", "NEEDS_CITATION"),
        "behind a clause": ("If asked, nobody could name the founder.", "NEGATIVE"),
        "not so": ("The works were not founded in 1902.", "NEGATIVE"),
        "not known": ("No record tells who founded the works.", "NEGATIVE"),
        "nobody": ("Nobody has kept the light since 1983.", "NEGATIVE"),
        "unknown": ("The founder of the works is unknown.", "NEGATIVE"),
        "sources silent": ("The documents do not mention a founder.", "NEGATIVE"),
        "German": ("Von einem Gründer ist nichts bekannt, kein Name.", "NEGATIVE"),
        "a question": ("Who founded the works?", "NEEDS_NONE"),
        "a heading": ("## The Dunmoor Works", "NEEDS_NONE"),
        "of the report": ("This report has told the story.", "NEEDS_NONE"),
        "of a section": ("In this section we look at kettles.", "NEEDS_NONE"),
        "a turn": ("Let us turn to the keepers.", "NEEDS_NONE"),
        "what follows": ("We consider the following aspects.", "NEEDS_NONE"),
        "what comes next": ("I will next answer who kept it.", "NEEDS_NONE"),
        "an opinion": ("I think it is nice.", "NEEDS_NONE"),
        "nothing to check": ("And so on.", "NEEDS_NONE"),
    }
    wrong = {
        name: found
        for name, (sentence, label) in cases.items()
        if (found := uncited_by_words(sentence, []).label) != label
    }
    assert not wrong


@pytest.mark.parametrize(
    ("sentence", "earlier", "again"),
    [
        ("The tower is 34 metres high.", "The tower is 34 metres high.", True),
        ("Its height is 34 metres.", "The tower is 34 metres high.", True),
        ("In 1926 the smiths struck.", "The smiths struck in 1926.", True),
        ("The tower is 43 metres high.", "The tower is 34 metres high.", False),
        ("The smiths struck in 1926.", "In 1926 the works built a new hall of brick.", False),
        ("However, the Crusades were cruel.", "The Crusades were a failure or a success.", False),
        (
            "The rate of e-waste recycling is insufficient.",
            "The recycling of e-waste is hard.",
            False,
        ),
        ("Gulls nest on the cliffs.", "The lamp burned colza oil.", False),
        ("Чайки гнездятся на скалах.", "Gulls nest on the cliffs.", False),
    ],
)
def test_what_an_earlier_sentence_says(sentence: str, earlier: str, again: bool) -> None:
    assert says_again(sentence, earlier) is again
    assert (uncited_by_words(sentence, ["Hm.", earlier]).label == "REPEATED") is again


def test_a_negative_sentence_confirms_the_question_that_it_is_about() -> None:
    expected = {
        ("No record tells who founded the works.", "Who founded the works?"): True,
        ("No record tells of a strike at the works.", "Who founded the works?"): False,
        ("Nobody knows.", "Who founded the works?"): False,
    }
    assert {
        (sentence, question): leaves_open(sentence, question) for (sentence, question) in expected
    } == expected
