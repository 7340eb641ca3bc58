"""A real OpenAI-compatible endpoint on loopback that answers from a script."""

from __future__ import annotations

import asyncio
import json
import math
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pytest
from aiohttp import web

T = TypeVar("T")
Script = Callable[[dict[str, Any], int], "Answer"]
"""(request body, how many requests came before it) -> answer"""


@dataclass
class Answer:
    """What the endpoint sends back; `drop` closes the connection instead."""

    content: str | None = None
    status: int = 200
    finish_reason: str = "stop"
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    delay: float = 0.0
    drop: bool = False
    usage: tuple[int, int] | None = (10, 5)
    """Tokens in and out; None where the endpoint reports none."""
    served: str = ""
    """What the endpoint calls its model; empty where it does not say."""
    logprobs: Any = None
    """What the endpoint gives as the log-probabilities of the reply's tokens."""


def attestation(body: dict[str, Any], label: str = "full_support", evidence: str = "") -> str:
    """Return a reply to the citation judge's program in the form that the request asks for."""
    if "response_format" in body:
        return json.dumps({"evidence": evidence, "label": label})
    fields = {"evidence": evidence, "label": label, "completed": ""}
    return "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items())


@dataclass
class Endpoint:
    """A running endpoint: where it is, and the requests that it got.

    It answers the first `answers` requests; the others wait until there are more.
    """

    script: Script
    url: str = ""
    answers: float = math.inf
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = await request.json()
        number = len(self.requests)
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        self.targets.append(request.path_qs)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            answer = self.script(body, number)
            await asyncio.sleep(answer.delay)
            while number >= self.answers:
                await asyncio.sleep(0.005)
        finally:
            self.in_flight -= 1
        if answer.drop and request.transport is not None:
            request.transport.abort()
        if answer.raw is not None or answer.status != 200:
            raw = answer.raw if answer.raw is not None else b'{"error": {"message": "no"}}'
            return web.Response(body=raw, status=answer.status, headers=answer.headers)
        return web.json_response(completion(answer), headers=answer.headers)

    def environment(self, key: str = "sk-secret") -> dict[str, str]:
        """Return the OPENAI_* variables that lead here."""
        return {"OPENAI_BASE_URL": self.url, "OPENAI_MODEL": "stub", "OPENAI_API_KEY": key}


def completion(answer: Answer) -> dict[str, Any]:
    """Return the body of an answer."""
    message = {"role": "assistant", "content": answer.content}
    usage = zip(("prompt_tokens", "completion_tokens"), answer.usage or (), strict=False)
    choice = {"message": message, "finish_reason": answer.finish_reason}
    more = {} if answer.logprobs is None else {"logprobs": answer.logprobs}
    named = {"model": answer.served} if answer.served else {}
    return {"choices": [choice | more], "usage": dict(usage)} | named


@asynccontextmanager
async def running(
    script: Script,
    tls: ssl.SSLContext | None = None,
    path: str = "/v1/chat/completions",
    port: int = 0,
) -> AsyncIterator[Endpoint]:
    """Run an endpoint in the running event loop."""
    endpoint = Endpoint(script)
    app = web.Application()
    app.router.add_post(path, endpoint.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls).start()
    host, port = runner.addresses[0][:2]
    endpoint.url = f"{'https' if tls else 'http'}://{host}:{port}/v1"
    try:
        yield endpoint
    finally:
        await runner.cleanup()


@contextmanager
def in_a_thread(opened: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Run an asynchronous context, such as an endpoint, in a thread of its own."""
    ready, stop = threading.Event(), asyncio.Event()
    found: list[tuple[asyncio.AbstractEventLoop, T]] = []

    async def serve() -> None:
        async with opened as endpoint:
            found.append((asyncio.get_running_loop(), endpoint))
            ready.set()
            await stop.wait()

    # This ends every task that is left, also those of connections that are still open.
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait(60)
    loop, endpoint = found[0]
    try:
        yield endpoint
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(5)


@contextmanager
def serving(script: Script, environment: pytest.MonkeyPatch | None = None) -> Iterator[Endpoint]:
    """Run an endpoint in a thread of its own; `environment` gets the variables that lead there."""
    with in_a_thread(running(script)) as endpoint:
        for name, value in endpoint.environment().items() if environment else ():
            environment.setenv(name, value)
        yield endpoint


def attesting(label: str = "full_support", evidence: str = "", delay: float = 0.0) -> Script:
    """Return a script that gives every pair the same label."""
    return lambda body, number: Answer(attestation(body, label, evidence), delay=delay)


def in_turn(*answers: Answer) -> Script:
    """Return a script that gives these answers one after the other, then always the last.

    An answer of 200 without content is one that attests.
    """

    def script(body: dict[str, Any], number: int) -> Answer:
        answer = answers[min(number, len(answers) - 1)]
        if answer.status == 200 and answer.content is None and answer.raw is None:
            return replace(answer, content=attestation(body))
        return answer

    return script


def repeating(part: str, ends_with: float = math.inf, begin: str = '{"evidence": "') -> Script:
    """Return a script that repeats a text up to the limit of tokens, 4 characters each.

    With a `frequency_penalty` of at least `ends_with` it attests.
    """

    def script(body: dict[str, Any], number: int) -> Answer:
        if body.get("frequency_penalty", 0.0) >= ends_with:
            return Answer(attestation(body))
        limit = body.get("max_completion_tokens") or body["max_tokens"]
        endless = begin + part * (4 * limit // len(part) + 1)
        return Answer(endless[: 4 * limit], finish_reason="length", usage=(10, limit))

    return script


def in_chat_form(script: Script) -> Script:
    """Return a script that refuses a reply by JSON schema, and else is `script`."""

    def chat(body: dict[str, Any], number: int) -> Answer:
        return Answer(status=400) if "response_format" in body else script(body, number)

    return chat


def text_of(body: dict[str, Any]) -> str:
    """Return the user message that a request begins with."""
    return next(str(m["content"]) for m in body["messages"] if m["role"] == "user")
