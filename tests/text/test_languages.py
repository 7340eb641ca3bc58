"""The language of a text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from trecjudge.text.languages import (
    ENGLISH,
    LANGUAGES,
    OTHER,
    UNKNOWN,
    language_of,
    language_of_pair,
    script_of,
)
from trecjudge.text.tables import read_entries


def _read() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in read_entries(Path(__file__).with_name("languages.txt")):
        if line.endswith(":"):
            found[line[:-1]] = []
        else:
            found[list(found)[-1]] += line.split(" | ")
    return found


SENTENCES = _read()
DUTCH, GERMAN = " ".join(SENTENCES["nl"]), " ".join(SENTENCES["de"])
PROSE = " ".join(SENTENCES["en"])
SWAHILI = (
    "kivuko kimeanza kazi mwezi wa tano na kinabeba abiria tisini kila siku. daraja jipya"
    " limefunguliwa juu ya mto. wakulima wa bonde wamepoteza nusu ya matunda yao kwa sababu ya"
    " baridi. hakuna anayejua nani alijenga kinu cha zamani kilimani."
)


@pytest.mark.parametrize("code", SENTENCES)
def test_several_sentences(code: str) -> None:
    assert language_of(" ".join(SENTENCES[code])) == code


def test_single_sentences() -> None:
    wrong = {
        sentence: (code, found)
        for code, own in SENTENCES.items()
        for sentence in own
        if (found := language_of(sentence)) != code
    }
    assert len(wrong) <= 7, wrong
    assert max(Counter(code for code, _ in wrong.values()).values()) <= 2
    # A wrong one is of a near relative, or not known: none is English, and no English one is wrong.
    assert not [pair for pair in wrong.values() if ENGLISH in pair]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("", UNKNOWN, id="empty"),
        pytest.param("1,234.5 (2022-05-03) 😀", UNKNOWN, id="numbers"),
        pytest.param("Angela Merkel, Emmanuel Macron", UNKNOWN, id="names"),
        pytest.param("Rio de Janeiro, Los Angeles, La Paz, Den Haag", UNKNOWN, id="places"),
        pytest.param("Les Demoiselles d'Avignon", UNKNOWN, id="title"),
        pytest.param("5 μm, 3 μm", UNKNOWN, id="unit"),
        pytest.param("东", UNKNOWN, id="one letter"),
        pytest.param("It rose.", ENGLISH, id="short English"),
        pytest.param("The war in Die Zeit: women's rights, men's wages.", ENGLISH, id="shared"),
        pytest.param("Charles de Gaulle was the president of France.", ENGLISH, id="a name in it"),
        pytest.param("The word 東京 is the name of a city.", ENGLISH, id="a word in it"),
        pytest.param("A café with crème brûlée by the façade.", ENGLISH, id="loans"),
        pytest.param("東京 Tokyo is the capital of Japan and 大阪 is not.", ENGLISH, id="few Han"),
        pytest.param(
            "iPhone 和 iPad 是苹果公司的产品，在全世界都有很多用户。", "zh", id="few Latin"
        ),
        pytest.param(f"The answer is this: {GERMAN}", "de", id="English opening"),
        pytest.param(f"{PROSE} {SENTENCES['de'][0]}", ENGLISH, id="English, then a quote"),
        pytest.param(f"{DUTCH} {SENTENCES['en'][0]}", "nl", id="Dutch, then a quote"),
        pytest.param(SWAHILI, OTHER, id="not in the table"),
        pytest.param("ཁྱེད་རང་བདེ་མོ་ཡིན་པས། ང་བདེ་པོ་ཡིན།", OTHER, id="script not in the table"),
        pytest.param(f"{PROSE * 20} {DUTCH}", ENGLISH, id="long"),
        pytest.param("\ud800 the end of it", ENGLISH, id="half a character"),
    ],
)
def test_a_text(text: str, code: str) -> None:
    assert language_of(text) == code


@pytest.mark.parametrize(
    ("sentence", "document", "code"),
    [
        pytest.param(SENTENCES["en"][0], PROSE, ENGLISH, id="English"),
        pytest.param("Perch: 90.", PROSE, ENGLISH, id="the document's"),
        pytest.param("Perch: 90.", DUTCH, "nl", id="the document's, Dutch"),
        pytest.param(SENTENCES["nl"][1], "Perch 2022", "nl", id="the sentence's"),
        pytest.param("Die Fähre", "von Perch ist neu", "de", id="of both together"),
        pytest.param("Perch", "90", ENGLISH, id="of neither"),
        pytest.param(SENTENCES["en"][0], DUTCH, "nl+en", id="an English sentence on another"),
        pytest.param(SENTENCES["nl"][1], PROSE, "en+nl", id="another sentence on English"),
        pytest.param(SENTENCES["es"][0], " ".join(SENTENCES["pt"]), "pt", id="near relatives"),
    ],
)
def test_a_pair(sentence: str, document: str, code: str) -> None:
    assert language_of_pair(sentence, document) == code


def test_the_table_is_whole() -> None:
    stems = [own.script for own in LANGUAGES.values() if own.stemmed]
    assert len(stems) == len(set(stems))  # a script has the stems of one language
    for code, own in LANGUAGES.items():
        assert len(code) == 2
        assert all(script_of(letter) == own.script for letter in own.letters)
        shared = [one for one in LANGUAGES.values() if one.script == own.script]
        assert own.words or len(shared) == 1, code
