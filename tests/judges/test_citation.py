"""The citation judge: its pool, its decisions, and each measure by its definition."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.fakes import ScriptedModel, always, item, judgment, response
from trecjudge.errors import JudgmentFailed
from trecjudge.judges.citation import CitationJudge
from trecjudge.judging.attest import best_or_worst
from trecjudge.models.model import Model, NoModel
from trecjudge.records import (
    FULL,
    NONE,
    NOTHING_TO_CHECK,
    PARTIAL,
    Citation,
    Failure,
    Item,
    Judgment,
    Topic,
)

DOCUMENTS = {"k": "Steam forced through a small gap in the spout makes a kettle whistle."}
FAILED = Failure("transport", "reset")
NO_MODEL = NoModel()


def judge(item: Item, model: Model = NO_MODEL, **settings: object) -> Judgment:
    return asyncio.run(CitationJudge(**settings).judge(item, model))  # type: ignore[arg-type]


def cited(*labels: str | None, sentence: int = 0, exists: bool | None = True) -> list[Judgment]:
    return [
        judgment(x, sentence_index=sentence, exists=exists, failure=None if x else FAILED)
        for x in labels
    ]


def scores(judgments: list[Judgment], **settings: object) -> dict[str, float | bool | None]:
    spec = CitationJudge(**settings).measures  # type: ignore[arg-type]
    return {m.name: m.compute(response(), judgments) for m in spec.measures}


def test_pool_is_every_citation_with_its_document() -> None:
    pool = list(
        CitationJudge().pool(
            Topic("t1"), response(("One.", ["k", "gone"]), ("Two.", []), documents=DOCUMENTS)
        )
    )
    assert [(i.sentence_index, i.citation.doc_id, i.exists) for i in pool if i.citation] == [
        (0, "k", True),
        (0, "gone", False),
    ]


def test_without_any_document_text_existence_is_unknown() -> None:
    native = replace(response(("One.", ["k"])), documents_given=False)
    (found,) = CitationJudge().pool(Topic("t1"), native)
    assert found.exists is None
    with pytest.raises(JudgmentFailed, match="--documents") as failed:
        judge(found)
    assert failed.value.kind == "no_document_text"


def test_an_index_out_of_range_is_the_systems_fault_with_or_without_documents() -> None:
    native = replace(response(("One.", [])), documents_given=False)
    sentence = replace(native.sentences[0], citations=(Citation(None, "9"),))
    (found,) = CitationJudge().pool(Topic("t1"), replace(native, sentences=(sentence,)))
    assert (judge(found).label, judge(found).exists) == (NONE, False)


def test_a_document_that_is_not_there_supports_nothing() -> None:
    found = judge(item(exists=False))
    assert (found.label, found.grade, found.reason) == (NONE, 0, "no such document")


def test_a_document_without_text_leaves_the_item_unjudged() -> None:
    with pytest.raises(JudgmentFailed, match="no text of document d; supply"):
        judge(item(document=" "))


def test_a_sentence_without_text_is_not_supported() -> None:
    assert judge(item(text=" ", document="Text.")).label == NONE


def test_offline_and_model_attesters() -> None:
    pair = item("Steam makes a kettle whistle.", DOCUMENTS["k"])
    offline = judge(pair)
    assert (offline.label, offline.attester) == (FULL, "lexical")
    model = always(PARTIAL, "makes a  kettle whistle")
    found = judge(pair, model)
    assert (found.label, found.grade, found.attester) == (PARTIAL, 1, "llm")
    assert found.evidence is not None
    assert found.evidence.quote == "makes a kettle whistle"
    assert judge(pair, model, attester="lexical").attester == "lexical"
    assert model.asked == [{"document": DOCUMENTS["k"], "sentence": pair.text}]


def test_a_quote_that_the_document_does_not_have_is_no_evidence() -> None:
    found = judge(item("A claim.", "Text."), always(FULL, "made up"))
    assert found.evidence is None
    assert found.reason == "the model's quote is not in the document"


def test_the_model_is_asked_nothing_where_no_document_is() -> None:
    model = ScriptedModel(lambda inputs: pytest.fail("asked"))
    judge(item(exists=False), model)
    assert model.asked == []


@pytest.mark.parametrize(
    ("judgments", "expected"),
    [
        pytest.param([], (0.0, 0.0, 0.0, False, None), id="no citation"),
        pytest.param(cited(FULL, FULL), (1.0, 1.0, 2.0, True, 1.0), id="perfect"),
        pytest.param(cited(FULL, NONE), (1.0, 0.5, 2.0, False, 0.0), id="one fails in a sentence"),
        pytest.param(
            cited(FULL) + cited(PARTIAL, sentence=1), (1.0, 0.5, 2.0, False, 0.5), id="partial"
        ),
        pytest.param(
            cited(FULL) + cited(NONE, exists=False, sentence=1),
            (0.5, 0.5, 2.0, False, 0.5),
            id="one does not exist",
        ),
        pytest.param(cited(FULL, None), (1.0, 1.0, 2.0, None, None), id="one unjudged"),
        pytest.param(cited(NONE, None), (1.0, 0.0, 2.0, False, 0.0), id="lost whatever comes"),
        pytest.param(cited(None, exists=None), (None, None, 1.0, None, None), id="no text at all"),
    ],
)
def test_measures(judgments: list[Judgment], expected: tuple[object, ...]) -> None:
    found = scores(judgments)
    names = (
        "CITATION_ACCURACY",
        "CITATION_SUPPORT",
        "AVG_CITATIONS",
        "PERFECT_CITATIONS",
        "SENTENCE_SUPPORT",
    )
    assert tuple(found[name] for name in names) == expected


def test_a_partial_can_count_half() -> None:
    assert scores(cited(FULL, PARTIAL), partial=0.5)["CITATION_SUPPORT"] == 0.75


def test_bounds_of_an_unjudged_citation() -> None:
    (unknown,) = cited(None, exists=None)
    best, worst = best_or_worst(unknown, best=True), best_or_worst(unknown, best=False)
    assert (best.label, best.exists, worst.label, worst.exists) == (FULL, True, NONE, False)


@pytest.mark.parametrize("text", ["", " ", "\u200b"], ids=["empty", "blank", "unseen"])
@pytest.mark.parametrize("model", [NO_MODEL, always(FULL)], ids=["offline", "model"])
def test_a_document_that_the_run_carries_without_text_supports_nothing(
    text: str, model: Model
) -> None:
    given = response(("One.", ["k"]), carried={"k": text})
    (found,) = CitationJudge().pool(Topic("t1"), given)
    judged = judge(found, model)
    assert (judged.label, judged.grade, judged.exists) == (NONE, 0, True)
    assert judged.reason == "the run carries this document without text"
    assert CitationJudge().group_of(found) is None


def test_a_document_of_which_nobody_gave_text_is_unjudged() -> None:
    with pytest.raises(JudgmentFailed, match="no text of document d; supply") as failed:
        judge(item(document="\u200b"))
    assert failed.value.kind == "no_document_text"


def test_a_sentence_that_states_nothing_is_told_apart() -> None:
    found = judge(item("Here is a summary in 132 words:", DOCUMENTS["k"]))
    assert (found.label, found.grade, found.judged) == (NOTHING_TO_CHECK, None, True)
    assert found.reason == "the sentence states nothing that a document could support"


@pytest.mark.parametrize(
    ("labels", "support", "perfect"),
    [
        pytest.param((FULL, NOTHING_TO_CHECK), 1.0, True, id="beside full support"),
        pytest.param((NONE, NOTHING_TO_CHECK), 0.0, False, id="beside none"),
        pytest.param((NOTHING_TO_CHECK,), 0.0, False, id="only such citations gain nothing"),
        pytest.param((NOTHING_TO_CHECK, None), None, None, id="the other one unjudged"),
    ],
)
def test_what_states_nothing_is_in_no_measure_of_support(
    labels: tuple[str | None, ...], support: float | None, perfect: bool | None
) -> None:
    found = scores(cited(*labels))
    assert (found["CITATION_SUPPORT"], found["PERFECT_CITATIONS"]) == (support, perfect)
    assert found["AVG_CITATIONS"] == len(labels)


@pytest.mark.parametrize(
    ("sentence", "label"),
    [
        ("Steam makes a kettle whistle.", FULL),
        ("A kettle whistles where steam is forced through a pipe of brass in Lyon.", NONE),
        ("Gluons bind quarks.", NONE),
    ],
    ids=["full", "partial is none", "none"],
)
def test_strict_is_full_or_none(sentence: str, label: str) -> None:
    found = judge(item(sentence, DOCUMENTS["k"]), attester="strict")
    assert (found.label, found.attester) == (label, "strict")
    usual = judge(item(sentence, DOCUMENTS["k"]))
    assert found.expected == usual.expected
    if usual.label == PARTIAL:
        assert "P(fully supported) is" in found.reason
