"""Replies without end, or of a gigabyte in a few bytes: one call each, the rest is judged."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import itertools
import json
import signal
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, attestation, completion, in_a_thread, text_of
from tests.models.clients import ask_many, client_to, kinds
from tests.models.processes import Here, runs, start, wait_until

Send = Callable[[asyncio.StreamWriter], Awaitable[None]]
ODD = "Claim 1."
ITEMS = 4
MOST = 50_000
GIGABYTE = 1 << 30
PIECE = b" " * (1 << 16)


class Rude:
    """An endpoint that answers one item in a way of its own, the others as it should."""

    def __init__(self, send: Send, odd: str = ODD) -> None:
        self.send, self.odd = send, odd
        self.url, self.calls, self.oddly = "", 0, 0

    def environment(self) -> dict[str, str]:
        return {"OPENAI_BASE_URL": self.url, "OPENAI_MODEL": "stub", "OPENAI_API_KEY": "sk-secret"}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length:")[2].split()[0])
                body = json.loads(await reader.readexactly(length))
                self.calls += 1
                if self.odd in text_of(body):
                    self.oddly += 1
                    await self.send(writer)
                    break
                payload = json.dumps(completion(Answer(attestation(body)))).encode()
                await write(writer, head_of(200, f"Content-Length: {len(payload)}"), payload)
        writer.close()


def head_of(status: int, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Right", "Content-Type: application/json", *headers, "", ""]
    return "\r\n".join(lines).encode()


async def write(writer: asyncio.StreamWriter, *pieces: bytes) -> None:
    for piece in pieces:
        writer.write(piece)
        await writer.drain()


async def write_on(writer: asyncio.StreamWriter, pieces: Iterator[bytes]) -> None:
    """Write until nobody reads any more; fail where that never is."""
    for _, piece in zip(range(1 << 20), pieces, strict=False):
        await write(writer, piece)


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def long(status: int = 200) -> Send:
    """A body of a gigabyte, as it says."""

    async def send(writer: asyncio.StreamWriter) -> None:
        await write(writer, head_of(status, f"Content-Length: {GIGABYTE}"))
        await write_on(writer, itertools.repeat(PIECE, GIGABYTE // len(PIECE)))

    return send


def endless(piece: bytes = PIECE, status: int = 200, *headers: str) -> Send:
    """A body of chunks that never ends."""

    async def send(writer: asyncio.StreamWriter) -> None:
        await write(writer, head_of(status, "Transfer-Encoding: chunked", *headers))
        await write_on(writer, itertools.repeat(chunk(piece)))

    return send


def packed(coding: str, data: bytes) -> Send:
    async def send(writer: asyncio.StreamWriter) -> None:
        headers = (f"Content-Encoding: {coding}", f"Content-Length: {len(data)}")
        await write(writer, head_of(200, *headers), data)

    return send


def raw(beginning: bytes, piece: bytes) -> Send:
    """What is no body, and never ends."""

    async def send(writer: asyncio.StreamWriter) -> None:
        await write(writer, beginning)
        await write_on(writer, itertools.repeat(piece))

    return send


def until_closed() -> Send:
    """A body without a length, which ends with the connection, and that never."""
    return raw(head_of(200, "Connection: close"), PIECE)


def later(made: Callable[[], Send]) -> Send:
    """What is packed only when it is sent."""

    async def send(writer: asyncio.StreamWriter) -> None:
        await made()(writer)

    return send


def bomb(wbits: int, size: int = 50 << 20) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    return packer.compress(b'{"a": "' + b" " * size) + packer.flush()


EVENT = b'data: {"choices": [{"delta": {"content": "on and on "}}]}\n\n'
HEAD = b"HTTP/1.1 200 Right\r\n"
TOO_LARGE = {
    "a gigabyte": long(),
    "chunks without end": endless(),
    "no length and no end": until_closed(),
    "events without end": endless(EVENT * 100),
    "comments of a stream without end": endless(b": wait\n" * 1000),
    "gzip": later(lambda: packed("gzip", bomb(31))),
    "x-gzip in chunks": later(lambda: endless(bomb(31), 200, "Content-Encoding: x-gzip")),
    "deflate": later(lambda: packed("deflate", bomb(15))),
    "deflate without a header": later(lambda: packed("deflate", bomb(-15))),
}
NOT_SO = {
    "br": packed("br", b"\x0b" * 100),
    "gzip in gzip": later(lambda: packed("gzip, gzip", gzip.compress(bomb(31)))),
    "gzip that is none": packed("gzip", b"no gzip"),
    "a header without end": raw(HEAD + b"A: ", b"x" * 1000),
    "headers without end": raw(HEAD, b"A: b\r\n" * 1000),
    "first line without end": raw(b"HTTP/1.1 200 ", PIECE),
    "trailers without end": raw(
        head_of(200, "Transfer-Encoding: chunked") + b"0\r\n", b"A: b\r\n" * 1000
    ),
    "an error of 500 without end": endless(status=500),
    "an error of 500 of a gigabyte": long(500),
}
WITHOUT_END = {
    "continue without end": raw(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "a size of a chunk without end": raw(head_of(200, "Transfer-Encoding: chunked"), b"0" * 1000),
    "white space before a header without end": raw(HEAD + b"A: ", PIECE),
}
"""What the parser holds nothing of: it ends by time."""


@asynccontextmanager
async def rude(send: Send, odd: str = ODD) -> AsyncIterator[Rude]:
    endpoint = Rude(send, odd)
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server:
        yield endpoint


def asked(send: Send, folder: Path, **settings: Any) -> tuple[list[str], int, float]:
    """Return how items fared, how often the odd one was asked, and the seconds that it took."""

    async def all_of() -> tuple[list[str], int, float]:
        async with rude(send) as endpoint:
            given = {"most_bytes": MOST, "timeout": 10, "tries": 2, "patience": 1} | settings
            async with client_to(endpoint.url, folder, **given) as client:
                began = time.monotonic()
                found = kinds(await ask_many(client, ITEMS))
                return found, endpoint.oddly, time.monotonic() - began

    return asyncio.run(all_of())


@pytest.mark.parametrize("send", TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_reply_that_is_too_large_is_asked_for_once(send: Send, tmp_path: Path) -> None:
    found, calls, seconds = asked(send, tmp_path)
    assert (found, calls) == (["ok", "too_large", "ok", "ok"], 1)
    assert seconds < 10


@pytest.mark.parametrize("send", NOT_SO.values(), ids=NOT_SO)
def test_what_is_no_answer_is_a_failure_of_the_connection(send: Send, tmp_path: Path) -> None:
    found, calls, seconds = asked(send, tmp_path, structured="never")
    assert (found, calls) == (["ok", "transport", "ok", "ok"], 2)
    assert seconds < 10


@pytest.mark.parametrize("send", WITHOUT_END.values(), ids=WITHOUT_END)
def test_what_never_becomes_an_answer_ends_by_time(send: Send, tmp_path: Path) -> None:
    found, _, seconds = asked(send, tmp_path, structured="never", timeout=1, tries=1)
    assert [found[0], *found[2:]] == ["ok", "ok", "ok"]
    assert found[1] in ("transport", "stopped")
    assert seconds < 10


def test_an_error_without_end_is_read_to_its_words(tmp_path: Path) -> None:
    piece = json.dumps({"error": {"message": "no " * 30_000}}).encode()
    found, calls, _ = asked(endless(piece, 400), tmp_path, structured="never")
    assert (found, calls) == (["ok", "refused", "ok", "ok"], 1)


def test_the_job_judges_the_rest(tmp_path: Path, here: Here) -> None:
    runs(tmp_path / "runs")
    with in_a_thread(rude(endless(), "Fact 3 3.")) as endpoint:
        done = here(endpoint, "cache", "x")
    assert (done.status, "Traceback" in done.err) == (3, False)
    assert (endpoint.oddly, endpoint.calls) == (1, 200)
    failed = [line for line in (tmp_path / "x.judgments.jsonl").open() if "too_large" in line]
    assert ['"topic_id":"3","sentence_index":3,' in line for line in failed] == [True]


def test_a_large_reply_does_not_hold_an_interrupt(tmp_path: Path) -> None:
    runs(tmp_path / "runs")
    sent = itertools.count()

    async def send(writer: asyncio.StreamWriter) -> None:
        await write(writer, head_of(200, "Transfer-Encoding: chunked"))
        while next(sent) < 1 << 14:
            await write(writer, chunk(PIECE))
            await asyncio.sleep(0.002)

    with in_a_thread(rude(send, "Fact 9 19.")) as endpoint:
        process = start(tmp_path, endpoint, "cache", "--set", "llm.most_bytes=2000000000")
        wait_until(lambda: endpoint.calls == 200 and next(sent) > 100)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1].decode()
    assert (process.returncode, time.monotonic() - began < 5) == (130, True)
    assert "kept: 199 replies of the model" in said
    assert "lost: 1 requests" in said
