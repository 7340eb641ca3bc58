"""Text said otherwise by rules."""

from __future__ import annotations

import pytest

from trecjudge.evaluation import perturbation


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("The colour of a center.", "The color of a centre."),
        ("Organise it; COLOUR stays.", "Organize it; COLOUR stays."),
        ("Discolouration is another word.", "Discolouration is another word."),
        ("", ""),
    ],
)
def test_spelling_is_swapped_word_by_word(text: str, made: str) -> None:
    assert perturbation.other_spelling(text) == made
    assert perturbation.other_spelling(made) == text


def test_short_forms_stand_for_long_ones() -> None:
    expected = {
        "It is so, they do not.": "It's so, they don't.",
        "They don\N{RIGHT SINGLE QUOTATION MARK}t.": "They do not.",
        "Cannot": "Can't",
    }
    assert {text: perturbation.other_forms(text) for text in expected} == expected


def test_words_are_replaced_by_others_of_the_same_form() -> None:
    assert perturbation.other_words("But many begin big.") == "Yet numerous start large."


def test_padding_repeats_or_says_nothing() -> None:
    assert perturbation.pad_text("A fact. ") == "A fact. This is worth noting."
    assert perturbation.repeat_text("A fact.") == "A fact. A fact."
    assert perturbation.in_bold("A fact.") == "**A fact.**"
    assert perturbation.as_bullet("A fact.") == "- A fact.\n"


@pytest.mark.parametrize(
    "rule",
    [perturbation.pad_text, perturbation.repeat_text, perturbation.in_bold, perturbation.as_bullet],
)
def test_what_has_no_text_gets_none(rule: object) -> None:
    assert callable(rule)
    assert rule(" \t") == " \t"
