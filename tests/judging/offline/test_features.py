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


def test_feature() -> None:
    cases = {
        "all there, no more than enough": ("document", "The bridge in Oslo.", 0.7),
        "nothing there": ("document", "Gluons bind quarks.", 0.0),
        "three of four words": ("words", "The bridge in Bergen.", 0.75),
        "another subject": ("beginning", "Quarks opened the bridge.", 0.0),
        "the same subject": ("beginning", "The bridge binds quarks.", 1.0),
        "a part is new": ("weakest_part", "The bridge opened, quarks leapt.", 0.0),
        "none is": ("weakest_part", "The minister opened, critics crossed.", 1.0),
        "in this order": ("neighbours", "opened the bridge", 1.0),
        "in another": ("neighbours", "bridge opened the", 0.5),
        "a run of three": ("run", "opened the bridge", round(math.log(4), 3)),
        "no run": ("run", "Gluons", 0.0),
        "one name of two": ("names", "They met in Oslo and Bergen.", 0.5),
        "no name missing": ("names_missing", "They met in Oslo.", 0.0),
        "two numbers": ("numbers_missing", "It cost 1,500,000 or 7 or 8.", 2.0),
        "at most three": ("numbers_missing", "It cost 1 2 3 4 5.", 3.0),
        "the passage hedges": ("hedge_dropped", "It cost dollars.", 1.0),
        "both hedge": ("hedge_dropped", "It could cost dollars.", 0.0),
        "misquoted": ("quotes_missing", 'They said "we shall cross that bridge".', 1.0),
        "quoted": ("quotes_missing", 'It is "never cross  that Bridge".', 0.0),
        "and, or, and": ("listing", "Cats and dogs or mice and men.", 3.0),
        "24 tokens": ("document_length", "Any.", round(math.log(1 + 24), 3)),
    }
    wrong = {
        case: found
        for case, (name, sentence, value) in cases.items()
        if (found := feature(name, sentence)) != value
    }
    assert not wrong


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


def test_hedged() -> None:
    expected = {
        "Prices could rise.": True,
        "Prices reportedly rose.": True,
        "Цены, возможно, вырастут.": True,
        "Prices rose.": False,
    }
    assert {sentence: read_wording(sentence).hedged for sentence in expected} == expected


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
