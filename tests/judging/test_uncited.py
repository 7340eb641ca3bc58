"""Sentences without citations, by rules: what needs a citation, and what was said before."""

from __future__ import annotations

import pytest

from trecjudge.judging.nuggets import leaves_open, says_again, uncited_by_words


@pytest.mark.parametrize(
    ("sentence", "label"),
    [
        pytest.param("The works opened in 1902.", "NEEDS_CITATION", id="a fact"),
        pytest.param("Not only tin but zinc was used.", "NEEDS_CITATION", id="not only"),
        pytest.param(
            "It closed because copper was not to be had.", "NEEDS_CITATION", id="negated beside"
        ),
        pytest.param("The lamp shone without a keeper.", "NEEDS_CITATION", id="without"),
        pytest.param(
            "The danger is not in the lamp but in the oil.", "NEEDS_CITATION", id="not but"
        ),
        pytest.param(
            "If there is no wind, the lamp burns low.", "NEEDS_CITATION", id="a condition"
        ),
        pytest.param(
            "Such kits help where laboratories are not near.", "NEEDS_CITATION", id="where"
        ),
        pytest.param("If asked, nobody could name the founder.", "NEGATIVE", id="behind a clause"),
        pytest.param("The works were not founded in 1902.", "NEGATIVE", id="not so"),
        pytest.param("No record tells who founded the works.", "NEGATIVE", id="not known"),
        pytest.param("Nobody has kept the light since 1983.", "NEGATIVE", id="nobody"),
        pytest.param("The founder of the works is unknown.", "NEGATIVE", id="unknown"),
        pytest.param("The documents do not mention a founder.", "NEGATIVE", id="sources silent"),
        pytest.param("Von einem Gründer ist nichts bekannt, kein Name.", "NEGATIVE", id="German"),
        pytest.param("Who founded the works?", "NEEDS_NONE", id="a question"),
        pytest.param("## The Dunmoor Works", "NEEDS_NONE", id="a heading"),
        pytest.param("This report has told the story.", "NEEDS_NONE", id="of the report"),
        pytest.param("In this section we look at kettles.", "NEEDS_NONE", id="of a section"),
        pytest.param("Let us turn to the keepers.", "NEEDS_NONE", id="a turn"),
        pytest.param("We consider the following aspects.", "NEEDS_NONE", id="what follows"),
        pytest.param("I will next answer who kept it.", "NEEDS_NONE", id="what comes next"),
        pytest.param("I think it is nice.", "NEEDS_NONE", id="an opinion"),
        pytest.param("And so on.", "NEEDS_NONE", id="nothing to check"),
    ],
)
def test_what_an_uncited_sentence_is(sentence: str, label: str) -> None:
    assert uncited_by_words(sentence, []).label == label


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


@pytest.mark.parametrize(
    ("sentence", "question", "confirms"),
    [
        ("No record tells who founded the works.", "Who founded the works?", True),
        ("No record tells of a strike at the works.", "Who founded the works?", False),
        ("Nobody knows.", "Who founded the works?", False),
    ],
)
def test_a_negative_sentence_confirms_the_question_that_it_is_about(
    sentence: str, question: str, confirms: bool
) -> None:
    assert leaves_open(sentence, question) is confirms
