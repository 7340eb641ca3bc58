"""The model detector, and cascades."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.fakes import ScriptedModel
from tests.judging.claims.test_judge import library
from trecjudge.errors import JudgmentFailed
from trecjudge.judging.claims.by_model import Cascade, ModelDetector
from trecjudge.judging.claims.by_words import LexicalDetector
from trecjudge.judging.claims.search import Library, Verdict
from trecjudge.records import Claim
from trecjudge.text.embeddings import embedder

TEXT = "Steam forced through a gap makes a kettle whistle. It was sold in Lyon."


def says(verdict: str, *quotes: str, match: str = "NONE") -> ScriptedModel:
    fields = {"verdict": verdict, "quotes": [*quotes], "match": match, "reason": "So."}
    return ScriptedModel(lambda inputs: fields)


def asked(model: ScriptedModel, claim: str, documents: Library, **limits: int) -> Verdict:
    return asyncio.run(ModelDetector(model, **limits).verdict(claim, documents))


VERDICTS = {
    "a quote that is there": (
        says("ATTRIBUTED", "makes a kettle whistle", match="PARAPHRASE"),
        "ATTRIBUTED",
        "PARAPHRASE",
    ),
    "exact is checked": (
        says("ATTRIBUTED", "It was  SOLD in Lyon", match="EXACT"),
        "ATTRIBUTED",
        "PARAPHRASE",
    ),
    "it follows": (
        says("ATTRIBUTED", "It was sold in Lyon", match="INFERENCE"),
        "ATTRIBUTED",
        "INFERENCE",
    ),
    "a quote that is not there": (says("ATTRIBUTED", "made up"), "AMBIGUOUS", ""),
    "no quote": (says("ATTRIBUTED"), "AMBIGUOUS", ""),
    "contradicted by nothing": (says("CONTRADICTED", "made up"), "AMBIGUOUS", ""),
    "contradicted": (says("CONTRADICTED", "sold in Lyon"), "CONTRADICTED", ""),
    "unattributed": (says("UNATTRIBUTED"), "UNATTRIBUTED", ""),
    "ambiguous": (says("AMBIGUOUS"), "AMBIGUOUS", ""),
}


@pytest.mark.parametrize(("model", "label", "match"), VERDICTS.values(), ids=VERDICTS)
def test_verdict(model: ScriptedModel, label: str, match: str) -> None:
    found = asked(model, "A kettle was sold.", library(TEXT))
    assert (found.label, found.match) == (label, match)
    assert ("evidence_not_found" in found.reason) == (
        label == "AMBIGUOUS" and model.answer({})["verdict"] != "AMBIGUOUS"
    )


def test_quotes_of_two_documents_are_an_inference() -> None:
    model = says("ATTRIBUTED", "works at Acme", "Acme is in Paris", match="PARAPHRASE")
    found = asked(
        model, "Alice works in Paris.", library("Alice works at Acme.", "Acme is in Paris.")
    )
    assert (found.match, [s.doc_id for s in found.sources]) == ("INFERENCE", ["d0", "d1"])


def test_short_documents_are_given_whole() -> None:
    model = says("UNATTRIBUTED")
    asked(model, "A claim.", library("One.", "Two."))
    assert model.asked == [
        {"passages": "Document 1:\nOne.\nDocument 2:\nTwo.", "claim": "A claim."}
    ]


def filler(count: int) -> str:
    return " ".join(f"Sentence {n} is about grain." for n in range(count))


def test_of_long_documents_the_likely_passages_are_given() -> None:
    model = says("ATTRIBUTED", "a kettle whistle")
    found = asked(
        model, "Steam makes a kettle whistle.", library(filler(500) + TEXT), characters=1000
    )
    (inputs,) = model.asked
    assert TEXT[:50] in inputs["passages"]
    assert len(inputs["passages"]) < 1300
    assert found.label == "ATTRIBUTED"


def test_likely_passages_are_read_until_one_decides() -> None:
    def answer(inputs: Mapping[str, str]) -> Mapping[str, Any]:
        last = "kettle 7 " in inputs["passages"]
        quotes = ["kettle 7 "] if last else []
        verdict = "ATTRIBUTED" if last else "UNATTRIBUTED"
        return {"verdict": verdict, "quotes": quotes, "match": "NONE", "reason": ""}

    texts = [f"The kettle {n} whistles. {filler(60)}" for n in range(8)]
    model = ScriptedModel(answer)
    found = asked(model, "The kettle whistles.", library(*texts), characters=1000, rounds=9)
    assert found.label == "ATTRIBUTED"
    assert len(model.asked) > 1
    with pytest.raises(JudgmentFailed, match=r"were not read: raise `rounds`") as failed:
        asked(model, "The kettle whistles.", library(*texts), characters=1000, rounds=1)
    assert failed.value.kind == "not_read"


def test_where_no_passage_is_likely_one_call_is_enough() -> None:
    model = says("UNATTRIBUTED")
    text = filler(500).replace("grain", "steam")
    claim = "Steam makes the copper kettle of Antoine whistle in Lyon."
    found = asked(model, claim, library(text), characters=1000)
    assert (found.label, len(model.asked)) == ("UNATTRIBUTED", 1)


def test_without_a_document_nothing_is_asked() -> None:
    model = says("ATTRIBUTED")
    assert asked(model, "A claim.", library()).label == "UNATTRIBUTED"
    assert model.asked == []


def test_documents_in_another_script_are_given_to_a_model() -> None:
    model = says("UNATTRIBUTED")
    asked(model, "Moscow is large.", library("Москва велика. " * 300), characters=1000, rounds=20)
    assert all("Москва" in inputs["passages"] for inputs in model.asked)
    assert len(model.asked) > 3


def test_a_cascade_asks_only_what_is_not_sure() -> None:
    model = says("UNATTRIBUTED")
    row = Cascade([LexicalDetector()], ModelDetector(model))
    sure = asyncio.run(row.verdict("It was sold in Lyon.", library(TEXT)))
    assert (sure.label, sure.detector, sure.usage.spared) == ("ATTRIBUTED", "lexical", 1)
    assert model.asked == []
    rest = asyncio.run(row.verdict("Steam makes copper kettles boil in Lyon.", library(TEXT)))
    assert (rest.label, rest.detector, rest.usage.spared) == ("UNATTRIBUTED", "llm", 0)
    assert len(model.asked) == 1


def test_where_no_model_would_be_asked_none_is_spared() -> None:
    row = Cascade([LexicalDetector()], LexicalDetector(0.5))
    found = asyncio.run(row.verdict("It was sold in Lyon.", library(TEXT)))
    assert (found.label, found.usage.spared) == ("ATTRIBUTED", 0)


def test_what_words_cannot_compare_goes_on_to_the_model() -> None:
    model = says("ATTRIBUTED", "Москва велика")
    row = Cascade([LexicalDetector()], ModelDetector(model))
    assert asyncio.run(row.verdict("Moscow is large.", library("Москва велика."))).detector == "llm"


def test_passages_are_looked_for_by_meaning_where_the_extra_is_installed() -> None:
    pytest.importorskip("wordllama", reason="the extra `semantic` is not installed")
    model = says("UNATTRIBUTED")
    text = filler(300) + " The physician could not heal the children. " + filler(300)
    detector = ModelDetector(model, characters=1000, embedder=embedder())
    asyncio.run(detector.verdict("A doctor was unable to cure kids.", library(text)))
    assert "physician" in model.asked[0]["passages"]


@pytest.mark.parametrize(
    ("claim", "quotes", "label"),
    [
        pytest.param("The army has 99 divisions.", ["the"], "AMBIGUOUS", id="one function word"),
        pytest.param("The army has 99 divisions.", ["of the"], "AMBIGUOUS", id="two"),
        pytest.param("The army has 99 divisions.", ["."], "AMBIGUOUS", id="a stop"),
        pytest.param("The army has 99 divisions.", ["e"], "AMBIGUOUS", id="a letter of a word"),
        pytest.param("The army has 99 divisions.", ["army has 18"], "AMBIGUOUS", id="other number"),
        pytest.param("The army has 18 divisions.", ["army has 18"], "ATTRIBUTED", id="there"),
        pytest.param("The army has divisions.", ["army", "made up"], "AMBIGUOUS", id="one is not"),
        pytest.param(
            "The army has divisions.", ["of the", "army has"], "ATTRIBUTED", id="one says"
        ),
    ],
)
def test_a_quote_must_have_content(claim: str, quotes: list[str], label: str) -> None:
    text = "the army of the king has 18 divisions and the navy has 5 ships. The army has 18 men."
    assert asked(says("ATTRIBUTED", *quotes), claim, library(text)).label == label


@pytest.mark.parametrize(
    ("cited", "open_"), [((), False), (("d0",), True)], ids=["uncited", "cited"]
)
def test_a_long_document_in_another_script_shields_no_claim_that_does_not_cite_it(
    cited: tuple[str, ...], open_: bool
) -> None:
    both = library("Москва велика. " * 500, TEXT).of_claim(Claim(0, "Tin shines.", 0, cited))
    model = says("UNATTRIBUTED")
    if open_:
        with pytest.raises(JudgmentFailed, match="were not read"):
            asked(model, "Tin shines.", both, characters=500, rounds=2)
    else:
        assert asked(model, "Tin shines.", both, characters=500, rounds=2).label == "UNATTRIBUTED"


def test_documents_carried_without_text_cost_no_call() -> None:
    model = says("ATTRIBUTED", "x")
    found = asked(model, "Tin shines.", Library([], hollow=["z"]))
    assert (found.label, found.reason) == ("UNATTRIBUTED", "no document; carried without text: z")
    assert model.asked == []


PARAPHRASES = [
    ("CONTRADICTED", "Nobody was hurt.", "Two workers died in the fire."),
    ("CONTRADICTED", "The talks were a success.", "Negotiations collapsed within hours."),
    ("CONTRADICTED", "The bridge is closed.", "Traffic crosses freely."),
    ("CONTRADICTED", "She never left Norway.", "In 1911 Solberg emigrated to Chile."),
    ("CONTRADICTED", "The species is common.", "Only three pairs survive."),
    ("CONTRADICTED", "He accepted the prize.", "They did not."),
    ("CONTRADICTED", "The firm is solvent.", "It filed for bankruptcy on Monday."),
    ("CONTRADICTED", "The tower has 99 floors.", "The tower has 18 floors."),
    ("CONTRADICTED", "Niemand wurde verletzt.", "Zwei Arbeiter kamen ums Leben."),
    ("CONTRADICTED", "Personne n'a été blessé.", "Deux ouvriers sont morts."),
    ("CONTRADICTED", "无人受伤。", "两名工人死亡。"),
    ("CONTRADICTED", "Никто не пострадал.", "Двое рабочих погибли."),
    ("CONTRADICTED", "لم يصب أحد", "توفي عاملان في الحريق"),
    ("CONTRADICTED", "Nobody was hurt.", "Двое рабочих погибли."),
    ("ATTRIBUTED", "Unemployment fell.", "More people found jobs."),
    ("ATTRIBUTED", "He was a physician.", "Kumar practised medicine."),
    ("ATTRIBUTED", "The project was cheap.", "It cost next to nothing."),
    ("ATTRIBUTED", "13 people came.", "More than a dozen showed up."),
    ("ATTRIBUTED", "It opened in 2023.", "The doors were opened last year."),
    ("ATTRIBUTED", "50 % of the crew left.", "Half of the sailors quit."),
    ("ATTRIBUTED", "The course is 42 km.", "Runners cover a marathon."),
    ("ATTRIBUTED", "He was 41 in 2020.", "Born in 1979, he still lives there."),
    ("ATTRIBUTED", "Der Preis stieg.", "Es wurde teurer."),
    ("ATTRIBUTED", "El rey murió.", "Falleció el monarca."),
    ("ATTRIBUTED", "人口减少了。", "居民比以前少。"),
    ("ATTRIBUTED", "The mayor resigned.", "El alcalde dimitió."),
]


@pytest.mark.parametrize(("label", "claim", "quote"), PARAPHRASES)
def test_a_verdict_with_a_quote_in_other_words_is_kept(label: str, claim: str, quote: str) -> None:
    model = says(label, quote)
    assert asked(model, claim, library(f"{quote} The harbour lay still.")).label == label


def test_a_number_that_the_quote_lacks_is_noted() -> None:
    model = says("ATTRIBUTED", "More than a dozen showed up")
    found = asked(model, "13 people came.", library("More than a dozen showed up."))
    assert found.reason == "So. (not in what was quoted: '13 people')"
