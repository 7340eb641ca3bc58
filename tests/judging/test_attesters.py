"""The offline attester as judges call it."""

from __future__ import annotations

import asyncio

import pytest

from trecjudge.errors import InputError, JudgmentFailed
from trecjudge.judging.attest import Attestation, LexicalAttester, attester_for, text_missing
from trecjudge.judging.offline.support import calibration_at
from trecjudge.models.model import NoModel, Program
from trecjudge.records import Document

TOWER = Document("d", "The old tower of Lyon was sold in spring.", title="Lyon")


def attested(sentence: str, document: Document = TOWER) -> Attestation:
    return asyncio.run(LexicalAttester().attest(sentence, document))


def test_an_attestation_has_label_reason_evidence_and_expected_weight() -> None:
    found = attested("In spring the old tower was sold.")
    assert (found.label, found.attester) == ("full_support", "lexical")
    assert found.reason == "100 % of the sentence's weight is in the document"
    assert found.evidence is not None
    assert TOWER.full_text[found.evidence.start : found.evidence.end] == found.evidence.quote
    assert found.evidence.quote == "The old tower of Lyon was sold in spring"
    assert found.expected is not None and 0.9 < found.expected < 1


@pytest.mark.parametrize(
    ("sentence", "least", "most"),
    [
        ("The old tower of Lyon was sold in spring.", 0.9, 1.0),
        ("The old tower of Lyon was sold in 1894.", 0.5, 0.8),
        ("Gluons bind quarks.", 0.0, 0.0),
    ],
    ids=["copy", "another date", "nothing in common"],
)
def test_expected_weight(sentence: str, least: float, most: float) -> None:
    expected = attested(sentence).expected
    assert expected is not None and least <= expected <= most


def test_no_script_in_common() -> None:
    with pytest.raises(JudgmentFailed, match="the sentence is in han, the document in latin"):
        attested("东京是日本的首都。")


def test_a_calibration_is_read_once() -> None:
    assert calibration_at("") is calibration_at("")
    with pytest.raises(InputError, match=r"^nowhere\.json: cannot be read"):
        calibration_at("nowhere.json")


def test_without_a_model_auto_is_lexical() -> None:
    program = Program("attest", "trecjudge.judges.citation.program:Attest")
    assert attester_for("auto", NoModel(), program, "mine.json") == LexicalAttester("mine.json")


@pytest.mark.parametrize(
    ("doc_ids", "message"),
    [
        pytest.param([], "no text of any document; supply it with --documents", id="none given"),
        pytest.param(["d"], "no text of document d; supply it with --documents", id="of one"),
        pytest.param(
            list("abcd"), "no text of 4 documents (a, b, c); supply it with --documents", id="more"
        ),
    ],
)
def test_a_document_without_text_is_one_failure(doc_ids: list[str], message: str) -> None:
    failed = text_missing(*doc_ids)
    assert (failed.kind, failed.message) == ("no_document_text", message)
