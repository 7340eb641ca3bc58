"""Scores from an endpoint's `/rerank`, in each of the forms that servers speak."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer
from tests.models.clock import run
from tests.models.retrieval.services import answered, ranker_of, refused
from trecjudge.errors import JudgmentFailed

TEXTS = ["one, two", "three, four, five", "six"]


def ranked(body: dict[str, Any], number: int = 0) -> Answer:
    """Return an answer as Jina, Cohere and vLLM give it: the best first."""
    scores = [(float(text.count(",")), place) for place, text in enumerate(body["documents"])]
    results = [{"index": n, "relevance_score": s} for s, n in sorted(scores, reverse=True)]
    return answered({"results": results, "usage": {"total_tokens": 12}})


def inferred(body: dict[str, Any], number: int = 0) -> Answer:
    """Return an answer as text-embeddings-inference gives it."""
    if "texts" not in body:
        return refused("Failed to deserialize the JSON body: missing field `texts`", 422)
    return answered(
        [{"index": n, "score": 1.0 * t.count(",")} for n, t in enumerate(body["texts"])]
    )


def scored(script: Any, folder: Path, texts: list[str], **given: Any) -> Any:
    """Return the scores of texts, the requests that were made, and what was spent."""

    async def ask() -> Any:
        async with ranker_of(script, folder, **given) as (ranker, endpoint):
            found = await ranker.scores("which?", texts)
            return found, endpoint.requests, ranker.spent()

    return run(ask())


def test_scores_have_the_order_of_the_texts(tmp_path: Path) -> None:
    found, requests, spent = scored(ranked, tmp_path, TEXTS)
    assert found == [1.0, 2.0, 0.0]
    body = {"model": "stub", "documents": TEXTS, "top_n": 3, "query": "which?"}
    assert requests == [body]
    assert (spent["calls"], spent["prompt_tokens"]) == (1, 12)


@pytest.mark.parametrize("form", ["auto", "texts"])
def test_the_form_of_text_embeddings_inference(form: str, tmp_path: Path) -> None:
    found, requests, _ = scored(inferred, tmp_path, TEXTS, path="/rerank", form=form)
    assert found == [1.0, 2.0, 0.0]
    assert len(requests) == 1 + (form == "auto")
    assert requests[-1] == {"texts": TEXTS, "query": "which?"}


def test_scores_are_kept_by_question_and_text(tmp_path: Path) -> None:
    scored(ranked, tmp_path, TEXTS[:2])
    found, requests, _ = scored(ranked, tmp_path, TEXTS)
    assert found == [1.0, 2.0, 0.0]
    assert [request["documents"] for request in requests] == [["six"]]


WRONG = {
    "too few": ({"results": [{"index": 0, "relevance_score": 1}]}, "1 results for 3 texts"),
    "no number": ({"results": [{"score": "high"}] * 3}, "the score of text 0 is no number"),
    "nothing": ([], "0 results for 3 texts"),
}


@pytest.mark.parametrize(("answer", "message"), WRONG.values(), ids=WRONG)
def test_wrong_answers(answer: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(JudgmentFailed, match=message):
        scored(lambda body, number: answered(answer), tmp_path, TEXTS, tries=1)
