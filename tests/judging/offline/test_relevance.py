"""How near a passage is to a topic, by words and by measures of likeness."""

from __future__ import annotations

import pytest

from trecjudge.judging.offline.relevance import (
    SHARES,
    Parts,
    Unit,
    Vector,
    mean_cosine,
    read_cuts,
    relevance,
    vector_of,
    wanted_terms,
    weighed_forms,
)
from trecjudge.text.tokens import tokenize

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


# No table has these words: each weighs 1, but a short one that is not capitalised 0.3. "World" is
# in 650 of 1852 passages of the shipped table, whose rarest words are in 8.


def tfidf(text: str) -> Vector:
    return vector_of(weighed_forms(text))


@pytest.mark.parametrize(
    ("text", "vector"),
    [
        pytest.param("Zorblat, Zorblat, Quimpo", {"zorblat": 0.8944, "quimpo": 0.4472}, id="2, 1"),
        pytest.param("Zorblat ZORBLAT (zorblat)", {"zorblat": 1.0}, id="one form"),
        pytest.param("Zorblat world", {"zorblat": 0.9820, "world": 0.1888}, id="idf"),
        pytest.param("FBI und", {"fbi": 0.9578, "und": 0.2873}, id="1 to 0.3"),
        pytest.param("…", {}, id="no words"),
        pytest.param("东京湾", {"东京": 0.7071, "京湾": 0.7071}, id="bigrams"),
    ],
)
def test_vector(text: str, vector: dict[str, float]) -> None:
    assert tfidf(text) == pytest.approx(vector, abs=1e-4)


@pytest.mark.parametrize(
    "text",
    [
        "The U.S. spent 1,234.50 crowns\non don't-know 3rd parties…\u00a0“Ünited” l'homme",
        "2024年东京大会 and a\u3000full-width space",
        "x" * 40 + " " + "y" * 32,
    ],
    ids=["words", "no spaces", "long"],
)
def test_forms_are_those_of_the_whole_text(text: str) -> None:
    assert [form for form, _ in weighed_forms(text)] == [token.form for token in tokenize(text)]


@pytest.mark.parametrize(
    ("texts", "mean"),
    [
        pytest.param([], 0.0, id="none"),
        pytest.param(["Zorblat"], 0.0, id="one"),
        pytest.param(["Zorblat Quimpo", "Quimpo Zorblat"], 1.0, id="the same words"),
        pytest.param(["Zorblat Quimpo", "Vextil Brandok"], 0.0, id="disjoint"),
        pytest.param(["Zorblat Quimpo", "Zorblat Vextil"], 0.5, id="one word of two"),
        pytest.param(["Zorblat", "Zorblat", "Vextil"], 1 / 3, id="one pair of three"),
        pytest.param(["", ""], 0.0, id="empty texts are not alike"),
        pytest.param(["Zorblat"] * 40, 1.0, id="forty copies"),
        pytest.param(["东京塔", "东京湾"], 0.5, id="one bigram of two"),
        pytest.param(["Tokyo", "东京"], 0.0, id="two scripts"),
    ],
)
def test_mean_cosine(texts: list[str], mean: float) -> None:
    assert mean_cosine([tfidf(text) for text in texts]) == pytest.approx(mean)


def test_disjoint_is_exactly_zero() -> None:
    assert mean_cosine([tfidf("kettle whistles loud"), tfidf("ferry sailed 1894 north")]) == 0.0


def test_mean_is_that_of_the_pairs() -> None:
    texts = ["Zorblat world Quimpo", "Quimpo the world", "Vextil Zorblat Zorblat", "Brandok 12"]
    vectors = [tfidf(text) for text in texts]
    pairs = [
        sum(weight * other.get(form, 0.0) for form, weight in one.items())
        for i, one in enumerate(vectors)
        for other in vectors[:i]
    ]
    assert mean_cosine(vectors) == pytest.approx(sum(pairs) / 6)
