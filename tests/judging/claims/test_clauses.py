"""Clauses are cut only where each part can stand alone."""

from __future__ import annotations

import pytest

from trecjudge.judging.claims.statements import clauses

# "|" marks what comes out as a clause of its own.
CASES = [
    pytest.param("It rained.", "It rained.", id="one clause"),
    pytest.param(
        "The Gita has 18 chapters, was composed around 200 BCE, and teaches the path of dharma.",
        "The Gita has 18 chapters.|The Gita was composed around 200 BCE."
        "|The Gita teaches the path of dharma.",
        id="predicates in a row",
    ),
    pytest.param(
        "Curie was born in Warsaw and died in Passy; she won two prizes.",
        "Curie was born in Warsaw.|Curie died in Passy.|Curie won two prizes.",
        id="a pronoun gives way to its subject",
    ),
    pytest.param(
        "The firm is small, but its founder is known.",
        "The firm is small.|Its founder is known.",
        id="a subject of its own",
    ),
    pytest.param(
        "Prices rose in May, while wages were flat.",
        "Prices rose in May.|Wages were flat.",
        id="while",
    ),
    pytest.param(
        "The soap, used in hospitals, is mild and has no scent.",
        "The soap, used in hospitals, is mild.|The soap, used in hospitals has no scent.",
        id="a participle between commas is no verb",
    ),
    pytest.param("法律于2020年生效；它有12章。", "法律于2020年生效。|它有12章。", id="Chinese"),
    pytest.param("دخل القانون حيز التنفيذ؛ وله اثنا عشر فصلا.", None, id="Arabic, cut"),
    pytest.param("Закон вступил в силу; в нём 12 глав.", None, id="Russian, cut"),
]
WHOLE = [
    pytest.param("Bread, cheese, and wine are cheap.", id="nouns in a row"),
    pytest.param("Race is shaped by history, law, and facial features.", id="a noun like a verb"),
    pytest.param("Jews and other victims were deported.", id="two subjects, one verb"),
    pytest.param("When it rained, the game stopped, and fans left.", id="hangs on another"),
    pytest.param("The tower is tall (it has lifts; it has 3 floors).", id="inside brackets"),
    pytest.param('He said "it is red; it is mine" again.', id="inside quotes"),
    pytest.param("It fell to 3 %, a tenth of before, and low for May.", id="no second verb"),
    pytest.param("It cuts emissions, while recognizing that costs are high.", id="no subject"),
    pytest.param("Smoking, which causes cancer, is banned and is taxed.", id="which"),
    pytest.param("The report says that prices rose and are still high.", id="what a report says"),
    pytest.param("The book that won the prize and is sold in Oslo has 300 pages.", id="that"),
    pytest.param("It is not a fact but a system that varies and continues.", id="relative clause"),
]


@pytest.mark.parametrize(("sentence", "found"), CASES)
def test_cut(sentence: str, found: str | None) -> None:
    cut = clauses(sentence)
    assert len(cut) == 2 if found is None else cut == found.split("|")


@pytest.mark.parametrize("sentence", WHOLE)
def test_not_cut(sentence: str) -> None:
    assert clauses(sentence) == [sentence]
