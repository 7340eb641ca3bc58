"""What is searched for: the question of a topic, and its terms."""

from __future__ import annotations

import pytest

from trecjudge.baseline.terms import REQUEST_WEIGHT, question_of, terms_of
from trecjudge.records import Topic


def test_a_topic_asks_its_title_problem_and_background() -> None:
    topic = Topic("1", "Dams", "Who pays?", "I farm.", body="An article.")
    assert question_of(topic) == "Dams\nWho pays?\nI farm."


def test_a_topic_on_an_article_asks_with_its_beginning() -> None:
    assert question_of(Topic("1", "Dams", body="Water " * 1000)).startswith("Dams\nWater Water")
    assert len(question_of(Topic("1", "Dams", body="Water " * 1000))) < 2010


def test_the_same_text_twice_is_asked_once() -> None:
    assert question_of(Topic("1", "Dams", "Dams ", "")) == "Dams"


@pytest.mark.parametrize(
    ("question", "telling", "request_word"),
    [
        ("I want to understand the dam", "dam", "understand"),
        ("Ich möchte den Staudamm verstehen", "staudamm", "verstehen"),
        ("Je voudrais comprendre le barrage", "barrag", "comprendr"),
        ("хочу узнать о плотине", "плотин", "узна"),
    ],
    ids=["english", "german", "french", "russian"],
)
def test_words_of_the_request_count_little(question: str, telling: str, request_word: str) -> None:
    terms = terms_of(question)
    assert terms[telling] == 1.0
    assert terms[request_word] == REQUEST_WEIGHT
    assert not {"i", "to", "the", "den", "le", "о"} & set(terms)


def test_a_question_of_request_words_only_keeps_them() -> None:
    assert terms_of("report on information") == {"report": 1.0, "inform": 1.0}


def test_a_question_of_function_words_only_keeps_them() -> None:
    assert terms_of("to be or not to be")["to"] > 0


def test_what_is_said_twice_counts_twice() -> None:
    assert terms_of("dam, dams") == {"dam": 2.0}


@pytest.mark.parametrize("question", ["", " \n", "?!", "\x00\x1b"])
def test_without_words_there_are_no_terms(question: str) -> None:
    assert terms_of(question) == {}
