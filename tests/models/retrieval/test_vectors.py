"""Vectors from an endpoint: what is asked, what is kept, and what goes wrong."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.endpoint import Answer
from tests.models.clock import run
from tests.models.retrieval.services import (
    KEY,
    answered,
    embedded,
    refused,
    unit,
    vectors_of,
    with_command,
)
from trecjudge.errors import JudgmentFailed, ModelError, WorkflowError
from trecjudge.models.opening import CommandState, ModelOptions
from trecjudge.models.retrieval.settings import EmbeddingSettings, text_settings
from trecjudge.models.spending import Budget

TEXTS = ["One text, with a comma.", "Two", "Three words, here.", "Two"]


def asked(script: Any, folder: Path, texts: list[str], **given: Any) -> tuple[Any, list[Any], Any]:
    """Return the vectors of texts, the requests that were made, and what was spent."""

    async def ask() -> Any:
        async with vectors_of(script, folder, **given) as (vectors, endpoint):
            found = await vectors.of(texts)
            return found, endpoint.requests, vectors.spent()

    return run(ask())  # type: ignore[no-any-return]


def failing(script: Any, folder: Path, texts: list[str], **given: Any) -> JudgmentFailed:
    """Return how asking for the vectors of texts fails."""
    with pytest.raises(JudgmentFailed) as failed:
        asked(script, folder, texts, **given)
    return failed.value


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_vectors_have_length_1_and_the_order_of_the_texts(encoding: str, tmp_path: Path) -> None:
    found, requests, spent = asked(embedded, tmp_path, TEXTS, encoding=encoding)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [unit(text) for text in TEXTS], rtol=1e-6)
    assert requests == [{"model": "stub", "input": TEXTS[:3], "encoding_format": encoding}]
    assert (spent["calls"], spent["saved"], spent["prompt_tokens"]) == (1, 1, 9)


def test_what_is_paid_for_is_never_asked_again(tmp_path: Path) -> None:
    first, _, _ = asked(embedded, tmp_path, TEXTS[:2])
    again, requests, spent = asked(embedded, tmp_path, [*TEXTS, "New."])
    assert [request["input"] for request in requests] == [["Three words, here.", "New."]]
    assert (spent["calls"], spent["cached"]) == (1, 2)
    assert (again[:2] == first).all()


def test_texts_under_way_are_waited_for(tmp_path: Path) -> None:
    async def ask() -> Any:
        async with vectors_of(embedded, tmp_path) as (vectors, endpoint):
            found = await asyncio.gather(*(vectors.of(TEXTS) for _ in range(3)))
            return found, endpoint.requests

    found, requests = run(ask())
    assert len(requests) == 1
    assert (found[0] == found[2]).all()


def test_many_texts_go_in_batches(tmp_path: Path) -> None:
    texts = [f"Text {number}," for number in range(25)]
    found, requests, _ = asked(embedded, tmp_path, texts, batch_texts=10)
    assert sorted(len(request["input"]) for request in requests) == [5, 10, 10]
    np.testing.assert_allclose(found, [unit(text) for text in texts], rtol=1e-6)


def test_blank_texts_are_not_sent(tmp_path: Path) -> None:
    found, requests, _ = asked(embedded, tmp_path, ["", "Two", " \n"])
    assert [request["input"] for request in requests] == [["Two"]]
    assert (found[[0, 2]] == 0).all()
    assert found.shape == (3, 3)


def test_half_a_surrogate_pair_is_sent_as_a_question_mark(tmp_path: Path) -> None:
    assert asked(embedded, tmp_path, ["a\ud800b"])[1][0]["input"] == ["a?b"]


def test_a_vector_of_zeros_stays_one(tmp_path: Path) -> None:
    def zeros(body: dict[str, Any], number: int) -> Answer:
        return answered({"data": [{"embedding": [0, 0]} for _ in body["input"]]})

    assert (asked(zeros, tmp_path, ["a", "b"])[0] == np.zeros((2, 2))).all()


def test_very_large_numbers_are_brought_to_length_1(tmp_path: Path) -> None:
    def large(body: dict[str, Any], number: int) -> Answer:
        return answered({"data": [{"embedding": [3e300, 4e300]}]})

    np.testing.assert_allclose(asked(large, tmp_path, ["a"])[0], [[0.6, 0.8]], rtol=1e-6)


WRONG = {
    "too few": ({"data": [{"index": 0, "embedding": [1.0]}]}, "1 results for 2 texts"),
    "twice the same": (
        {"data": [{"index": 0, "embedding": [1.0]}] * 2},
        "1 results for 2 texts",
    ),
    "numbered wrongly": (
        {"data": [{"index": n, "embedding": [1.0]} for n in (1, 2)]},
        "not numbered",
    ),
    "not finite": ({"data": [{"embedding": [1.0, None]}] * 2}, "not finite"),
    "no numbers": ({"data": [{"embedding": "?!"}] * 2}, "neither numbers nor base64"),
    "nested": ({"data": [{"embedding": [[1.0]]}] * 2}, "no list of numbers"),
    "nothing": ({"data": [{"embedding": []}] * 2}, "no list of numbers"),
    "of two lengths": (
        {"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]},
        r"\[1, 2\] dimensions",
    ),
}


@pytest.mark.parametrize(("answer", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_answer_is_asked_for_again_and_fails(
    answer: Any, message: str, tmp_path: Path
) -> None:
    requests = 0

    def wrong(body: dict[str, Any], number: int) -> Answer:
        nonlocal requests
        requests += 1
        return answered(answer)

    failed = failing(wrong, tmp_path, ["a", "b"], tries=2)
    assert failed.kind == "parse"
    assert re.search(message, str(failed)), str(failed)
    assert requests == 2


def test_a_wrong_answer_costs_only_another_try(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return answered({"data": []}) if number == 0 else embedded(body)

    found, requests, spent = asked(script, tmp_path, ["Two"])
    assert (len(requests), spent["retries"]) == (2, 1)
    assert requests[0] == requests[1]
    np.testing.assert_allclose(found[0], unit("Two"), rtol=1e-6)


def test_other_dimensions_than_asked_for(tmp_path: Path) -> None:
    failed = failing(embedded, tmp_path, ["a"], dimensions=2, tries=1)
    assert "its vectors have [3] dimensions, must have [2]" in str(failed)


def test_another_model_behind_the_same_name(tmp_path: Path) -> None:
    asked(embedded, tmp_path, ["a"])

    def other(body: dict[str, Any], number: int) -> Answer:
        return answered({"data": [{"embedding": [1.0, 0.0]} for _ in body["input"]]})

    failed = failing(other, tmp_path, ["a", "b"], tries=1)
    assert "must have [3]" in str(failed)


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_endpoint_is_waited_for(status: int, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return embedded(body) if number > 1 else Answer(status=status, headers={"Retry-After": "9"})

    found, requests, spent = asked(script, tmp_path, ["Two"])
    assert (len(requests), spent["calls"]) == (3, 1)
    assert found.shape == (1, 3)


def most(length: int) -> Any:
    """Return a script of a model that takes so many characters a text."""

    def script(body: dict[str, Any], number: int) -> Answer:
        if any(len(text) > length for text in body["input"]):
            return refused("This model's maximum context length is exceeded: too many tokens")
        return embedded(body)

    return script


def test_a_text_that_is_too_long_is_cut_and_hurts_no_other(tmp_path: Path) -> None:
    long = "word " * 100
    texts = ["a", "b", long, "c"]
    found, requests, _ = asked(most(200), tmp_path, texts)
    np.testing.assert_allclose(found[[0, 1, 3]], [unit(t) for t in ("a", "b", "c")], rtol=1e-6)
    assert long.startswith(requests[-1]["input"][0]) or len(requests) > 4
    message = (tmp_path / "messages").read_text()
    assert message == (
        "stub: a text of 500 characters is too long for it:"
        " only the beginning of such texts counts\n"
    )
    again, requests, _ = asked(most(200), tmp_path, texts)
    assert requests == []
    assert (again == found).all()


def test_a_text_that_cannot_be_cut_fails_and_the_others_are_kept(tmp_path: Path) -> None:
    failed = failing(most(2), tmp_path, ["a", "b", "long", "c"])
    assert failed.kind == "too_long"
    _, requests, _ = asked(embedded, tmp_path, ["a", "b", "c"])
    assert requests == []


def test_fewer_texts_where_the_endpoint_takes_fewer(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        count = len(body["input"])
        if count > 8:
            return refused(f"batch size {count} > maximum allowed batch size 8", 413)
        return embedded(body)

    found, requests, _ = asked(script, tmp_path, [f"Text {n}" for n in range(64)], batch_texts=32)
    assert found.shape == (64, 3)
    sizes = [len(request["input"]) for request in requests]
    assert sizes == [32, 16, 8, 8, 16, 8, 8, 8, 8, 8, 8]


def test_a_filtered_text_fails_and_the_others_are_kept(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return refused("content_filter") if "bad" in body["input"] else embedded(body)

    assert failing(script, tmp_path, ["a", "b", "bad", "c"]).kind == "filtered"
    assert asked(embedded, tmp_path, ["a", "b", "c"])[1] == []


def test_a_wrong_key_ends_it_at_once(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"HTTP 401.*check OPENAI_EMBEDDING_API_KEY") as error:
        asked(lambda body, number: refused(f"bad {KEY}", 401), tmp_path, ["a", "b"])
    assert KEY not in str(error.value)


def test_a_budget_of_calls_tokens_and_cost(tmp_path: Path) -> None:
    for number, budget in enumerate((Budget(1), Budget(None, 3), Budget(None, None, 0.000_003))):
        options = with_command(tmp_path / str(number), CommandState(budget))
        texts = [f"Two words{n}" for n in range(6)]
        prices = {"input": 1.0, "output": 0.0}
        failed = failing(
            embedded, tmp_path, texts, options=options, batch_texts=2, prices=prices, in_flight=1
        )
        assert failed.kind == "budget"
        assert 1 <= options.command.budget.calls <= 2


def test_offline_takes_only_what_is_kept(tmp_path: Path) -> None:
    asked(embedded, tmp_path, ["Two"])
    options = ModelOptions(use=True, cache_folder=tmp_path, offline=True)
    found, requests, _ = asked(embedded, tmp_path, ["Two"], options=options)
    np.testing.assert_allclose(found[0], unit("Two"), rtol=1e-6)
    assert requests == []
    assert failing(embedded, tmp_path, ["New"], options=options).kind == "offline"


def test_a_plan_counts_and_asks_nothing(tmp_path: Path) -> None:
    asked(embedded, tmp_path, ["Two"])
    options = ModelOptions(use=True, cache_folder=tmp_path, plan=True)

    async def plan() -> Any:
        async with vectors_of(embedded, tmp_path, options=options, batch_texts=2) as (
            vectors,
            endpoint,
        ):
            with pytest.raises(JudgmentFailed, match="not asked yet"):
                await vectors.of(["Two", "Three", "Four", "Five"])
            return vectors.spent(), endpoint.requests

    spent, requests = run(plan())
    assert (spent["calls"], spent["cached"], requests) == (2, 1, [])
    assert spent["prompt_tokens"] > 0


def test_refresh_asks_again(tmp_path: Path) -> None:
    asked(embedded, tmp_path, ["Two"])
    options = ModelOptions(use=True, cache_folder=tmp_path, refresh=True)
    assert len(asked(embedded, tmp_path, ["Two"], options=options)[1]) == 1


ENVIRONMENT = {
    "OPENAI_BASE_URL": "http://here/v1",
    "OPENAI_API_KEY": KEY,
    "OPENAI_EMBEDDING_MODEL": "small",
}


def test_settings_come_from_the_environment_and_the_workflow() -> None:
    found = text_settings(EmbeddingSettings, {}, ENVIRONMENT, True)
    assert (found.model, found.url, found.api_key) == ("small", "http://here/v1/embeddings", KEY)
    given = {"model": "large", "base_url": "http://here/v2", "dimensions": 7, "rpm": 9}
    found = text_settings(EmbeddingSettings, given, ENVIRONMENT, True)
    assert (found.model, found.url) == ("large", "http://here/v2/embeddings")
    assert (found.dimensions, found.rpm) == (7, 9)


def test_the_key_of_the_chat_model_goes_to_no_other_address() -> None:
    elsewhere = {"base_url": "http://there/v1"}
    with pytest.raises(ModelError, match="OPENAI_API_KEY is for another address") as error:
        text_settings(EmbeddingSettings, elsewhere, ENVIRONMENT, True)
    assert KEY not in str(error.value)
    own = ENVIRONMENT | {"OPENAI_EMBEDDING_API_KEY": "none"}
    assert text_settings(EmbeddingSettings, elsewhere, own, True).api_key == "none"
    assert text_settings(EmbeddingSettings, elsewhere, ENVIRONMENT, False).api_key == ""


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"temperature": 1.0}, WorkflowError, "embeddings: temperature is a setting of a chat"),
        ({"dimension": 3}, WorkflowError, "embeddings: unknown key 'dimension'; did you mean"),
        ({"dimensions": 0}, ModelError, "embeddings.dimensions is 0: must be at least 1"),
        ({"batch_texts": 0}, ModelError, "embeddings.batch_texts is 0"),
        ({"tries": 0}, ModelError, "embeddings.tries is 0"),
        ({"api_key": "sk-1"}, ModelError, "embeddings.api_key: keys do not belong"),
    ],
)
def test_settings_that_cannot_be(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        text_settings(EmbeddingSettings, given, ENVIRONMENT, True)


def test_a_model_must_be_named() -> None:
    environment = {"OPENAI_BASE_URL": "http://here", "OPENAI_API_KEY": KEY}
    with pytest.raises(ModelError, match="no model: set OPENAI_EMBEDDING_MODEL, or embeddings"):
        text_settings(EmbeddingSettings, {}, environment, True)
