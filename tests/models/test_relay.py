"""The relay for code of others: what passes through it is counted, kept within limits, unsigned."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, serving
from trecjudge.models.model import Model, NoModel
from trecjudge.models.opening import CommandState, ModelOptions, open_model
from trecjudge.models.relay import Relay, relayed
from trecjudge.models.spending import Budget

ADDRESS = "OPENAI_BASE_URL"


def post(url: str, content: str = "?") -> tuple[int, Any]:
    """Post a request; return the status and what comes back."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}).encode()
    request = urllib.request.Request(url, body, {"Authorization": "Bearer theirs"})
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def through(
    url: str, work: Callable[[str], Any], folder: Path, **options: Any
) -> tuple[Relay, Model, Any]:
    """Do `work` with the address of a relay to an endpoint; return what it returns too."""

    async def run() -> tuple[Relay, Model, Any]:
        given = ModelOptions(True, folder, **options)
        settings = {"base_url": url, "model": "m"}
        async with (
            open_model(given, settings, {}, (), lambda message: None) as model,
            relayed(model) as relay,
        ):
            assert relay is not None
            return relay, model, await asyncio.to_thread(work, relay.variables[ADDRESS])

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a key of ours."""
    monkeypatch.setenv("OPENAI_API_KEY", "our-own-key")


def test_requests_get_our_key_and_are_counted(tmp_path: Path) -> None:
    with serving(lambda body, number: Answer("yes", usage=(7, 2))) as server:
        ask = "/chat/completions"
        relay, model, found = through(server.url, lambda url: post(url + ask), tmp_path)
    assert found[1]["choices"][0]["message"]["content"] == "yes"
    assert server.headers[0]["Authorization"] == "Bearer our-own-key"
    spent = model.spent()
    assert (relay.calls, relay.failed, spent["calls"], spent["prompt_tokens"]) == (1, 0, 1, 7)
    assert "our-own-key" not in str(relay.variables)


def test_failures_are_counted_and_the_first_is_kept(tmp_path: Path) -> None:
    script = [Answer("yes"), Answer(status=500, raw=b"out of order"), Answer(status=429)]
    with serving(lambda body, number: script[number]) as server:
        work = lambda url: [post(url + "/chat/completions")[0] for _ in script]  # noqa: E731
        relay, _, statuses = through(server.url, work, tmp_path)
    assert statuses == [200, 500, 429]
    assert (relay.calls, relay.failed) == (3, 2)
    assert relay.first == "status 500: out of order"


def test_an_endpoint_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    work = lambda url: post(url + "/chat/completions")[0]  # noqa: E731
    relay, _, status = through("http://127.0.0.1:9/v1", work, tmp_path)
    assert (status, relay.calls, relay.failed) == (502, 1, 1)


REFUSED: dict[str, dict[str, Any]] = {
    "a budget that is spent": {"command": CommandState(Budget(max_calls=0))},
    "offline": {"offline": True},
}


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED)
def test_what_may_not_be_asked_is_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with serving(lambda body, number: Answer("yes")) as server:
        work = lambda url: post(url + "/chat/completions")[0]  # noqa: E731
        relay, _, status = through(server.url, work, tmp_path, **options)
    assert (status, relay.calls, server.requests) == (403, 0, [])


def test_only_who_knows_the_address_gets_through(tmp_path: Path) -> None:
    with serving(lambda body, number: Answer("yes")) as server:

        def guessed(url: str) -> int:
            origin = url.split("/")[2]
            return post(f"http://{origin}/v1/chat/completions")[0]

        relay, _, status = through(server.url, guessed, tmp_path)
    assert (status, relay.calls, server.requests) == (404, 0, [])


def test_without_a_model_there_is_no_relay() -> None:
    async def run() -> Relay | None:
        async with relayed(NoModel()) as relay:
            return relay

    assert asyncio.run(run()) is None
