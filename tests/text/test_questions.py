"""The kind of a question by the words that ask, and a query without them."""

from __future__ import annotations

import pytest

from trecjudge.text.questions import blank_question_words, question_kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Kettles\nWhy does a kettle whistle?\nPhysics", "why"),
        ("Who built it, and when?", "who"),
        ("In what year did it open?", "when"),
        ("  How many people own cars", "how many"),
        ("How does it work", "how"),
        ("The bridge: how much did it cost?", "how many"),
        ("Is it safe?", "whether"),
        ("Kettles. I wonder.", "other"),
        ("Does the WHO know how?", "how"),
        ("", "other"),
        ("¿Por qué silba la tetera?", "why"),
        ("Wie viele Brücken gibt es?", "how many"),
        ("Où est le pont ?", "where"),
        ("Сколько стоит мост?", "how many"),
        ("لماذا تصفر الغلاية؟", "why"),
        ("کتری چرا سوت می‌زند؟", "why"),
        ("这座桥什么时候建造？", "when"),
        ("为什么水壶会响？", "why"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert question_kind(text) == kind


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Why does the WHO say how?", "    does the WHO say    ?"),
        ("How many showers?", "         showers?"),
        ("为什么水壶会响？", "   水壶会响？"),
        ("Почему свистит?", "       свистит?"),
    ],
)
def test_words_that_ask_are_blanked_in_place(text: str, left: str) -> None:
    assert blank_question_words(text) == left
