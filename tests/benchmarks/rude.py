"""An endpoint that misbehaves at random, and answers each request in the end.

The label of a pair depends on its text only, so every job must come to the same files. A request
meets at most `MOST_FAULTS` faults that cost it a try, fewer than a job has tries.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import threading
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

PAIR = re.compile(r"[0-9a-f]{8}-0000-4000-8000-[0-9a-f]{12}_\d+")
"""The id that begins an invented document; no two pairs share it."""
LABELS = ("full_support", "partial_support", "no_support")
TWO_LABELS = ("a", "b")
"""Keys whose labels differ."""
MOST_FAULTS = 2
FAULT_RATE = 0.12
LATENCY = (0.02, 0.2)
"""Seconds, at least and at most."""
HANG = 6.0
"""Seconds: longer than the job's time-out."""

Reply = Awaitable[web.StreamResponse]


@dataclass(slots=True)
class RudeEndpoint:
    """What was asked, by pair, and what went wrong."""

    faults: bool
    url: str = ""
    calls: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    _suffered: Counter[str] = field(default_factory=Counter)
    _since: int = 0
    _chance: random.Random = field(default_factory=lambda: random.Random(7))

    def take_faults(self) -> int:
        """Return how many calls met a fault since this was last asked."""
        since, self._since = self._since, 0
        return since

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer a request, or do not."""
        body: dict[str, Any] = await request.json()
        key = PAIR.findall(json.dumps(body["messages"]))[-1]
        self.calls += 1
        self.seen[key] += 1
        await asyncio.sleep(self._chance.uniform(*LATENCY))
        if self._faulty(key):
            name = self._chance.choice(list(FAULTS))
            self.met[name] += 1
            self._suffered[key] += 1
            self._since += 1
            return await FAULTS[name](request, body)
        return web.json_response(completion(label_reply(body, key)))

    def _faulty(self, key: str) -> bool:
        may = self.faults and self._suffered[key] < MOST_FAULTS
        return may and self._chance.random() < FAULT_RATE


def label_reply(body: dict[str, Any], key: str) -> str:
    """Return the reply to the citation judge's question about the pair `key`."""
    label = LABELS[zlib.crc32(key.encode()) % len(LABELS)]
    if "response_format" in body:
        return json.dumps({"evidence": "", "label": label})
    fields = {"evidence": "", "label": label, "completed": ""}
    return "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items())


def completion(content: str, finish_reason: str = "stop") -> dict[str, Any]:
    """Return the body of an answer."""
    message = {"role": "assistant", "content": content}
    return {
        "choices": [{"message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 300, "completion_tokens": 20},
    }


def _refusal(status: int, message: str, **headers: str) -> web.Response:
    return web.json_response({"error": {"message": message}}, status=status, headers=headers)


async def _busy(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return _refusal(429, "slow down", **{"Retry-After": "1"})


async def _overloaded(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return _refusal(503, "overloaded")


async def _broken(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return _refusal(502, "bad gateway")


async def _reset(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _hang(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    await asyncio.sleep(HANG)
    return web.Response(status=504)


async def _empty(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return web.json_response(completion(""))


async def _not_json(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return web.Response(body=b'{"choices": [{"mess', content_type="application/json")


async def _both_labels(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    first, second = (label_reply(body, key) for key in TWO_LABELS)
    return web.json_response(completion(f"{first}\n\nOr rather:\n\n{second}"))


async def _half_a_body(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Length": "5000"})
    await answer.prepare(request)
    await answer.write(b'{"choices": [')
    if request.transport is not None:
        request.transport.abort()
    return answer


FAULTS: dict[str, Callable[[web.Request, dict[str, Any]], Reply]] = {
    "429": _busy,
    "503": _overloaded,
    "502": _broken,
    "reset": _reset,
    "hang": _hang,
    "empty": _empty,
    "not JSON": _not_json,
    "two labels": _both_labels,
    "half a body": _half_a_body,
}


@contextmanager
def serving(faults: bool) -> Iterator[RudeEndpoint]:
    """Run an endpoint in a thread of its own."""
    endpoint = RudeEndpoint(faults)
    loop = asyncio.new_event_loop()
    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", endpoint.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)

    async def start() -> None:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        endpoint.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

    loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
