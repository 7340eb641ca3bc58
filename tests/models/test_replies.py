"""The key of a request, equal requests in flight, replay, refresh, and caches behind."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, attestation, attesting, in_turn, running
from tests.models.clients import ask, ask_many, client_to, failure, kinds, settings_for
from tests.models.clock import run
from trecjudge.judges.citation import ATTEST
from trecjudge.models.prompt import Form, Prompts
from trecjudge.models.requests import Requests

PAIR = {"document": "Text.", "sentence": "A claim."}


def key(form: Form = "schema", prompts: dict[str, str] | None = None, **settings: Any) -> str:
    made = settings_for(settings.pop("base_url", "http://a/v1"), **settings)
    return Requests(made, Prompts(prompts or {})).make(ATTEST, PAIR, form).key


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://b/v1"},
        {"model": "other"},
        {"temperature": 0.5},
        {"temperature": None},
        {"seed": 1},
        {"max_tokens": 100},
        {"reasoning": True},
        {"extra_body": {"top_k": 1}},
        {"query": {"api-version": "V"}},
        {"headers": {"X-Route": "elsewhere"}},
        {"form": "chat"},
        {"prompts": {"attest": "Is the {sentence} so?"}},
    ],
    ids=str,
)
def test_what_changes_the_answer_changes_the_key(change: dict[str, Any]) -> None:
    assert key(**change) != key()


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://a/v1/"},
        {"api_key": "another"},
        {"timeout": 1.0},
        {"tries": 9},
        {"patience": 1.0},
        {"give_up_after": 1},
        {"in_flight": 1},
        {"rpm": 10.0},
        {"tpm": 10.0},
        {"prices": {"input": 1.0, "output": 1.0}},
        {"ca_file": "ca.pem"},
        {"cert_file": "me.pem", "key_file": "me.key"},
        {"headers": {"X-Gate": "${GATE}"}},
        {"base_url": ["http://a", "http://b"]},
    ],
    ids=str,
)
def test_what_does_not_does_not(change: dict[str, Any]) -> None:
    assert key(**change) == key()


@pytest.mark.parametrize("name", ["document", "sentence"])
def test_every_input_is_in_the_key(name: str) -> None:
    requests = Requests(settings_for("http://a/v1"), Prompts())
    changed = PAIR | {name: PAIR[name] + " "}
    assert requests.make(ATTEST, changed, "chat").key != requests.make(ATTEST, PAIR, "chat").key


def test_equal_requests_in_flight_are_one(tmp_path: Path) -> None:
    async def many() -> tuple[int, dict[str, Any]]:
        async with (
            running(attesting(delay=1.0)) as endpoint,
            client_to(endpoint, tmp_path) as client,
        ):
            await asyncio.gather(*(ask(client) for _ in range(50)))
            return len(endpoint.requests), client.spent()

    asked, spent = run(many())
    assert (asked, spent["calls"], spent["saved"], spent["cached"]) == (1, 1, 49, 0)


def test_who_gives_up_waiting_takes_nothing_from_the_others(tmp_path: Path) -> None:
    async def three() -> tuple[str, int]:
        async with (
            running(attesting(delay=1.0)) as endpoint,
            client_to(endpoint, tmp_path, structured="always") as client,
        ):
            first, second = (asyncio.create_task(ask(client)) for _ in range(2))
            await asyncio.sleep(0.5)
            first.cancel()
            return (await second).fields["label"], len(endpoint.requests)

    assert run(three()) == ("full_support", 1)


def test_the_next_client_asks_nothing(tmp_path: Path) -> None:
    async def twice() -> tuple[int, dict[str, Any]]:
        async with running(attesting()) as endpoint:
            async with client_to(endpoint, tmp_path) as client:
                await ask_many(client, 5)
            async with client_to(endpoint, tmp_path) as client:
                found = await ask_many(client, 5)
                assert all(not isinstance(f, BaseException) and f.call.usage.cached for f in found)
                return len(endpoint.requests), client.spent()

    asked, spent = run(twice())
    assert (asked, spent["calls"], spent["cached"]) == (5, 0, 5)


@pytest.mark.parametrize("bad", ["", "no form", '{"evidence": "", "label": "odd"}'])
def test_only_replies_that_parse_are_kept(bad: str, tmp_path: Path) -> None:
    async def twice() -> tuple[str, str]:
        script = in_turn(Answer(bad), Answer())
        async with running(script) as endpoint:
            async with client_to(endpoint, tmp_path, tries=1) as client:
                first = (await failure(client)).kind
            async with client_to(endpoint, tmp_path, tries=1) as client:
                return first, (await ask(client)).fields["label"]

    first, second = run(twice())
    assert (first, second) == ("parse" if bad else "empty", "full_support")


def test_refresh_asks_again_and_replaces(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body, "no_support" if number else "full_support"))

    async def three() -> tuple[list[str], int]:
        labels = []
        async with running(script) as endpoint:
            for refresh in (False, True, False):
                async with client_to(endpoint, tmp_path, refresh=refresh) as client:
                    labels += [(await ask(client)).fields["label"] for _ in range(2)]
            return labels, len(endpoint.requests)

    assert run(three()) == (["full_support"] * 2 + ["no_support"] * 4, 2)


def test_offline_replays_and_asks_nothing(tmp_path: Path) -> None:
    async def twice() -> tuple[list[str], int]:
        async with running(attesting()) as endpoint:
            async with client_to(endpoint, tmp_path) as client:
                await ask_many(client, 2)
            async with client_to(endpoint, tmp_path, offline=True) as client:
                return kinds(await ask_many(client, 4)), len(endpoint.requests)

    assert run(twice()) == (["ok", "ok", "offline", "offline"], 2)


def test_caches_behind_are_read_and_not_written(tmp_path: Path) -> None:
    async def three() -> tuple[list[str], int]:
        async with running(attesting()) as endpoint:
            for name, count in (("a", 2), ("b", 4)):
                async with client_to(endpoint, tmp_path / name) as client:
                    await ask_many(client, count)
            before = (tmp_path / "a" / "replies.sqlite").read_bytes()
            endpoint.requests.clear()
            behind = [tmp_path / "a", tmp_path / "b"]
            async with client_to(endpoint, tmp_path / "c", behind=behind) as client:
                found = kinds(await ask_many(client, 6))
            assert (tmp_path / "a" / "replies.sqlite").read_bytes() == before
            return found, len(endpoint.requests)

    assert run(three()) == (["ok"] * 6, 2)


def test_what_was_paid_is_kept_when_the_client_closes_in_the_middle(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body)) if number < 9 else Answer(status=401, delay=0.5)

    async def many() -> tuple[list[str], int]:
        async with running(script) as endpoint:
            async with client_to(endpoint, tmp_path, in_flight=4) as client:
                first = kinds(await ask_many(client, 12))
            async with client_to(endpoint, tmp_path, offline=True) as client:
                return first, kinds(await ask_many(client, 12)).count("ok")

    first, kept = run(many())
    assert (first.count("ok"), first.count("ModelError"), kept) == (9, 0, 9)
