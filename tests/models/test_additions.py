"""What is added to requests: nothing of it replaces what the judge sets; the config says it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import attesting, running
from tests.models.clients import KEY, ask, client_to
from tests.models.clock import run
from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.models.retrieval.settings import EmbeddingSettings, RerankSettings
from trecjudge.models.settings import LlmSettings, llm_settings, settings_of

ENVIRONMENT = {"OPENAI_BASE_URL": "http://a/v1", "OPENAI_MODEL": "m", "OPENAI_API_KEY": KEY}


def refused(**given: Any) -> str:
    """Return the one line with which settings are refused, "" where they are not."""
    try:
        llm_settings(given, ENVIRONMENT)
    except ModelError as error:
        assert "\n" not in str(error)
        return str(error)
    return ""


@pytest.mark.parametrize(
    "body",
    [
        {"messages": []}, {"Messages": []}, {"MESSAGES ": []}, {"ｍessages": []}, {"meſſages": []},
        {"model": "x"}, {"models": ["x"]}, {"Model": "x"}, {"engine": "x"}, {"fallbacks": ["x"]},
        {"prompt": "x"}, {"system": "x"}, {"instructions": "x"}, {"tools": []}, {"plugins": []},
        {"chat_template": "x"}, {"temperature": 1}, {"n": 2}, {"best_of": 2}, {"stream": True},
        {"response_format": {}}, {"responseFormat": {}}, {"guided_json": {}}, {"custom_id": "x"},
        {"max_tokens": 9}, {"maxTokens": 9}, {"max-tokens": 9}, {"max_completion_tokens": 9},
        {"seed": 1}, {"api_key": "x"}, {"api_base": "http://b"}, {"extra_headers": {}},
        {"options": {"temperature": 1}}, {"options": [{"deep": {"Seed": 1}}]},
        {"extra_body": {"messages": []}}, {"generationConfig": {"maxOutputTokens": 1}},
        {"modelName": "x"}, {"system_message": "x"}, {"assistant_prefill": "x"},
        {"top_k": 1, "provider": {"model": "x"}}, {"reasoning": {"model": "x"}},
    ],
    ids=str,
)  # fmt: skip
def test_no_field_of_the_judge_is_replaced(body: dict[str, Any]) -> None:
    said = refused(extra_body=body)
    assert said.startswith("llm.extra_body: '") and "what the judge sets" in said


def test_all_names_are_said() -> None:
    assert refused(extra_body={"seed": 1, "options": {"Temperature": 1}, "top_p": 1}) == (
        "llm.extra_body: 'seed', 'options.Temperature': nothing may replace what the judge sets"
    )


@pytest.mark.parametrize("owner", [EmbeddingSettings, RerankSettings])
@pytest.mark.parametrize("name", ["model", "input", "documents", "query", "top_n", "dimensions"])
def test_nor_one_of_embeddings_and_reranking(owner: type[LlmSettings], name: str) -> None:
    with pytest.raises(ModelError, match=f"extra_body: '{name}'"):
        settings_of(owner, {"extra_body": {name: 1}}, ENVIRONMENT | {"RERANK_MODEL": "m",
                    "OPENAI_EMBEDDING_MODEL": "m"})  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        {"top_p": 0.9, "top_k": 5, "frequency_penalty": 0.5, "stop": ["\n\n"], "logit_bias": {}},
        {"chat_template_kwargs": {"enable_thinking": False}}, {"reasoning_effort": "low"},
        {"reasoning": {"max_tokens": 900}}, {"provider": {"order": ["a"]}}, {"user": "me"},
        {"metadata": {"model": "of mine"}}, {"extra_body": {"google": {"thinking_config": {}}}},
        {"truncate": True, "input_type": "query"},
    ],
    ids=str,
)  # fmt: skip
def test_what_a_user_may_set(body: dict[str, Any]) -> None:
    assert refused(extra_body=body) == ""


@pytest.mark.parametrize(
    "name",
    ["Host", "content-length", "Transfer-Encoding", "Content-Type", "Connection",
     "Accept-Encoding", "X-HTTP-Method-Override", "content_length"],
)  # fmt: skip
def test_headers_of_the_connection(name: str) -> None:
    assert refused(headers={name: "x"}) == (
        f"llm.headers: '{name.lower().replace('_', '-')}': nothing may replace what the judge sets"
    )


def test_nothing_is_sent_twice() -> None:
    twice = {"Authorization": "${A}", "authorization": "${B}"}
    assert refused(headers=twice) == "llm.headers: authorization is given twice"
    said = refused(base_url="http://a/v1?api-version=1", query={"API-Version": "2"})
    assert said == "llm.query: api-version is in base_url already"
    assert "'messages'" in refused(query={"messages": "x"})
    assert refused(query={"api-version": "1", "api_key": "${A}", "format": "x"}) == ""


def test_a_schema_that_no_adapter_sends() -> None:
    said = "llm.structured: is always, but adapter xml sends no schema"
    assert refused(structured="always", adapter="xml") == said


ADDED: dict[str, Any] = {
    "temperature": 0.7, "seed": 5, "max_tokens": 77, "reasoning": True, "structured": "never",
    "adapter": "xml", "extra_body": {"top_p": 0.5, "think": {"on": [1, None]}},
    "headers": {"X-Team": "a"}, "query": {"region": "eu"}, "model": "other", "api_key": "k" * 20,
}  # fmt: skip
"""A value of each setting that a request shows."""


@pytest.mark.parametrize("reasoning", [False, True])
@pytest.mark.parametrize("name", [*ADDED, "all"])
def test_the_config_says_what_the_server_received(
    name: str, reasoning: bool, tmp_path: Path
) -> None:
    given = dict(ADDED) if name == "all" else {name: ADDED[name]}
    given = {"reasoning": reasoning} | given

    async def once() -> tuple[dict[str, Any], dict[str, str], str, dict[str, Any]]:
        async with (
            running(attesting()) as endpoint,
            client_to(endpoint, tmp_path, **given) as client,
        ):
            with suppress(JudgmentFailed):  # the reply is none between tags
                await ask(client)
            written = client.record()
            return endpoint.requests[0], endpoint.headers[0], endpoint.targets[0], written

    body, headers, target, config = run(once())
    limit = "max_completion_tokens" if config["reasoning"] else "max_tokens"
    stated = {"model": config["model"], limit: config["max_tokens"], **config["extra_body"]}
    stated |= {n: config[n] for n in ("temperature", "seed") if config[n] is not None}
    rest = {n: v for n, v in body.items() if n not in ("messages", "response_format")}
    assert rest == stated
    assert ("response_format" in body) == (
        config["structured"] != "never" and config["adapter"] != "xml"
    )
    assert {n: headers[n] for n in config["headers"]} == config["headers"]
    assert target.partition("?")[2] == "&".join(f"{k}={v}" for k, v in config["query"].items())
    assert given.get("api_key", KEY) not in str(config)
