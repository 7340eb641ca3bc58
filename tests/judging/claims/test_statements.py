"""Which parts of an answer are claims, how they are cut, and what a model may list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import trecjudge.judging.claims.clauses
import trecjudge.judging.claims.declining
import trecjudge.judging.claims.parts
import trecjudge.judging.claims.statements
import trecjudge.text.sentences
import trecjudge.text.tokens
from tests.fakes import ScriptedModel, response
from tests.steps import steps
from trecjudge.errors import JudgmentFailed
from trecjudge.judging.claims.clauses import clauses
from trecjudge.judging.claims.program import ClaimOfSentence
from trecjudge.judging.claims.statements import (
    abstains,
    claims_by_model,
    claims_by_rules,
    no_claim,
    statements,
)
from trecjudge.records import Claim, Response

READERS = (
    trecjudge.judging.claims.statements,
    trecjudge.judging.claims.declining,
    trecjudge.judging.claims.clauses,
    trecjudge.judging.claims.parts,
    trecjudge.text.sentences,
    trecjudge.text.tokens,
)


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        pytest.param("Is it red?", "question", id="question"),
        pytest.param("它是红色的吗？", "question", id="Chinese question"),
        pytest.param("هل هذا صحيح؟", "question", id="Arabic question"),
        pytest.param("## Causes", "heading", id="marked heading"),
        pytest.param("**Causes of the war**", "heading", id="bold heading"),
        pytest.param("## How kettles are made", "heading", id="what a heading asks"),
        pytest.param("## The war was long", None, id="a sentence dressed as a heading"),
        pytest.param("**The war was long.**", None, id="and in bold"),
        pytest.param("The causes were:", "heading", id="what opens a list"),
        pytest.param("Rising Cancer Rates", "heading", id="a title without a stop"),
        pytest.param("I think it is a pity.", "opinion", id="opinion"),
        pytest.param("In my opinion, it failed.", "opinion", id="in my opinion"),
        pytest.param("This report covers two wars.", "about_the_answer", id="the report itself"),
        pytest.param("Here is a summary.", "about_the_answer", id="here is"),
        pytest.param("I don't have that information.", "abstention", id="abstention"),
        pytest.param("The provided documents do not say when.", "abstention", id="not in them"),
        pytest.param("Yes.", "too_short", id="one word"),
        pytest.param("The war ended in 1953.", None, id="a claim"),
        pytest.param("The war ended in 1953 [3]", None, id="a claim without a stop"),
        pytest.param("There is no evidence that it harms.", None, id="a claim that denies"),
        pytest.param("Столица России — Москва.", None, id="Russian"),
        pytest.param("东京是日本的首都。", None, id="Chinese"),
    ],
)
def test_no_claim(sentence: str, why: str | None) -> None:
    assert no_claim(sentence) == why


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        pytest.param("It rose.[1] It fell [2].", ["It rose.", "It fell."], id="citation marks"),
        pytest.param("- **Lung:** It kills.", ["Lung: It kills."], id="layout"),
        pytest.param("Based on the provided sources, it rose.", ["It rose."], id="lead-in"),
        pytest.param("], and it rose,,.", ["And it rose."], id="remains of citations"),
        pytest.param("东京很大。它是首都。", ["东京很大。", "它是首都。"], id="Chinese"),
        pytest.param("Он уехал. Она осталась.", ["Он уехал.", "Она осталась."], id="Russian"),
        pytest.param("سافر الرجل. بقيت المرأة.", ["سافر الرجل.", "بقيت المرأة."], id="Arabic"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_statements(text: str, claims: list[str]) -> None:
    assert statements(text) == claims


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("I don't have that information.", True, id="declines"),
        pytest.param("I cannot answer this question. Is there more?", True, id="and asks back"),
        pytest.param("The documents do not mention this.", True, id="the documents"),
        pytest.param("It cannot be determined from the documents.", True, id="cannot be"),
        pytest.param("This question is unanswerable.", True, id="unanswerable"),
        pytest.param("Sorbitol is not mentioned in the documents.", True, id="is not mentioned"),
        pytest.param("The answer is not in the documents.", True, id="is not in"),
        pytest.param("I'm sorry, but the passages say nothing about this.", True, id="nothing"),
        pytest.param("The texts do not say who, when, or why it was built.", True, id="or why"),
        pytest.param("Unfortunately, the sources do not say.", True, id="unfortunately"),
        pytest.param("The given context does not contain the answer.", True, id="given context"),
        pytest.param("无法回答这个问题。", True, id="Chinese"),
        pytest.param("У меня нет информации.", True, id="Russian"),
        pytest.param("لا أملك معلومات عن ذلك.", True, id="Arabic"),
        pytest.param("Ich weiß es nicht.", True, id="German"),
        pytest.param("I don't have the date. The war was long.", False, id="claims something too"),
        pytest.param("The war was long.", False, id="answers"),
        pytest.param("", False, id="nothing at all"),
    ],
)
def test_abstains(text: str, wanted: bool) -> None:
    assert abstains(text) is wanted


@pytest.mark.parametrize(
    ("text", "agreed"),
    [
        pytest.param("The passages are about another war, not this question.", True, id="loosely"),
        pytest.param("I cannot say. More than that I was not given.", True, id="and goes on"),
        pytest.param("The documents do not say. The war was long.", False, id="in part"),
        pytest.param("The war was not long.", False, id="a claim that denies"),
        pytest.param("Is it so?", False, id="a question"),
        pytest.param("", False, id="nothing at all"),
    ],
)
def test_less_will_do_where_nobody_else_finds_a_claim(text: str, agreed: bool) -> None:
    assert abstains(text, agreed=True) is agreed


def test_what_stands_beside_an_abstention() -> None:
    cases = {
        "leans on its opener": (
            "Based on the given texts, it is not possible to say, but it rose.",
            ["It rose."],
        ),
        "before it": (
            "The agency classifies it as a Group 1 carcinogen, but the texts do not say why.",
            ["The agency classifies it as a Group 1 carcinogen"],
        ),
        "after it": (
            "While the texts do not say when, general risks depend on the dose.",
            ["General risks depend on the dose."],
        ),
        "an opener claims nothing": ("As an AI language model, I cannot answer this question.", []),
    }
    wrong = {
        name: found
        for name, (sentence, claims) in cases.items()
        if (found := statements(sentence)) != claims
    }
    assert not wrong


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(lambda n: "a" + " " * n + "b.", id="spaces"),
        pytest.param(lambda n: "a" + "," * n + "b.", id="commas"),
        pytest.param(lambda n: "a" + "." * n + "b.", id="stops"),
        pytest.param(lambda n: "a, is " * n, id="predicates"),
        pytest.param(lambda n: "a and b is c, " * n, id="predicates in rows"),
        pytest.param(lambda n: "a" * 10 * n + " is b, is c" * n, id="predicates of a long subject"),
        pytest.param(lambda n: "a; " * n, id="words behind semicolons"),
        pytest.param(lambda n: "a " + "; " * n, id="semicolons"),
        pytest.param(lambda n: "a;which" * n, id="semicolons without spaces"),
        pytest.param(lambda n: "it is so, and " * n, id="conjunctions"),
        pytest.param(lambda n: "(" * n + "a, and b" + ")" * n, id="brackets"),
        pytest.param(lambda n: "**" + " " * n + "x", id="emphasis"),
        pytest.param(lambda n: "the provided " * n + "end.", id="words of an abstention"),
        pytest.param(lambda n: "the documents do not say, " * n, id="abstentions"),
        pytest.param(lambda n: "Based on the texts, " * n + "it is so.", id="openers"),
        pytest.param(lambda n: "not in the given " * n, id="sources"),
        pytest.param(lambda n: "no relevant " * n, id="lack"),
        pytest.param(lambda n: "не в документах " * n, id="Russian"),
        pytest.param(lambda n: "没有文档" * n, id="Chinese"),
        pytest.param(lambda n: "[1] " * n, id="citation marks"),
        pytest.param(lambda n: "> " * n + "a", id="layout"),
        pytest.param(lambda n: "A. \n" * n, id="lines"),
    ],
)
def test_twice_the_text_takes_twice_the_steps(text: Callable[[int], str]) -> None:
    once, twice = (steps(statements, text(n), *READERS) for n in (120, 240))
    assert twice <= 2.2 * once


@pytest.mark.parametrize(
    "sentence",
    [
        "We recommend 5000 mg of aspirin every hour.",
        "We believe that aspirin cures cancer in 95% of patients.",
        "Please note that children can take aspirin.",
        "Certainly, children can take aspirin.",
        "The provided sources do not mention adults, but children can take aspirin.",
        "While the context does not give details, the drug is safe for children.",
        "Although the documents do not mention children, 500 mg a day is safe for them.",
        "These sources do not mention the liver, and 500 mg a day is safe for children.",
        "The passages do not state this: the drug is safe for children.",
        "- Children take aspirin every hour",
        "Population: 2 million",
        "There is no evidence in the available data that vaccines cause autism.",
        "We did not find evidence of a link between the two.",
        "The given data do not follow a normal distribution.",
        "The report was published in 2010 by the WHO.",
        "The answer was given by Einstein in 1905.",
        "科学家无法确定恐龙灭绝的原因。",
        "他说我没有偷钱。",
        "Учёные не знают точной причины.",
        "В данных странах нет выхода к морю.",
        "لا يوجد دليل على الحياة في المريخ، وفق بيانات ناسا.",
    ],
)
def test_what_can_be_false_is_a_claim(sentence: str) -> None:
    assert statements(sentence)
    assert not abstains(sentence)


def test_openers_are_no_part_of_a_claim() -> None:
    assert statements("Please note that it rose.") == ["It rose."]
    assert statements("We believe that 3 of them rose.") == ["3 of them rose."]
    assert statements("The given texts do not say when, but it rose.") == ["It rose."]


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


ANSWER = response(
    ("The army has 18 divisions and has no navy [1].", ["a", "b"]),
    ("Is that so?", []),
    ("It was founded in 1860.", ["b"]),
)


def entry(claim: str, sentence: int = 0, importance: str = "vital") -> dict[str, Any]:
    return {"sentence": sentence, "claim": claim, "importance": importance}


def by_model(answer: Response, *entries: Any) -> list[Claim]:
    return asyncio.run(claims_by_model(answer, ScriptedModel(lambda _: {"claims": [*entries]})))


def test_by_rules_clauses_have_the_place_and_the_citations_of_their_sentence() -> None:
    assert claims_by_rules(ANSWER) == [
        Claim(0, "The army has 18 divisions.", 0, ("a", "b")),
        Claim(1, "The army has no navy.", 0, ("a", "b")),
        Claim(2, "It was founded in 1860.", 2, ("b",)),
    ]


def test_a_citation_of_no_document_is_none() -> None:
    assert claims_by_rules(response(("It is red.", [])))[0].cited == ()


def test_by_a_model_with_importance() -> None:
    found = by_model(
        ANSWER, entry("The army has 18 divisions.", 0), entry("It is old.", 2, "detail")
    )
    assert [(c.index, c.sentence_index, c.importance) for c in found[:1]] == [(0, 0, 1.0)]


def test_the_model_may_give_objects_too() -> None:
    made = ClaimOfSentence(sentence=2, claim="The army was founded in 1860.", importance="detail")
    (found,) = by_model(ANSWER, made)
    assert (found.sentence_index, found.cited, found.importance) == (2, ("b",), 0.5)


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        pytest.param(2, 2, id="as it says"),
        pytest.param(9, 2, id="a sentence that is not there"),
        pytest.param(-1, 2, id="below nought"),
    ],
)
def test_a_wrong_sentence_is_repaired(sentence: int, place: int) -> None:
    (found,) = by_model(ANSWER, entry("It was founded in 1860.", sentence))
    assert found.sentence_index == place


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([], id="no claim"),
        pytest.param([entry("")], id="an empty one"),
        pytest.param([entry("Elephants are blue.")], id="one of its own"),
    ],
)
def test_a_list_that_has_nothing_of_the_response_fails(entries: list[Any]) -> None:
    with pytest.raises(JudgmentFailed, match="rules find 3") as failed:
        by_model(ANSWER, *entries)
    assert failed.value.kind == "empty"


def test_of_what_declines_a_model_may_list_nothing() -> None:
    cases = [
        "I don't have that information.",
        "None of the supplied documents say when the bridge was built.",
        "What the passages tell is not what this question asks for.",
    ]
    wrong = [text for text in cases if by_model(response((text, []))) != []]
    assert not wrong


def test_an_answer_that_declines_in_part_has_claims() -> None:
    with pytest.raises(JudgmentFailed, match="rules find 1"):
        by_model(response(("The sources do not say when. The bridge is 40 m long.", [])))


def test_without_text_nothing_is_asked() -> None:
    model = ScriptedModel(lambda _: pytest.fail("asked"))
    assert asyncio.run(claims_by_model(response((" ", [])), model)) == []


def test_what_the_model_sees_is_numbered_and_bare() -> None:
    model = ScriptedModel(lambda _: {"claims": [entry("The army has 18 divisions.")]})
    asyncio.run(claims_by_model(ANSWER, model))
    assert model.asked[0]["response"].splitlines() == [
        "[0] The army has 18 divisions and has no navy.",
        "[1] Is that so?",
        "[2] It was founded in 1860.",
    ]
