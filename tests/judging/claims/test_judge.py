"""What the judges of claims have in common: their settings, and the extra that one needs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes import always, response
from trecjudge.errors import PluginError, WorkflowError
from trecjudge.judging.claims.by_model import Cascade, ModelDetector
from trecjudge.judging.claims.by_words import LexicalDetector
from trecjudge.judging.claims.judge import ClaimJudging
from trecjudge.models.model import NoModel
from trecjudge.text.embeddings import embedder


@pytest.fixture
def without_the_extra(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make `wordllama` a package that is not installed."""
    monkeypatch.setitem(sys.modules, "wordllama", None)
    embedder.cache_clear()
    yield
    embedder.cache_clear()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"overlap": 1.5}, "overlap: 1.5 is too large; give a number from 0 to 1"),
        ({"similarity": -1}, "similarity: -1 is too small; give a number from 0 to 1"),
        ({"characters": 10}, "characters: 10 is too small; give a whole number of at least 500"),
        ({"rounds": 0}, "rounds: 0 is too small; give a whole number of at least 1"),
        ({"cascade": ["llm", "lexical"]}, "cascade is llm, lexical: .* llm last"),
        ({"cascade": ["lexical", "lexical"]}, "at most once each"),
        ({"cascade": ["auto"]}, "name lexical, semantic, llm"),
    ],
    ids=range(7),
)
def test_settings_that_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        ClaimJudging(**settings)


def test_auto_takes_the_model_where_there_is_one() -> None:
    assert isinstance(ClaimJudging().detector_for(NoModel()), LexicalDetector)
    assert isinstance(ClaimJudging().detector_for(always("x")), ModelDetector)
    row = ClaimJudging(cascade=["lexical", "llm"]).detector_for(always("x"))
    assert isinstance(row, Cascade)
    assert ([detector.name for detector in row.cheap], row.last.name) == (["lexical"], "llm")


def test_a_share_is_asked_for_only_where_it_is_set() -> None:
    assert ClaimJudging().by_words() == LexicalDetector(None)
    assert ClaimJudging(overlap=0.7).by_words().threshold == 0.7
    assert ClaimJudging(calibration="own.json").by_words().calibration == "own.json"


@pytest.mark.usefixtures("without_the_extra")
def test_semantic_says_which_extra_it_needs() -> None:
    with pytest.raises(PluginError, match=r"pip install 'trecjudge\[semantic\]'"):
        ClaimJudging(detector="semantic")


@pytest.mark.usefixtures("without_the_extra")
def test_without_the_extra_passages_for_a_model_are_found_by_words() -> None:
    found = ClaimJudging().detector_for(always("x"))
    assert isinstance(found, ModelDetector)
    assert found.embedder is None


def test_where_no_document_was_given_nothing_is_paid_for() -> None:
    model = always("x")
    without = replace(response(("Kettles whistle.", ["d"])), documents_given=False)
    claims = asyncio.run(ClaimJudging(claims="llm").claims_of(without, model))
    assert ([claim.text for claim in claims], model.asked) == (["Kettles whistle."], [])
