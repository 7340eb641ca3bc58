"""Replies by JSON schema where the endpoint takes them, by field markers where it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, Script, attestation, attesting, in_chat_form, running
from tests.models.clients import ask, ask_many, client_to, kinds
from tests.models.clock import run

CHAT_ONLY = in_chat_form(attesting("partial_support"))


def forms(requests: list[dict[str, Any]]) -> list[str]:
    return ["schema" if "response_format" in body else "chat" for body in requests]


def test_the_schema_is_tried_first(tmp_path: Path) -> None:
    async def once() -> dict[str, Any]:
        async with running(attesting()) as endpoint, client_to(endpoint, tmp_path) as client:
            await ask(client)
            return dict(endpoint.requests[0]["response_format"])

    found = run(once())
    assert (found["type"], found["json_schema"]["strict"]) == ("json_schema", True)
    schema = found["json_schema"]["schema"]
    assert schema["properties"]["label"]["enum"] == [
        "full_support", "partial_support", "no_support",
    ]  # fmt: skip
    assert list(schema["properties"]) == schema["required"] == ["evidence", "label"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("together", [True, False], ids=["many in flight", "in sequence"])
def test_an_endpoint_that_takes_no_schema_is_found_out_once(together: bool, tmp_path: Path) -> None:
    async def twice() -> tuple[list[str], list[str]]:
        async with running(CHAT_ONLY) as endpoint:
            async with client_to(endpoint, tmp_path) as client:
                if together:
                    assert kinds(await ask_many(client, 40)) == ["ok"] * 40
                else:
                    labels = [(await ask(client, f"{n}.")).fields["label"] for n in range(40)]
                    assert set(labels) == {"partial_support"}
            first = forms(endpoint.requests)
            endpoint.requests.clear()
            async with client_to(endpoint, tmp_path) as client:
                await ask(client, "A new one.")
                await ask(client, "Another.")
            return first, forms(endpoint.requests)

    assert run(twice()) == (["schema"] + ["chat"] * 40, ["chat"] * 2)


@pytest.mark.parametrize(
    ("structured", "script", "sent", "found"),
    [
        ("always", attesting(), ["schema"], "ok"),
        ("never", attesting(), ["chat"], "ok"),
        ("never", CHAT_ONLY, ["chat"], "ok"),
        ("always", CHAT_ONLY, ["schema"], "refused"),
        ("auto", lambda body, number: Answer(status=400), ["schema", "chat"], "refused"),
        ("never", lambda body, number: Answer(status=400), ["chat"], "refused"),
    ],
    ids=[
        "always",
        "never",
        "never at one without",
        "always at one without",
        "auto: 400 to all",
        "never: 400",
    ],
)
def test_settings(
    structured: str, script: Script, sent: list[str], found: str, tmp_path: Path
) -> None:
    async def asked() -> tuple[list[str], list[str]]:
        async with (
            running(script) as endpoint,
            client_to(endpoint, tmp_path, structured=structured) as client,
        ):
            outcome = kinds(await ask_many(client, 1))
            return forms(endpoint.requests), outcome

    assert run(asked()) == (sent, [found])


def too_long(body: dict[str, Any], number: int) -> Answer:
    """Refuse what mentions claim 3, as an endpoint does with what its model cannot hold."""
    long = "Claim 3." in str(body["messages"])
    return Answer(status=400) if long else Answer(attestation(body))


@pytest.mark.parametrize("script", [too_long, in_chat_form(too_long)], ids=["schema", "chat"])
def test_a_refusal_after_a_success_is_of_that_item_only(script: Script, tmp_path: Path) -> None:
    async def many() -> tuple[list[str], list[str]]:
        async with running(script) as endpoint:
            async with client_to(endpoint, tmp_path) as client:
                await ask(client)
                first = kinds(await ask_many(client, 5))
            async with client_to(endpoint, tmp_path) as client:
                again = kinds([*(await ask_many(client, 5))])
            return first, again

    as_expected = ["ok", "ok", "ok", "refused", "ok"]
    assert run(many()) == (as_expected, as_expected)
