"""What a text claims, and what is no claim."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import trecjudge.judging.claims.declining
import trecjudge.judging.claims.statements
import trecjudge.text.sentences
import trecjudge.text.tokens
from tests.steps import steps
from trecjudge.judging.claims.statements import abstains, no_claim, statements

READERS = (
    trecjudge.judging.claims.statements,
    trecjudge.judging.claims.declining,
    trecjudge.judging.claims.statements,
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
    assert len(statements(sentence)) == 1
    assert not abstains(sentence)


def test_openers_are_no_part_of_a_claim() -> None:
    assert statements("Please note that it rose.") == ["It rose."]
    assert statements("We believe that 3 of them rose.") == ["3 of them rose."]
    assert statements("The given texts do not say when, but it rose.") == ["It rose."]
