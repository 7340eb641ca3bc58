"""A relay on loopback: code of others asks the endpoint through it, and its calls are counted."""

from __future__ import annotations

import ctypes
import itertools
import os
import secrets
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from trecjudge.errors import JudgmentFailed
from trecjudge.models.access.access import Access, accesses
from trecjudge.models.access.addresses import NAMED, is_secret
from trecjudge.models.model import Model
from trecjudge.models.settings import BASE_URL, KEY, MODEL, LlmSettings
from trecjudge.models.spending import BudgetExhausted, Spending
from trecjudge.text.credentials import public

if TYPE_CHECKING:
    from aiohttp import ClientSession, web

COMPLETIONS = "/chat/completions"
NOTHING_EXPECTED = (0.0, 0.0)
BAD_GATEWAY, NOT_ASKED = 502, 403
NO_PROXY, LOOPBACK = ("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"
HOP = frozenset(
    {"content-length", "transfer-encoding", "connection", "keep-alive", "content-encoding", "date"}
)
"""Headers of an answer that are of one connection only."""


@dataclass(slots=True)
class Relay:
    """How often an endpoint was asked through a relay, and how many of these calls failed.

    `first` is why the first one failed. `variables` are those of the environment by which code of
    others finds it.
    """

    variables: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    failed: int = 0
    first: str = ""

    def fail(self, why: str) -> None:
        """Count a call that failed."""
        self.failed += 1
        self.first = self.first or why


@dataclass(slots=True)
class _Forwarding:
    """Passes requests on with the settings' own headers: no key leaves this process otherwise."""

    relay: Relay
    settings: LlmSettings
    session: ClientSession
    spending: Spending
    asks: bool
    _turn: Any = None

    def __post_init__(self) -> None:
        reached = accesses(self.settings, os.environ)
        self._turn = itertools.cycle(zip(reached, self.settings.base_urls, strict=True))

    async def handle(self, request: web.Request) -> web.Response:
        """Answer one request by what the endpoint answers."""
        from aiohttp import ClientError, web

        # In turn, since what code of others asks is not known to be about one document.
        access, base_url = next(self._turn)
        try:
            await self._admit()
        except JudgmentFailed as refused:
            return web.json_response({"error": {"message": refused.message}}, status=NOT_ASKED)
        self.relay.calls += 1
        try:
            url = _target(request.match_info["path"], access, base_url)
            data = await request.read()
            async with self.session.request(
                request.method, url, data=data, **_led(access)
            ) as answer:
                body = await answer.read()
                self._count(answer.status, body, access)
                kept = {k: v for k, v in answer.headers.items() if k.lower() not in HOP}
                return web.Response(status=answer.status, body=body, headers=kept)
        except (ClientError, OSError, TimeoutError) as error:
            why = access.mask(f"{type(error).__name__}: {error}")
            self.relay.fail(why)
            return web.json_response({"error": {"message": why}}, status=BAD_GATEWAY)
        finally:
            self.spending.release(NOTHING_EXPECTED)
            self.spending.budget.wake()

    async def _admit(self) -> None:
        """Count a call. Raises JudgmentFailed where none may be made."""
        if not self.asks:
            raise JudgmentFailed("offline", "--offline: nothing is asked")
        while True:
            try:
                return self.spending.call(NOTHING_EXPECTED)
            except BudgetExhausted:
                await self.spending.budget.room()

    def _count(self, status: int, body: bytes, access: Access) -> None:
        if status >= 400:
            start = " ".join(body[:200].decode(errors="replace").split())
            self.relay.fail(access.mask(f"status {status}: {start}"))
            return
        try:
            usage = orjson.loads(body).get("usage") or {}
            tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        except (ValueError, TypeError, AttributeError):  # a stream, or no JSON at all
            tokens = 0, 0
        self.spending.reply(*tokens, NOTHING_EXPECTED)


@asynccontextmanager
async def relayed(model: Model) -> AsyncIterator[Relay | None]:
    """Yield a relay to the endpoint of a model while it is open; None where there is no endpoint.

    Only who knows its address can use it: a part of that is random.
    """
    settings = getattr(model, "settings", None)
    if not isinstance(settings, LlmSettings):
        yield None
        return
    from aiohttp import ClientSession, ClientTimeout, TCPConnector, web

    relay = Relay()
    spending, offline = getattr(model, "spending", None), getattr(model, "offline", False)
    connector = TCPConnector(limit=settings.in_flight)
    timeout = ClientTimeout(total=settings.timeout)
    async with ClientSession(connector=connector, timeout=timeout) as session:
        forwarding = _Forwarding(relay, settings, session, spending or Spending(), not offline)
        app = web.Application(client_max_size=settings.most_bytes)
        prefix = f"/{secrets.token_urlsafe(16)}/v1"
        app.router.add_route("*", prefix + "{path:/.*}", forwarding.handle)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            port = runner.addresses[0][1]
            address = f"http://127.0.0.1:{port}{prefix}"
            relay.variables |= dict.fromkeys(BASE_URL, address)
            relay.variables |= {MODEL: settings.model, KEY: "relayed"}
            yield relay
        finally:
            await runner.cleanup()


@contextmanager
def keyless(relay: Relay | None) -> Iterator[None]:
    """Let the environment lead to a relay, or to no endpoint, and hold no secret meanwhile.

    A variable is secret by its name or value, by an address with a secret in it, or because a
    workflow sends it to the endpoint. Children that are started meanwhile find none, nor does who
    reads the environment that this process was started with.
    """
    variables = relay.variables if relay else {}
    taken = {name for name, value in os.environ.items() if _is_secret(name, value)}
    before = {name: os.environ.get(name) for name in (*taken, *BASE_URL, *NO_PROXY)}
    before |= {name: os.environ.get(name) for name in variables}
    given = dict(variables)
    if relay:  # the way to it leads through no proxy
        given |= {name: ",".join(filter(None, (before[name], LOOPBACK))) for name in NO_PROXY}
    for name in taken:
        _blank(name)
    try:
        for name in (*taken, *BASE_URL):
            os.environ.pop(name, None)
        os.environ.update(given)
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _is_secret(name: str, value: str) -> bool:
    looks = is_secret(name, value) or ("://" in value and public(value) != value)
    return name in NAMED or name == KEY or (looks and not os.path.exists(value))


def _blank(name: str) -> None:
    """Overwrite a variable where the system shows what this process was started with."""
    if sys.platform == "linux":
        find = ctypes.CDLL(None).getenv
        find.restype = ctypes.c_void_p
        if place := find(os.fsencode(name)):
            ctypes.memset(place, ord("*"), len(ctypes.string_at(place)))


def _target(path: str, access: Access, base_url: str) -> str:
    """Return the address that a request is meant for."""
    return access.url if path == COMPLETIONS else base_url.rstrip("/") + path


def _led(access: Access) -> dict[str, Any]:
    """Return the headers of a request, and what leads it to the endpoint."""
    led: dict[str, Any] = {"headers": access.headers, "ssl": access.tls or True}
    if access.proxy is not None:
        allowed = access.proxy.authorization
        led |= {"proxy": access.proxy.url}
        led |= {"proxy_headers": {"Proxy-Authorization": allowed}} if allowed else {}
    return led
