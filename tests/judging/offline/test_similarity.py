from __future__ import annotations

import pytest

from trecjudge.judging.offline.relevance import Vector, mean_cosine, vector_of, weighed_forms
from trecjudge.text.tokens import tokenize

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
