"""Coverage of a topic by a text: what raises it, what does not, and the shipped cuts."""

from __future__ import annotations

import pytest

from trecjudge.judging.offline.relevance import (
    SHARES,
    Parts,
    Unit,
    read_cuts,
    relevance,
    wanted_terms,
)

KETTLE: Parts = (("title", "Why does a kettle whistle when steam leaves the spout?"),)
ON_TOPIC = "A kettle whistles because steam passes two plates in its spout. Steam makes it whistle."
ARTICLE = " ".join(f"The ferry captain noted barge number {n} of the harbour." for n in range(500))


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        pytest.param(ON_TOPIC, 3, id="covers it"),
        pytest.param("Gluons bind quarks.", 0, id="another subject"),
        pytest.param("", 0, id="empty"),
        pytest.param("😀 …", 0, id="no letters"),
        pytest.param("why does a when the", 0, id="only grammar"),
    ],
)
def test_grade(text: str, grade: int) -> None:
    assert relevance(KETTLE, text, "response").grade == grade


@pytest.mark.parametrize(
    ("topic", "text", "grade"),
    [
        pytest.param("水壶为什么会响", "水壶会响是因为蒸汽通过壶嘴。", 1, id="Chinese"),
        pytest.param("水壶为什么会响", "量子力学研究粒子。", 0, id="Chinese, another subject"),
        pytest.param("история Москвы", "История Москвы началась в 1147 году.", 3, id="Russian"),
    ],
)
def test_grade_in_other_scripts(topic: str, text: str, grade: int) -> None:
    assert relevance((("title", topic),), text, "response").grade == grade


def test_a_long_article_does_not_drown_the_title() -> None:
    topic: Parts = (*KETTLE, ("body", ARTICLE))
    weights = wanted_terms(topic).weights
    assert sum(weights.values()) == pytest.approx(1.0)
    assert weights["kettl"] > 2 * weights["barg"]
    assert relevance(topic, ON_TOPIC, "response").grade >= 2


def test_each_part_weighs_its_share() -> None:
    weights = wanted_terms((("title", "kettle"), ("background", "gluons"))).weights
    whole = SHARES["title"] + SHARES["background"]
    assert weights == pytest.approx({"kettl": 4 / whole, "gluon": 1 / whole})


def test_a_part_without_words_takes_no_share() -> None:
    assert wanted_terms((("title", "kettle"), ("body", "…"))).weights == {"kettl": 1.0}


def test_a_topic_without_words_is_covered_by_nothing() -> None:
    assert relevance((("title", "…"),), ON_TOPIC, "response").score == 0.0


def test_repeating_a_term_adds_little_and_length_costs() -> None:
    topic: Parts = (("title", "kettle gluons"),)
    once, often, long = (
        relevance(topic, text, "response").score
        for text in ("kettle", "kettle " * 50, "kettle " + "of the " * 500)
    )
    assert long < once <= often == pytest.approx(0.5)


def test_the_heaviest_missing_terms_are_listed_as_written() -> None:
    topic: Parts = (("title", "Kettles, Gluons and the people of Lyon"),)
    assert relevance(topic, "A kettle.", "response").missing == ("Gluons", "Lyon")


@pytest.mark.parametrize("unit", ["response", "sentence", "document"])
def test_cuts_rise(unit: Unit) -> None:
    cuts = read_cuts()[unit]
    assert 0 < cuts[0] < cuts[1] < cuts[2] < 1


@pytest.mark.parametrize("position", [0, 1, 2], ids=["grade 1", "grade 2", "grade 3"])
def test_a_sentence_needs_less_than_a_response(position: int) -> None:
    cuts = read_cuts()
    assert cuts["sentence"][position] < cuts["response"][position]
