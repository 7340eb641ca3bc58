"""An endpoint that takes requests and never answers: said in time, and ended by time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, attestation, running
from tests.models.clients import ask_many, client_to, kinds
from tests.models.clock import now, run
from trecjudge.errors import ModelError
from trecjudge.models.pace import Watchdog

Streams = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"


async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(9_999)


async def only_headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD)
    await asyncio.sleep(9_999)


async def dripping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for byte in HEAD + b" " * 500:
        writer.write(bytes([byte]))
        await asyncio.sleep(10)


async def resetting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(10)
    writer.transport.abort()


@asynccontextmanager
async def listening(serve: Streams) -> AsyncIterator[str]:
    """Run a server that takes connections."""

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.current_task())
        try:
            await serve(reader, writer)
        except (asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.transport.abort()

    tasks: list[Any] = []
    server = await asyncio.start_server(served, "127.0.0.1", 0)
    try:
        host, port = server.sockets[0].getsockname()
        yield f"http://{host}:{port}/v1"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


async def asked(
    url: str, folder: Path, count: int = 10, **settings: Any
) -> tuple[list[Any], float, list[str]]:
    notices: list[str] = []
    async with client_to(url, folder, notify=notices.append, **settings) as client:
        began = now()
        return await ask_many(client, count), now() - began, notices


async def never(serve: Streams, folder: Path, **settings: Any) -> tuple[Any, float, list[str]]:
    async with listening(serve) as url:
        found, seconds, notices = await asked(url, folder, **settings)
    assert {type(error) for error in found} == {ModelError}
    return found[0], seconds, notices


HANGING = pytest.mark.parametrize("serve", [mute, only_headers, dripping])


@HANGING
def test_one_that_never_answered_ends_the_job_by_time(serve: Streams, tmp_path: Path) -> None:
    error, seconds, notices = run(never(serve, tmp_path))
    assert 300 <= seconds < 303
    assert "no answer at all for 300 s (llm.first_answer); check OPENAI_BASE_URL" in str(error)
    assert "run the same command again" in str(error)
    assert "no answer at all for 5 s, 1 requests under way; the job ends after 300 s" in notices[0]
    assert [n.split(" for ")[1][:5] for n in notices] == [
        "5 s, ",
        "30 s,",
        "60 s,",
        "120 s",
        "240 s",
    ]


@pytest.mark.parametrize(
    ("settings", "least", "named"),
    [
        pytest.param({"first_answer": 500.0, "tries": 9}, 500, "llm.first_answer", id="set"),
        pytest.param({"patience": 250.0}, 250, "llm.patience", id="less patience"),
        pytest.param({"timeout": 200.0}, 400, "twice llm.timeout", id="slow tries"),
        pytest.param(
            {"timeout": 2.0, "first_answer": 9.0}, 9, "llm.first_answer", id="short tries"
        ),
    ],
)
def test_the_limit_can_be_set(
    settings: dict[str, float], least: float, named: str, tmp_path: Path
) -> None:
    error, seconds, _ = run(never(mute, tmp_path, **settings))
    assert least <= seconds < least + 35
    assert f"no answer at all for {least} s ({named})" in str(error)


def test_one_that_only_resets_ends_by_the_same_limit(tmp_path: Path) -> None:
    error, seconds, notices = run(never(resetting, tmp_path))
    assert 300 <= seconds < 340
    assert "no answer at all for 300 s (llm.first_answer): " in str(error)
    assert "/chat/completions, 5 s" in notices[0]


def test_one_that_does_not_shake_hands(tmp_path: Path) -> None:
    async def by_tls() -> tuple[list[Any], float, list[str]]:
        async with listening(mute) as url:
            return await asked(url.replace("http:", "https:"), tmp_path)

    found, seconds, notices = run(by_tls())
    assert isinstance(found[0], ModelError)
    assert 30 <= seconds < 303
    assert "no answer at all for 5 s" in notices[0]


@pytest.mark.parametrize("in_flight", [1, 8])
def test_one_that_answered_and_then_hangs_ends_the_asking(in_flight: int, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body), delay=9_999 if number >= 5 else 0)

    async def hanging() -> tuple[list[Any], float, list[str]]:
        async with running(script) as endpoint:
            return await asked(endpoint.url, tmp_path, 40, in_flight=in_flight)

    found, seconds, notices = run(hanging())
    assert kinds(found).count("ok") == 5
    assert set(kinds(found)) <= {"ok", "transport", "stopped"}
    assert 900 <= seconds < 1100
    assert "no answer at all for 5 s" in notices[0]
    assert "no more is asked after 900 s (llm.patience)" in notices[0]
    assert "run the same command again to go on" in notices[-1]


@pytest.mark.parametrize("serve", [mute, only_headers])
def test_batches_end_by_time_too(serve: Streams, tmp_path: Path) -> None:
    error, seconds, notices = run(never(serve, tmp_path, batch=True))
    assert 300 <= seconds < 430
    assert "no answer at all for 300 s (llm.first_answer)" in str(error)
    assert "/v1/chat/completions: no answer, for 5 s" in notices[0]


def test_one_that_answers_slowly_is_asked_to_the_end(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body), delay=100)

    async def slow() -> tuple[list[Any], float, list[str]]:
        async with running(script) as endpoint:
            return await asked(endpoint.url, tmp_path, in_flight=1)

    found, _, notices = run(slow())
    assert kinds(found) == ["ok"] * 10
    assert len(notices) <= 3  # it is known by then how slow it is


def test_any_answer_is_a_sign_of_life(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(status=503) if number < 60 else Answer(attestation(body))

    async def loading() -> tuple[list[Any], float, list[str]]:
        async with running(script) as endpoint:
            return await asked(endpoint.url, tmp_path, 1, patience=2000.0)

    found, seconds, notices = run(loading())
    assert (kinds(found), seconds > 300) == (["ok"], True)
    assert not [notice for notice in notices if "no answer" in notice]


def test_time_in_which_nothing_is_asked_is_no_silence() -> None:
    async def idle() -> float:
        silence = Watchdog(300, 900)

        async def measure() -> float:
            return silence._seconds()

        await silence.watch(asyncio.sleep(1))
        await asyncio.sleep(5_000)
        return await silence.watch(measure())

    assert run(idle()) < 1
