"""One request to an OpenAI-compatible endpoint: sent at a pace, its answer told apart."""

from __future__ import annotations

import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import aiohttp
import orjson

from trecjudge.findings import shown
from trecjudge.llm.envelope import Reply, answer_in, reply_in
from trecjudge.llm.faults import (
    Busy,
    ConfigurationFault,
    Fault,
    Unreachable,
    fault_of,
    is_error,
    plain,
    said_in,
    status_of,
)
from trecjudge.llm.pace import LONGEST_WAIT, Pace, seconds_of
from trecjudge.llm.settings import LlmSettings

T = TypeVar("T")
TOO_MANY = 429
SHORTEST_SECRET = 16
_TRY_AGAIN = re.compile(
    r"(?:try again|retry|wait)\D{0,20}?((?:\d+(?:\.\d+)?\s*(?:ms|[smh]|seconds?|minutes?|hours?)(?![a-z])\s?)+)"
)


class Transport:
    """A keep-alive session whose requests keep to a pace."""

    def __init__(self, settings: LlmSettings) -> None:
        self.pace = Pace.of(settings.in_flight, settings.rpm, settings.tpm)
        self._url = settings.url
        self._key = settings.api_key
        context = ssl.create_default_context(cafile=settings.ca_file) if settings.ca_file else True
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=settings.in_flight, ssl=context),
            timeout=aiohttp.ClientTimeout(total=settings.timeout),
            headers={
                "Authorization": f"Bearer {settings.api_key}",
                "Content-Type": "application/json",
            },
        )

    async def post(
        self,
        body: dict[str, Any],
        tokens: int,
        admit: Callable[[], None],
        keep: Callable[[Reply], Awaitable[T]],
    ) -> T:
        """Send one request when its turn comes; return what `keep` makes of the reply.

        `tokens` is an estimate of what it will cost. `admit` is called when its turn has come, and
        may raise. The place is held until `keep` is done: what a killed process has paid for in
        vain is never more than what was in flight. Raises a Fault.
        """
        await self.pace.enter(tokens)
        try:
            admit()
            return await keep(await self._reply(body))
        finally:
            self.pace.leave()

    async def _reply(self, body: dict[str, Any]) -> Reply:
        status, headers, payload = await self._exchange(orjson.dumps(body))
        self.pace.learn(headers)
        if status != 200:
            raise self._failure(status, headers, payload)
        answer = answer_in(payload)
        reply = reply_in(answer)
        if reply is None:
            if isinstance(answer, Mapping) and is_error(answer):
                raise self._failure(status, headers, payload)
            said = shown(self._masked(plain(payload.decode(errors="replace"))).strip())
            said = f"the reply is no completion: {said}"
            if answer is None and payload.lstrip().startswith(b"<"):  # a page, not an endpoint
                raise Unreachable("transport", said, status)
            raise Fault("transport", said)
        self.pace.succeeded()
        # Masked, since replies are logged and kept; a key of a few letters is no secret.
        if len(self._key) < SHORTEST_SECRET or self._key not in reply.text + reply.reasoning:
            return reply
        text, thought = self._masked(reply.text), self._masked(reply.reasoning)
        return replace(reply, text=text, reasoning=thought)

    async def _exchange(self, body: bytes) -> tuple[int, Any, bytes]:
        unreachable = ""
        try:
            # A redirect is not followed: it would carry the key to another host.
            async with self._session.post(self._url, data=body, allow_redirects=False) as response:
                return response.status, response.headers, await response.read()
        except aiohttp.ClientConnectorError as error:
            unreachable = f"{type(error).__name__}: {error}".rstrip(": ")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            said = f"{type(error).__name__}: {error}".rstrip(": ")
        # Raised out here, since aiohttp's own exception may hold the headers, and so the key.
        if unreachable:
            raise Unreachable("transport", self._masked(unreachable))
        raise Fault("transport", self._masked(said))

    def _failure(self, status: int, headers: Any, payload: bytes) -> Fault:
        """Return the fault of an answer that is no completion; of one too many, slow down."""
        if 300 <= status < 400:
            where = shown(self._masked(headers.get("Location", "")))
            message = f"HTTP {status}: redirects to {where}; set OPENAI_BASE_URL to it"
            return ConfigurationFault("refused", message, status)
        said = said_in(status, payload, self._masked)
        if status == 200:
            said = replace(said, status=status_of(said))
        fault = fault_of(said, _asked_to_wait(headers, said.words))
        if isinstance(fault, Busy) and said.status == TOO_MANY:
            self.pace.refused(fault.after)
        return fault

    def _masked(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    async def close(self) -> None:
        """Close the session."""
        await self._session.close()


def _asked_to_wait(headers: Mapping[str, str], words: str) -> float:
    """Return the seconds that an answer asks to wait, by header or in words; 0 if it does not."""
    if seconds := _seconds(headers.get("Retry-After", "")):
        return seconds
    if seconds := seconds_of(f"{headers.get('retry-after-ms', '')}ms"):
        return min(LONGEST_WAIT, seconds)
    if seconds := _until(headers.get("x-ratelimit-reset", "")):
        return min(LONGEST_WAIT, seconds)
    found = _TRY_AGAIN.search(words.lower())
    return min(LONGEST_WAIT, seconds_of(found[1].replace(" ", ""))) if found else 0.0


def _until(reset: str) -> float:
    """Return the seconds until a reset: given in seconds, or as seconds or milliseconds of time."""
    seconds = seconds_of(reset)
    if seconds > 1e12:
        seconds /= 1000
    return max(0.0, seconds - datetime.now(UTC).timestamp()) if seconds > 1e9 else seconds


def _seconds(retry_after: str) -> float:
    """Return a Retry-After header, seconds or a date, as seconds from now, capped."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            then = parsedate_to_datetime(retry_after)
        except ValueError:
            return 0.0
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        seconds = (then - datetime.now(UTC)).total_seconds()
    return min(LONGEST_WAIT, max(0.0, seconds)) if seconds == seconds else 0.0
