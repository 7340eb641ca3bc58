"""Sentences whose words stand in a text in a row."""

from __future__ import annotations

import time

import pytest

from trecjudge.text.tokens import is_copied

FOX = (
    "Yesterday the quick “brown” fox jumped over a lazy dog, and that ended the hunt [12] at once."
)


@pytest.mark.parametrize(
    ("sentence", "copied"),
    [
        pytest.param("the quick “brown” fox jumped over a lazy dog", True, id="as it stands"),
        pytest.param('The quick "brown" fox jumped over  a lazy dog.', True, id="quotes, spaces"),
        pytest.param("THE QUICK BROWN FOX JUMPED OVER A LAZY DOG", True, id="capitals"),
        pytest.param("the quick brown fox jumped over a lazy dog [1][2].", True, id="marks"),
        pytest.param("the quick brown fox jumped over a lazy dog. [doc_7#3]", True, id="an id"),
        pytest.param("the quick brown fox jumped over a lazy dog (3)", True, id="round marks"),
        pytest.param("dog, and that ended the hunt at once", True, id="a mark of the document"),
        pytest.param("the quick br\u200bown fox jumped over a lazy dog", True, id="no width"),
        pytest.param("the quick red fox jumped over a lazy dog", False, id="another word"),
        pytest.param("quick the brown fox jumped over a lazy dog", False, id="another order"),
        pytest.param("he quick brown fox jumped over a lazy dog", False, id="a part of a word"),
        pytest.param("brown fox jumped over a lazy dog", None, id="seven words"),
        pytest.param("", None, id="nothing"),
        pytest.param("[1] [2] [3] [4] [5] [6] [7] [8] [9]", None, id="only marks"),
    ],
)
def test_a_sentence(sentence: str, copied: bool | None) -> None:
    assert is_copied(sentence, ["Other text.", FOX]) is copied


@pytest.mark.parametrize(
    ("sentence", "copied"),
    [
        pytest.param("東京都は日本の首都であり最大の都市。", True, id="letters"),
        pytest.param("東京都は 日本の首都であり 最大の都市", True, id="blanks do not matter"),
        pytest.param("東京都は日本の首都であり最小の都市。", False, id="another letter"),
        pytest.param("日本の首都", None, id="too few letters"),
    ],
)
def test_a_language_without_spaces(sentence: str, copied: bool | None) -> None:
    assert is_copied(sentence, ["昔から東京都は日本の首都であり最大の都市である。"]) is copied


def test_no_text_has_it() -> None:
    assert is_copied("one two three four five six seven eight", []) is False


def test_a_hostile_sentence_takes_no_longer_than_another() -> None:
    started = time.process_time()
    assert is_copied("word " * 8 + ". " * 200_000 + "[" * 200_000, [FOX]) is False
    assert time.process_time() - started < 20  # a quadratic search would take hours
