"""Words and numbers as they are compared, and sentences whose words stand in a text in a row."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trecjudge.text.tokens import Token, is_copied, read_forms, scripts, tokenize


def forms(text: str) -> list[str]:
    return [token.form for token in tokenize(text)]


def test_words() -> None:
    cases = {
        "case and plural": ("The Cats SLEEP", ["the", "cat", "sleep"]),
        "one stem": ("debate debates debating", ["debat"] * 3),
        "ligature": ("ﬁnance", ["financ"]),
        "full-width letters": ("Ｔｏｋｙｏ", ["tokyo"]),
        "accent": ("São Paulo", ["sao", "paulo"]),
        "combining accent": ("cafe\u0301 café", ["cafe", "cafe"]),
        "sharp s folds to ss": ("Straße", ["strass"]),
        "initialism": ("U.S. and US", ["us", "and", "us"]),
        "possessive, both apostrophes": ("women's women’s", ["women", "women"]),
        "contracted negation": ("don't can’t", ["not", "not"]),
        "French elision": ("l'homme", ["homm"]),
        "hyphen parts": ("long-term", ["long", "term"]),
        "soft hyphen is no letter": ("co\u00adoperate", ["cooper"]),
        "no width in words": ("n\u200bot n\u2060o\u202et n\U000e0041ot", ["not"] * 3),
        "no width beside words": ("a\u200b \ufeffb 1\ufe0f\u20e3", ["a", "b", "1"]),
        "letters with digits are a name": ("vitamin B12", ["vitamin", "b12"]),
        "unit in any writing": ("kilometres km Kilometers", ["km"] * 3),
        "month in short": ("Sept. September", ["septemb"] * 2),
        "underscore parts": ("snake_case", ["snake", "case"]),
        "empty": ("", []),
        "no letters": ("😀 — … !?", []),
    }
    wrong = {
        name: found
        for name, (text, expected) in cases.items()
        if (found := forms(text)) != expected
    }
    assert not wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1,234", "1234", id="grouped"),
        pytest.param("1234", "1234", id="plain"),
        pytest.param("1,234,567.50", "1234567.5", id="grouped with decimals"),
        pytest.param("1.234.567", "1234567", id="grouped with stops"),
        pytest.param("1.234.567,89", "1234567.89", id="grouped with stops, decimal comma"),
        pytest.param("1.234", "1.234", id="one stop is decimal"),
        pytest.param("1,5", "1.5", id="decimal comma"),
        pytest.param("3.0", "3", id="idle zero"),
        pytest.param("100", "100", id="zeros of a whole number stay"),
        pytest.param("12%", "12", id="percent"),
        pytest.param("$12", "12", id="currency"),
        pytest.param("20th", "20", id="ordinal"),
        pytest.param("1990s", "1990", id="decade"),
        pytest.param("１２", "12", id="full-width digits"),
        pytest.param("١٢", "12", id="Arabic-Indic digits"),
        pytest.param("twelve", "12", id="in words"),
        pytest.param("12.5.1999", "12.5.1999", id="date is kept"),
    ],
)
def test_number(text: str, expected: str) -> None:
    assert forms(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2022-05-03", ["2022", "may", "3"], id="ISO date"),
        pytest.param("3 May 2022", ["3", "may", "2022"], id="date in words"),
        pytest.param("2022-13-03", ["2022", "13", "03"], id="no month"),
        pytest.param("12022-05-03", ["12022", "05", "03"], id="no year"),
        pytest.param("555-2022-05-031", ["555", "2022", "05", "031"], id="a number of parts"),
    ],
)
def test_date(text: str, expected: list[str]) -> None:
    assert forms(text) == expected


def test_a_date_keeps_its_places() -> None:
    assert tokenize("on 2022-05-03.")[1:] == [
        Token("2022", 3, 7),
        Token("may", 8, 10),
        Token("3", 11, 13),
    ]


@given(st.text(alphabet="aZé'’.-_ 1,2日本ßﬁ%\u0301\u200d", max_size=40))
def test_forms_are_those_of_the_tokens(text: str) -> None:
    tokens = tokenize(text)
    written, found = read_forms(text)
    assert found == [token.form for token in tokens]
    assert written == [text[token.start : token.end] for token in tokens]


def test_stop_after_a_number_is_no_part_of_it() -> None:
    assert tokenize("in 1894.")[1] == Token("1894", 3, 7)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("日本語", ["日本", "本語"], id="Japanese bigrams"),
        pytest.param("水", ["水"], id="one character"),
        pytest.param("2024年の大会", ["2024", "年の", "の大", "大会"], id="number before Han"),
        pytest.param("東京Tokyo大会", ["東京", "tokyo", "大会"], id="Latin between Han"),
        pytest.param("ｶﾞｽ", ["ガス"], id="half-width kana with a voicing mark"),
        pytest.param("서울은", ["서울", "울은"], id="Hangul"),
        pytest.param("ที่นี่", ["ที่นี่"], id="Thai vowel signs belong to their consonant"),
        pytest.param("हिन्दी भाषा", ["हिन्दी", "भाषा"], id="Devanagari words are whole"),
        pytest.param("Москвы Москва", ["москв", "москв"], id="Russian stems"),
        pytest.param("الكتابُ", ["كتاب"], id="Arabic article and vowel point"),
        pytest.param("Ελλάδα", ["ελλάδα"], id="Greek"),
        pytest.param("שָׁלוֹם", ["שלום"], id="Hebrew points"),
    ],
)
def test_other_scripts(text: str, expected: list[str]) -> None:
    assert forms(text) == expected


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("a ﬁnal 1,234.", ["a", "ﬁnal", "1,234"], id="ligature before"),
        pytest.param("“Don’t”", ["Don’t"], id="quotes"),
        pytest.param("㎏ ½ x", ["½", "x"], id="compatibility characters before"),
        pytest.param("😀東京都", ["東京", "京都"], id="astral character before bigrams"),
        pytest.param("ｶﾞｽだ", ["ｶﾞｽ", "ｽだ"], id="two characters of one letter"),
        pytest.param("İstanbul café", ["İstanbul", "café"], id="case folding that lengthens"),
    ],
)
def test_offsets_are_of_the_original_text(text: str, written: list[str]) -> None:
    assert [text[token.start : token.end] for token in tokenize(text)] == written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Hello, world", {"latin"}, id="Latin"),
        pytest.param("北京", {"han"}, id="Han"),
        pytest.param("北京 Beijing", {"han", "latin"}, id="two"),
        pytest.param("東京は", {"han", "hiragana"}, id="Japanese"),
        pytest.param("Москва", {"cyrillic"}, id="Cyrillic"),
        pytest.param("القاهرة", {"arabic"}, id="Arabic"),
        pytest.param("Ｔｏｋｙｏ", {"latin"}, id="full-width Latin"),
        pytest.param("ภาษา", {"thai"}, id="Thai"),
        pytest.param("한국", {"hangul"}, id="Hangul"),
        pytest.param("12 % 😀 —", set(), id="no letters"),
        pytest.param("", set(), id="empty"),
    ],
)
def test_scripts(text: str, expected: set[str]) -> None:
    assert scripts(text) == expected


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
