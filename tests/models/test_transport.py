"""What is sent, where to, and how the key stays a secret."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import traceback
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, attesting, in_turn, running
from tests.models.clients import KEY, ask, ask_many, client_to, settings_for
from tests.models.clock import run
from trecjudge.errors import ModelError, WorkflowError
from trecjudge.models.envelope import answer_in, reply_in
from trecjudge.models.settings import llm_settings

ENVIRONMENT = {"OPENAI_BASE_URL": "http://a/v1", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}


@pytest.mark.parametrize(
    ("environment", "workflow", "url"),
    [
        pytest.param({"OPENAI_BASE_URL": "http://a/v1"}, {}, "http://a/v1", id="base url"),
        pytest.param({"OPENAI_API_BASE": "http://b/v1"}, {}, "http://b/v1", id="api base"),
        pytest.param(
            {"OPENAI_BASE_URL": "http://a/v1", "OPENAI_API_BASE": "http://b/v1"},
            {},
            "http://a/v1",
            id="both: the base url",
        ),
        pytest.param({"OPENAI_BASE_URL": "http://a/v1/"}, {}, "http://a/v1", id="closing slash"),
        pytest.param(
            {"OPENAI_BASE_URL": "http://a/v1"},
            {"base_url": "http://c/v1"},
            "http://c/v1",
            id="the workflow wins",
        ),
    ],
)
def test_where_to(environment: dict[str, str], workflow: dict[str, Any], url: str) -> None:
    given = environment | {"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
    assert llm_settings(workflow, given).url == f"{url}/chat/completions"


@pytest.mark.parametrize(
    ("workflow", "environment", "message"),
    [
        ({}, {"OPENAI_BASE_URL": ""}, "set OPENAI_BASE_URL"),
        ({}, {"OPENAI_MODEL": ""}, "set OPENAI_MODEL"),
        ({}, {"OPENAI_API_KEY": ""}, "set OPENAI_API_KEY"),
        ({"api_key": "k"}, {}, "keys do not belong in a workflow"),
        ({"base_url": "ftp://a"}, {}, "must begin with http"),
        ({"ca_file": "/no/such.pem"}, {}, "no such file"),
        ({"tries": 0}, {}, "llm.tries is 0"),
        ({"timeout": 0.0}, {}, "llm.timeout is 0.0"),
        ({"batch_poll": 0.0}, {}, "llm.batch_poll is 0.0"),
        ({"rpm": -1.0}, {}, "llm.rpm is -1.0"),
    ],
)
def test_settings_that_cannot_be(
    workflow: dict[str, Any], environment: dict[str, str], message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        llm_settings(workflow, ENVIRONMENT | environment)


def test_an_unknown_setting_is_named_with_its_neighbour() -> None:
    with pytest.raises(WorkflowError, match="did you mean 'timeout'"):
        llm_settings({"timeuot": 3}, ENVIRONMENT)


@pytest.mark.parametrize(
    ("settings", "sent", "not_sent"),
    [
        pytest.param(
            {},
            {"model": "stub", "temperature": 0.0, "max_tokens": 512},
            {"seed", "max_completion_tokens"},
            id="defaults",
        ),
        pytest.param({"seed": 7}, {"seed": 7}, set(), id="seed"),
        pytest.param({"temperature": None}, {}, {"temperature"}, id="no temperature"),
        pytest.param(
            {"reasoning": True, "max_tokens": 99},
            {"max_completion_tokens": 99},
            {"temperature", "max_tokens"},
            id="a reasoning model",
        ),
        pytest.param(
            {"extra_body": {"top_k": 1, "think": {"on": False}}},
            {"top_k": 1, "think": {"on": False}},
            set(),
            id="further fields",
        ),
    ],
)
def test_what_is_sent(
    settings: dict[str, Any], sent: dict[str, Any], not_sent: set[str], tmp_path: Path
) -> None:
    async def once() -> tuple[dict[str, Any], dict[str, str]]:
        async with (
            running(attesting()) as endpoint,
            client_to(endpoint, tmp_path, **settings) as client,
        ):
            await ask(client)
            return endpoint.requests[0], endpoint.headers[0]

    body, headers = run(once())
    assert {name: body.get(name) for name in sent} == sent
    assert not_sent & set(body) == set()
    assert headers["Authorization"] == f"Bearer {KEY}"


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    async def once() -> tuple[str, int]:
        async with running(attesting()) as other:
            away = Answer(status=307, headers={"Location": f"{other.url}/chat/completions"})
            async with running(in_turn(away)) as endpoint, client_to(endpoint, tmp_path) as client:
                with pytest.raises(ModelError) as stopped:
                    await ask(client)
                return str(stopped.value), len(other.requests)

    message, asked = run(once())
    assert ("redirects to" in message, asked) == (True, 0)


@pytest.mark.parametrize("trusted", [True, False])
def test_a_certificate_of_ones_own(
    trusted: bool, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)

    async def once() -> list[Any]:
        trust: dict[str, Any] = {"ca_file": str(certificate[0])} if trusted else {}
        async with (
            running(attesting(), tls) as endpoint,
            client_to(endpoint, tmp_path / "cache", tries=1, **trust) as client,
        ):
            return await ask_many(client, 1)

    (found,) = run(once())
    assert ("127.0.0.1 is not trusted (self-signed" in str(found)) is not trusted


def all_texts(error: BaseException | None) -> str:
    """Return the texts of an exception and of those behind it, in every form."""
    said = []
    while error is not None:
        said += [str(error), repr(error), repr(error.args), repr(vars(error))]
        said += traceback.format_exception(error)
        error = error.__cause__ or error.__context__
    return "\n".join(said)


ECHO = f"the key {KEY} is wrong".encode()
SAID = json.dumps({"error": {"message": f"{'x' * 290} {KEY}"}}).encode()


@pytest.mark.parametrize(
    "answer",
    [
        *(
            pytest.param(Answer(status=status, raw=ECHO), id=f"echoed with {status}")
            for status in (200, 400, 401, 404, 429, 500)
        ),
        pytest.param(Answer(status=401, raw=SAID), id="echoed where the message is cut"),
        pytest.param(
            Answer(status=302, headers={"Location": f"http://b/?key={KEY}"}), id="in a redirect"
        ),
        pytest.param(Answer(drop=True), id="reset"),
        pytest.param(Answer(headers={"Content-Encoding": "gzip"}), id="a body that misfits"),
    ],
)
def test_the_key_is_in_no_message(
    answer: Answer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def once() -> str:
        async with (
            running(in_turn(answer)) as endpoint,
            client_to(endpoint, tmp_path, tries=1, patience=0.0) as client,
        ):
            (error,) = await ask_many(client, 1)
            assert isinstance(error, Exception)
            return all_texts(error) + repr(client.__dict__) + repr(client.record())

    said = run(once()) + caplog.text
    assert KEY[:9] not in said
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]


def test_the_key_is_in_no_message_about_an_answer_that_is_no_http(tmp_path: Path) -> None:
    async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HELLO\r\n\r\n")
        writer.close()

    async def once() -> str:
        async with await asyncio.start_server(nonsense, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with client_to(f"http://127.0.0.1:{port}/v1", tmp_path, tries=1) as client:
                (error,) = await ask_many(client, 1)
                assert isinstance(error, Exception)
                return all_texts(error)

    assert KEY not in run(once())


def test_the_key_is_in_no_repr() -> None:
    settings = settings_for("http://a/v1")
    assert KEY not in f"{settings!r} {settings.public()!r}"


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("OPENAI_API_KEY", "sk-a\nX-Other: 1", "OPENAI_API_KEY: holds characters that no key has"),
        ("OPENAI_BASE_URL", "http://me:word@127.0.0.1/v1", "give no name and password"),
        ("OPENAI_BASE_URL", "127.0.0.1/v1", "must begin with http"),
    ],
)
def test_an_environment_that_cannot_be_used(variable: str, value: str, message: str) -> None:
    environment = {"OPENAI_BASE_URL": "http://e/v1", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
    with pytest.raises(ModelError, match=message) as raised:
        llm_settings({}, environment | {variable: value})
    assert "word" not in str(raised.value).replace("password", "")


@pytest.mark.parametrize(
    ("usage", "counted"), [(10**30, 0), (2**63, 0), (-5, 0), (7, 7), (None, 0), (7.0, 7)]
)
def test_token_counts_that_cannot_be(usage: float | None, counted: int) -> None:
    reply = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": usage}}
    found = reply_in(answer_in(json.dumps(reply).encode()))
    assert found is not None
    assert found.prompt_tokens == counted


def test_a_reply_that_repeats_the_key_is_masked(tmp_path: Path) -> None:
    key = "sk-a-key-of-some-length"

    async def echoed() -> str:
        async with (
            running(attesting(evidence=f"Bearer {key}")) as endpoint,
            client_to(endpoint, tmp_path, api_key=key) as client,
        ):
            return (await ask(client)).call.reply

    assert "Bearer ***" in run(echoed())
