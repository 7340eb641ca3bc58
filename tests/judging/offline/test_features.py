from __future__ import annotations

import math

import pytest

from trecjudge.judging.offline.features import GROUPS, Features, Measurements, find
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.wording import read_wording
from trecjudge.text.word_relations import DIRECTED, is_antonym

BRIDGE = (
    "The minister of Norway opened the bridge in Oslo. It may cost 1.5 million dollars, and"
    ' critics said: "We shall never cross that bridge."'
)


def found(sentence: str, document: str = BRIDGE) -> Measurements:
    return find(read_wording(sentence), prepare(document))


def feature(name: str, sentence: str, document: str = BRIDGE) -> float:
    return round(float(getattr(found(sentence, document).features, name)), 3)


@pytest.mark.parametrize(
    ("name", "sentence", "value"),
    [
        pytest.param("document", "The bridge in Oslo.", 0.7, id="all there, no more than enough"),
        pytest.param("document", "Gluons bind quarks.", 0.0, id="nothing there"),
        pytest.param("words", "The bridge in Bergen.", 0.75, id="three of four words"),
        pytest.param("beginning", "Quarks opened the bridge.", 0.0, id="another subject"),
        pytest.param("beginning", "The bridge binds quarks.", 1.0, id="the same subject"),
        pytest.param("weakest_part", "The bridge opened, quarks leapt.", 0.0, id="a part is new"),
        pytest.param("weakest_part", "The minister opened, critics crossed.", 1.0, id="none is"),
        pytest.param("neighbours", "opened the bridge", 1.0, id="in this order"),
        pytest.param("neighbours", "bridge opened the", 0.5, id="in another"),
        pytest.param("run", "opened the bridge", round(math.log(4), 3), id="a run of three"),
        pytest.param("run", "Gluons", 0.0, id="no run"),
        pytest.param("names", "They met in Oslo and Bergen.", 0.5, id="one name of two"),
        pytest.param("names_missing", "They met in Oslo.", 0.0, id="no name missing"),
        pytest.param("numbers_missing", "It cost 1,500,000 or 7 or 8.", 2.0, id="two numbers"),
        pytest.param("numbers_missing", "It cost 1 2 3 4 5.", 3.0, id="at most three"),
        pytest.param("hedge_dropped", "It cost dollars.", 1.0, id="the passage hedges"),
        pytest.param("hedge_dropped", "It could cost dollars.", 0.0, id="both hedge"),
        pytest.param(
            "quotes_missing", 'They said "we shall cross that bridge".', 1.0, id="misquoted"
        ),
        pytest.param("quotes_missing", 'It is "never cross  that Bridge".', 0.0, id="quoted"),
        pytest.param("listing", "Cats and dogs or mice and men.", 3.0, id="and, or, and"),
        pytest.param("document_length", "Any.", round(math.log(1 + 24), 3), id="24 tokens"),
    ],
)
def test_feature(name: str, sentence: str, value: float) -> None:
    assert feature(name, sentence) == value


def test_a_passage_counts_less_than_the_document_if_words_are_scattered() -> None:
    filler = "Nothing of interest happened here. " * 5
    scattered = f"Gluons. {filler} Bind. {filler} Quarks."
    assert feature("passage", "Gluons bind quarks.", scattered) < 0.5
    assert feature("document", "Gluons bind quarks.", scattered) == 0.7


@pytest.mark.parametrize(
    ("sentence", "document", "differs"),
    [
        ("Exports rose in spring.", "Exports fell in spring.", True),
        ("Exports rose in spring.", "Exports grew in spring.", False),
        ("Exports rose in spring.", "Exports rose in spring after they fell.", False),
        ("The city banned cars.", "The city allowed cars.", True),
        ("It opened before the war.", "It opened after the war.", False),
        ("Exports rose to a record in Norway.", "Cats fell.", False),
    ],
    ids=["rise, fall", "synonym", "both there", "ban, allow", "a converse", "no near copy"],
)
def test_direction(sentence: str, document: str, differs: bool) -> None:
    assert found(sentence, document).direction_differs is differs
    assert found(sentence, document).features.turned == differs


def test_every_feature_is_in_one_group() -> None:
    named = [name for names in GROUPS.values() for name in names]
    assert sorted(named) == sorted(Features._fields)


@pytest.mark.parametrize(
    ("form", "others", "denied"),
    [
        ("rise", {"fall"}, True),
        ("fall", {"increas"}, True),
        ("rise", {"grow"}, False),
        ("tower", {"fall"}, False),
        ("rais", {"cut"}, True),
    ],
    ids=["rise, fall", "fall, increase", "one direction", "no direction", "raise, cut"],
)
def test_opposed(form: str, others: set[str], denied: bool) -> None:
    assert is_antonym(form, others) is denied


def test_no_word_denies_itself() -> None:
    assert [form for form in DIRECTED if is_antonym(form, {form})] == []


@pytest.mark.parametrize(
    ("sentence", "hedged"),
    [
        ("Prices could rise.", True),
        ("Prices reportedly rose.", True),
        ("Цены, возможно, вырастут.", True),
        ("Prices rose.", False),
    ],
)
def test_hedged(sentence: str, hedged: bool) -> None:
    assert read_wording(sentence).hedged is hedged


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        pytest.param("Gluons bind quarks.", ["Gluons bind quarks"], id="one"),
        pytest.param("Gluons bind, quarks leap.", ["Gluons bind", "quarks leap"], id="comma"),
        pytest.param("Gluons bind and quarks leap.", ["Gluons bind", "quarks leap"], id="and"),
        pytest.param("It cost 1,500 crowns.", ["cost 1,500 crowns"], id="no comma of a number"),
        pytest.param("Yes, it is, and so on.", [], id="nothing of weight"),
        pytest.param("夸克结合，胶子跳跃。", ["夸克 克结 结合", "胶子 子跳 跳跃"], id="Chinese"),
    ],
)
def test_parts(sentence: str, parts: list[str]) -> None:
    claim = read_wording(sentence)
    terms = [[claim.terms[index] for index in part] for part in claim.parts]
    written = [[sentence[t.start : t.end] for t in part if t.weight > 0.3] for part in terms]
    assert [" ".join(words) for words in written] == parts
