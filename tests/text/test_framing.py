"""Sentences that do not assert their statement, in the languages of the tracks."""

from __future__ import annotations

import pytest

from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import compare
from trecjudge.text.framing import frame_of
from trecjudge.text.tokens import read_forms

STATEMENT = "the tower of Lyon was sold to a bank in spring"
DOCUMENT = f"Gluons bind quarks. {STATEMENT.capitalize()}. It rains."
FRAMED = {
    "It is false that {}.": "denied",
    "It is simply not true that {}.": "denied",
    "It's a common misconception that {}.": "denied",
    "Experts have since disproved that {}.": "denied",
    "The myth that {} is old.": "denied",
    "Es ist falsch, dass {}.": "denied",
    "Il est faux que {}.": "denied",
    "No es cierto que {}.": "denied",
    "Неверно, что {}.": "denied",
    "ليس صحيحا أن {}.": "denied",
    "درست نیست که {}.": "denied",
    "有人误以为{}。": "denied",
    "Nobody really knows whether {}.": "doubted",
    "It remains unclear if {}.": "doubted",
    "Niemand weiß, ob {}.": "doubted",
    "Personne ne sait si {}.": "doubted",
    "Nadie sabe si {}.": "doubted",
    "Неизвестно, {}.": "doubted",
    "没有人知道{}。": "doubted",
    "Suppose for a moment that {}.": "supposed",
    "If it were true that {}, prices fell.": "supposed",
    "Supposons que {}.": "supposed",
    "Is it true that {}?": "asked",
    "{}? [1]": "asked",
    "{}？": "asked",
}
ASSERTED = (
    "It is true that {}.",
    "Everybody knows that {}.",
    "The alarm was false, and {}.",
    "Experts have shown that {}.",
    "{}.",
)


@pytest.mark.parametrize(("form", "kind"), FRAMED.items())
def test_a_copy_in_a_frame_is_no_support(form: str, kind: str) -> None:
    sentence = form.format(STATEMENT)
    frame = frame_of(sentence, read_forms(sentence)[1])
    assert frame is not None and frame.kind == kind
    found = compare(sentence, prepare(DOCUMENT))
    assert found.label == "no_support"
    assert f"only the sentence has {frame.written!r}" in found.reason


@pytest.mark.parametrize("form", FRAMED)
def test_a_document_with_the_same_frame_supports_it(form: str) -> None:
    sentence = form.format(STATEMENT)
    assert compare(sentence, prepare(f"It rains. {sentence} It snows.")).label == "full_support"


@pytest.mark.parametrize("form", ASSERTED)
def test_what_asserts_a_statement_has_no_frame(form: str) -> None:
    sentence = form.format(STATEMENT)
    assert frame_of(sentence, read_forms(sentence)[1]) is None
    assert "does not assert" not in compare(sentence, prepare(DOCUMENT)).reason


def test_a_denial_in_other_words_is_no_frame_of_the_sentence_only() -> None:
    pairs = (
        (
            "It is a myth that sugar makes children hyperactive.",
            "The belief that sugar makes children hyperactive is a myth.",
        ),
        ("It is false that the tower was sold.", "The tower was not sold."),
        ("It is unclear whether the drug works.", "The drug may work."),
    )
    for sentence, document in pairs:
        assert "does not assert" not in compare(sentence, prepare(document)).reason
