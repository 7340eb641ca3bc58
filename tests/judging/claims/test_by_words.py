"""Claims judged by words: in any script, with facts, and against each other."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import response
from tests.judging.claims.test_judge import library
from trecjudge.errors import JudgmentFailed
from trecjudge.judging.claims.by_words import (
    LexicalDetector,
    SemanticDetector,
    contradiction,
    missing_numbers,
    states_plainly,
)
from trecjudge.judging.claims.judge import facts_found, facts_of
from trecjudge.judging.claims.search import Library, Verdict
from trecjudge.judging.claims.statements import abstains, statements
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import compare, format_calibration, shipped_calibration
from trecjudge.records import Claim, Document
from trecjudge.text.embeddings import embedder
from trecjudge.text.quotes import find_quote_span

GITA = (
    "The Bhagavad Gita is a Hindu scripture of 700 verses. It is divided into 18 chapters."
    " It is part of the epic Mahabharata."
)
CALIBRATION = shipped_calibration()


def verdict(claim: str, *texts: str) -> Verdict:
    return asyncio.run(LexicalDetector().verdict(claim, library(*texts)))


VERDICTS = {
    "stated": ("The Gita has 18 chapters.", [GITA], "ATTRIBUTED", "PARAPHRASE"),
    "not stated": ("The Gita was composed around 200 BCE.", [GITA], "UNATTRIBUTED", ""),
    "word for word": ("It is divided into 18 chapters.", [GITA], "ATTRIBUTED", "EXACT"),
    "colour": ("The ferry is blue.", ["The ferry is red."], "CONTRADICTED", ""),
    "the telling word is missing": (
        "The ferry from Dover to Calais is blue.",
        ["The ferry from Dover to Calais is empty."],
        "UNATTRIBUTED",
        "",
    ),
    "another of its kind": (
        "The firm in Dover sold the big old mine.",
        ["The firm in Dover bought the big old mine."],
        "UNATTRIBUTED",
        "",
    ),
    "only function words": (
        "It was what it had been.",
        ["What was it? It had been."],
        "UNATTRIBUTED",
        "",
    ),
    "3 cups": ("Add 3 cups of flour [1].", ["Add 2 cups of flour."], "CONTRADICTED", ""),
    "the contrary": (
        "The drug causes cancer.",
        ["The drug does not cause cancer."],
        "CONTRADICTED",
        "",
    ),
    "documents disagree": (
        "Add 3 cups of flour.",
        ["Add 2 cups of flour.", "Then add the 3 cups of flour to it."],
        "AMBIGUOUS",
        "",
    ),
    "documents disagree, one word for word": (
        "Add 3 cups of flour.",
        ["Add 2 cups of flour.", "Add 3 cups of flour."],
        "AMBIGUOUS",
        "",
    ),
    "two documents together": (
        "Alice works in Paris.",
        ["Alice works at Acme Robotics.", "Acme Robotics has its only office in Paris."],
        "ATTRIBUTED",
        "INFERENCE",
    ),
    "two documents that do not hang together": (
        "Alice works in Paris.",
        ["Alice works at Acme Robotics.", "Bob sleeps in Paris."],
        "UNATTRIBUTED",
        "",
    ),
    "true, not there": ("Water boils at 100 degrees.", [GITA], "UNATTRIBUTED", ""),
    "name": ("The tower of Pisa leans.", ["The tower of Rome leans."], "UNATTRIBUTED", ""),
    "no document at all": ("A claim.", [], "UNATTRIBUTED", ""),
    "zh": ("东京是日本的首都。", ["日本的首都是东京，人口众多。"], "ATTRIBUTED", "PARAPHRASE"),
    "ru": ("Москва — столица России.", ["Столица России — Москва."], "ATTRIBUTED", "PARAPHRASE"),
    "ar": ("القاهرة عاصمة مصر.", ["عاصمة مصر هي القاهرة."], "ATTRIBUTED", "PARAPHRASE"),
}


@pytest.mark.parametrize(("claim", "texts", "label", "match"), VERDICTS.values(), ids=VERDICTS)
def test_verdict(claim: str, texts: list[str], label: str, match: str) -> None:
    found = verdict(claim, *texts)
    assert (found.label, found.match) == (label, match)


def test_a_source_is_found_where_it_stands() -> None:
    (source,) = verdict("The Gita has 18 chapters.", GITA).sources
    assert GITA[source.start : source.end] == source.excerpt
    assert "18 chapters" in source.excerpt
    assert (source.doc_id, source.similarity) == ("d0", pytest.approx(0.95, abs=0.05))


def test_the_end_of_a_long_document_is_read() -> None:
    long = "Nothing of it stands here. " * 2000
    assert verdict("The Gita has 18 chapters.", f"{long} {GITA}").label == "ATTRIBUTED"


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        pytest.param(Document("x"), "no_document_text", id="without text"),
        pytest.param(Document("x", "Столица России."), "script", id="another script"),
    ],
)
def test_what_cannot_be_read_leaves_a_claim_unjudged_unless_it_is_found(
    document: Document, kind: str
) -> None:
    unread = [document.doc_id] if not document.text else []
    documents = [Document("d", GITA), *([document] if document.text else [])]
    both = Library(documents, unread)
    found = asyncio.run(LexicalDetector().verdict("The Gita has 18 chapters.", both))
    assert found.label == "ATTRIBUTED"
    with pytest.raises(JudgmentFailed) as failed:
        asyncio.run(LexicalDetector().verdict("Water boils.", both))
    assert failed.value.kind == kind


@pytest.mark.parametrize(
    ("claim", "sure"),
    [
        pytest.param("It is divided into 18 chapters.", True, id="word for word"),
        pytest.param("Gluons bind quarks.", True, id="nothing of it"),
        pytest.param("The Gita is part of the Mahabharata.", False, id="in two sentences"),
        pytest.param("The Gita teaches the path of dharma.", False, id="some of it"),
    ],
)
def test_it_knows_where_it_is_sure(claim: str, sure: bool) -> None:
    detector = LexicalDetector()
    assert detector.is_sure(claim, verdict(claim, GITA), library(GITA)) is sure


def test_the_semantic_detector_goes_by_meaning_but_numbers_must_be_there() -> None:
    pytest.importorskip("wordllama", reason="the extra `semantic` is not installed")
    text = "The physician was unable to heal the 3 children. " + GITA
    both = library(text)
    detector = SemanticDetector(threshold=0.5, embedder=embedder())
    found = asyncio.run(detector.verdict("The doctor could not cure the 3 kids.", both))
    assert (found.label, found.detector) == ("ATTRIBUTED", "semantic")
    assert found.sources[0].similarity is not None
    other = asyncio.run(detector.verdict("The doctor could not cure the 4 kids.", both))
    assert other.label == "UNATTRIBUTED"


def test_what_a_passage_states_plainly() -> None:
    cases = {
        "so": ("The vaccine is safe.", "The vaccine is safe for all.", True),
        "myth": ("The vaccine is safe.", "It's a myth that the vaccine is safe.", False),
        "said": ("The vaccine is safe.", "Some claim that the vaccine is safe.", False),
        "denied": ("The vaccine is safe.", "The vaccine is not safe.", False),
        "another order": ("Ada taught Ben.", "Ben taught Ada.", False),
        "another word": ("The court freed him.", "The court jailed him.", False),
        "numbers": ("52 voted for, 48 against.", "48 voted for, 52 against.", False),
    }
    wrong = {
        name: found
        for name, (claim, passage, plainly) in cases.items()
        if (found := states_plainly(passage, claim)) is not plainly
    }
    assert not wrong


@pytest.mark.parametrize("cited", [(), ("d1",)], ids=["uncited", "cited"])
def test_the_semantic_detector_too_is_shielded_only_by_what_is_cited(
    cited: tuple[str, ...],
) -> None:
    pytest.importorskip("wordllama", reason="the extra `semantic` is not installed")
    both = library(GITA, "Столица России.").of_claim(Claim(0, "Water boils.", 0, cited))
    detector = SemanticDetector(embedder=embedder())
    if cited:
        with pytest.raises(JudgmentFailed, match="another script"):
            asyncio.run(detector.verdict("Water boils.", both))
    else:
        assert asyncio.run(detector.verdict("Water boils.", both)).label == "UNATTRIBUTED"


HATCH = (
    "The Hatch Shell in Boston was built in 1940. Its dome was restored by a firm, which replaced"
    " the cracked panels after a laser scan. Concerts are held there every summer."
)


LABELS = {
    "in other words": (
        "In Boston, cracked panels of the old dome were exchanged by experts, once a scan with"
        " a laser had shown where.",
        [HATCH],
        "ATTRIBUTED",
    ),
    "a part of it": (
        "The dome of the Hatch Shell was restored after a laser scan, and the works were paid"
        " by a rich merchant from Chicago who loved opera.",
        [HATCH],
        "AMBIGUOUS",
    ),
    "a single fact": ("The Hatch Shell in Boston smells.", [HATCH], "UNATTRIBUTED"),
    "nothing of it": ("Gluons bind quarks.", [HATCH], "UNATTRIBUTED"),
    "the best of all documents": (
        "Concerts are held at the Hatch Shell every summer.",
        [GITA, "Summer is warm.", HATCH],
        "ATTRIBUTED",
    ),
}


@pytest.mark.parametrize(("claim", "texts", "label"), LABELS.values(), ids=LABELS)
def test_labels_are_what_people_would_most_probably_say(
    claim: str, texts: list[str], label: str
) -> None:
    found = verdict(claim, *texts)
    most = max(compare(claim, prepare(text)).score for text in texts)
    assert (found.label, found.expected) == (label, pytest.approx(most, abs=1e-4))


@pytest.mark.parametrize(
    ("claim", "texts", "label", "expected"),
    [
        pytest.param("Add 3 cups of flour.", ["Add 2 cups of flour."], "CONTRADICTED", 0, id="no"),
        pytest.param(
            "Add 3 cups of flour.",
            ["Add 2 cups of flour.", "Add 3 cups of flour."],
            "AMBIGUOUS",
            0.5,
            id="documents disagree",
        ),
        pytest.param("Tin shines.", [], "UNATTRIBUTED", 0, id="no document"),
    ],
)
def test_what_rules_support_out_lowers_what_is_expected(
    claim: str, texts: list[str], label: str, expected: float
) -> None:
    found = verdict(claim, *texts)
    assert (found.label, found.expected) == (label, expected)


def test_a_number_of_another_unit_is_not_attributed() -> None:
    claim = "Grown patients who suffer from severe migraine take the medicine in doses of 5 g."
    found = verdict(claim, claim.replace("5 g", "5 mg"))
    assert found.label != "ATTRIBUTED"


@pytest.mark.parametrize(
    ("passage", "lacking"),
    [
        ("Africa has fifty-four countries.", []),
        ("Africa has two hundred and fifty-four countries.", ["54 countries"]),
    ],
    ids=["in words", "another in words"],
)
def test_a_number_is_there_in_whatever_words(passage: str, lacking: list[str]) -> None:
    assert missing_numbers("Africa has 54 countries.", passage) == lacking


def test_a_denial_far_from_a_claim_does_not_touch_it() -> None:
    text = (
        "No one could say when the firm came, but in Boston it has restored the dome of the Hatch"
        " Shell, though not the stage."
    )
    claim = (
        "The famous shell of Boston got new panels when its old dome was restored by a firm last"
        " year."
    )
    assert verdict(claim, text).label == "ATTRIBUTED"


def test_of_many_documents_those_with_too_little_are_not_compared() -> None:
    far = [f"The shell number {n} lies on the beach." for n in range(9)]
    found = library(HATCH, *far).compare_claim("The Hatch Shell was built in 1940.", CALIBRATION)
    assert found[0].document.doc_id == "d0"
    assert len(found) == 3


def test_a_calibration_of_ones_own_decides(tmp_path: Path) -> None:
    never = replace(CALIBRATION, supported=-90.0, full=-90.0)
    path = tmp_path / "never.json"
    path.write_text(format_calibration(never), encoding="utf-8")
    detector = LexicalDetector(calibration=str(path))
    found = asyncio.run(detector.verdict("The Gita has 18 chapters.", library(GITA)))
    assert (found.label, found.expected) == ("UNATTRIBUTED", 0.0)


IN_OTHER_LANGUAGES = {
    "stated": (
        "Der Hafen wurde 1902 von der Stadt gebaut.",
        ["1902 wurde der Hafen von der Stadt gebaut."],
    ),
    "not stated": ("Der Dichter wohnte in einem Haus.", ["Der Hafen wurde von der Stadt gebaut."]),
    "no document has any of it": ("Niemand weiß, wer das gemalt hat.", ["Boats are red."]),
    "contradicted": (
        "Die Fähre wurde 1902 bei der Stadt gebaut.",
        ["Die Fähre wurde 1912 bei der Stadt gebaut."],
    ),
    "two documents together": (
        "Alice arbeitet in Paris.",
        ["Alice arbeitet bei der Acme Robotics.", "Die Acme Robotics ist nur in Paris."],
    ),
}


@pytest.mark.parametrize(("claim", "texts"), IN_OTHER_LANGUAGES.values(), ids=IN_OTHER_LANGUAGES)
def test_in_another_language_there_is_no_weight(claim: str, texts: list[str]) -> None:
    own = library(*texts)
    found = asyncio.run(LexicalDetector().verdict(claim, own))
    assert found.expected is None and "de" in found.uncalibrated.split("+")
    assert not LexicalDetector().is_sure(claim, replace(found, label="UNATTRIBUTED"), own)
    assert asyncio.run(LexicalDetector(0.7).verdict(claim, own)).uncalibrated == ""


def test_a_share_that_is_asked_for_has_no_probability() -> None:
    found = asyncio.run(LexicalDetector(0.7).verdict("The Gita has 18 chapters.", library(GITA)))
    assert (found.label, found.expected) == ("ATTRIBUTED", None)
    assert found.reason.endswith("in one passage")


@pytest.mark.parametrize(
    ("above", "label"), [(0.0, "UNATTRIBUTED"), (-1e-9, "ATTRIBUTED")], ids=["at it", "above it"]
)
def test_a_share_must_be_more_than_the_threshold(above: float, label: str) -> None:
    claim, documents = "The long red ferry leaves Dover.", library("The red ferry leaves Dover.")
    share = documents.best(claim)[0].overlap
    found = asyncio.run(LexicalDetector(share + above).verdict(claim, documents))
    assert (0.5 < share < 1, found.label) == (True, label)


KETTLE = Document(
    "k", "Steam makes a kettle whistle [2]. Is it loud? It was sold in Lyon.", "Kettles"
)


def test_facts_are_what_it_claims_without_its_title() -> None:
    facts = facts_of(KETTLE)
    assert [fact.text for fact in facts] == [
        "Steam makes a kettle whistle.",
        "It was sold in Lyon.",
    ]
    assert [KETTLE.full_text[f.start : f.end] for f in facts] == [
        "Steam makes a kettle whistle [2].",
        "It was sold in Lyon.",
    ]


def test_found_is_what_the_response_states() -> None:
    answer = response(("A kettle is made to whistle by steam.", []), ("It is loud.", []))
    found = facts_found(KETTLE, answer, LexicalDetector(0.6))
    assert [fact.found for fact in found] == [True, False]


def test_a_response_without_text_states_nothing() -> None:
    assert [f.found for f in facts_found(KETTLE, response(), LexicalDetector())] == [False, False]


PIECES = [
    *("it", "The firm", "was", "has", "3", "1.5 million", "%", "$", "in 1998", "BCE", "not", "and"),
    *(", ", "; ", ". ", "? ", "…", "[1]", "[", "]", '"', "“", "(", ")", "#", "**", "- ", "\n\n"),
    *("它有12章", "。", "ему", "لا", "\u200b", "\x00", "é", "I cannot answer", "the given context"),
    *(" ", "about", "over", "March", "5", "which", "because", "cups", "Roe v. Wade", ":", "\ud7ff"),
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join) | st.text(max_size=60)


@given(TEXT)
def test_claims_are_not_empty_and_on_one_line(text: str) -> None:
    for claim in statements(text):
        assert claim.strip() == claim != ""
        assert "\n" not in claim
    abstains(text)


@given(TEXT, TEXT)
def test_every_pair_has_a_verdict_with_sources_that_stand_where_they_say(
    claim: str, text: str
) -> None:
    contradiction(claim, text)
    try:
        found = asyncio.run(LexicalDetector().verdict(claim, library(text)))
    except JudgmentFailed:
        return
    for source in found.sources:
        assert text[source.start : source.end] == source.excerpt


@given(TEXT, TEXT)
def test_a_quote_of_a_text_is_found_in_it(before: str, quote: str) -> None:
    text = f"{before}{quote}{before}"
    span = find_quote_span(text, quote)
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(text)


@given(TEXT, st.sampled_from(["", "A title"]))
def test_facts_stand_where_they_say(text: str, title: str) -> None:
    document = Document("d", text, title)
    for fact in facts_of(document):
        assert document.full_text[fact.start : fact.end].split()


def test_contradicted() -> None:
    cases = {
        "count": ("Add 3 cups of flour [1].", "Add 2 cups of flour."),
        "count in words": ("Add three cups of flour.", "Add two cups of flour."),
        "year": ("It opened in 1898.", "It opened in 1889 in Paris."),
        "era": ("It was composed in 200 BCE.", "It was composed in 400 BCE."),
        "far off": ("It was built around 200 BCE.", "It was built around 400 BCE."),
        "day": ("She was born on March 3, 1950.", "She was born on March 5, 1950."),
        "percent": ("Profits rose 3% in May.", "Profits rose 5 percent in May."),
        "scale": ("It has 1.5 million people.", "It has 2,487,000 people."),
        "negation": ("The drug causes cancer.", "The drug does not cause cancer."),
        "contrary": ("The drug does not cause cancer.", "The drug causes cancer."),
        "not rounded": ("The book has 20 chapters.", "The book has 18 chapters."),
        "a year is not rounded": ("The war ended in 2000.", "The war ended in 1998."),
        "rose to": ("Profits rose to 5%.", "Profits rose to 7%."),
        "colour": ("The ferry is blue.", "The ferry is red."),
        "opposite": ("The harbour is open.", "The harbour is closed today."),
        "direction": ("Prices rose in May.", "Prices fell in May."),
        "direction, in another order": (
            "The rate of unemployment increased sharply in Spain.",
            "In Spain the rate of unemployment decreased sharply.",
        ),
        "German colour": ("Die Fähre ist blau.", "Die Fähre ist rot."),
        "Chinese": ("法律有12章。", "法律有18章。"),
        "Russian": ("В городе 3 моста.", "В городе 5 мостов."),
    }
    wrong = [
        name for name, (claim, passage) in cases.items() if contradiction(claim, passage) is None
    ]
    assert not wrong


def test_not_contradicted() -> None:
    cases = {
        "the same": ("Add 3 cups of flour.", "Add 3 cups of flour."),
        "also there": ("Add 3 cups of flour.", "Add 2 eggs and 3 cups of flour."),
        "another name": ("Berlin has 3 airports.", "Paris has 5 airports."),
        "a bound": ("Over 3 people died.", "Some 6 people died."),
        "a fair guess": ("About 100 people came.", "Exactly 104 people came."),
        "round": ("It has 1.5 million people.", "It has 1,487,000 people."),
        "a year, about": ("It began around 1990.", "It began in 1993."),
        "another year": ("It has 300 staff.", "In 2010 it had 200 staff."),
        "a decade": ("It was founded in the 1950s.", "It was founded in 1953."),
        "a range": ("It takes 4 days.", "It takes 3 to 5 days."),
        "another unit": ("It has 3 floors.", "It has 5 lifts."),
        "of more than the claim is about": (
            "Lung cancer makes 20% of deaths.",
            "Lung, bowel, breast and prostate cancers together make almost half (45%) of deaths.",
        ),
        "in several words": ("Africa has 54 countries.", "Africa has fifty-four countries."),
        "direction, another year": ("Prices rose in 2010.", "Prices fell in 2011."),
        "both directions": ("Prices rose.", "Prices rose, and then fell."),
        "direction of another thing": ("Wages rose in May.", "Prices fell in May."),
        "no opposite": ("Prices rose in May.", "Prices did not fall in May."),
        "a colour of another thing": ("The ferry is blue.", "The bus is red."),
        "which one, not what": ("The blue ferry sank.", "The red ferry sank."),
        "both may be": ("She plays the cello.", "She plays the flute."),
        "denied": ("The ferry is blue.", "The ferry is not red."),
        "nothing": ("", ""),
    }
    wrong = {
        name: found
        for name, (claim, passage) in cases.items()
        if (found := contradiction(claim, passage)) is not None
    }
    assert not wrong
