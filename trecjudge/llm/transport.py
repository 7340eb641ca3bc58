"""One request to an OpenAI-compatible endpoint, and what its answer means."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import aiohttp
import orjson

from trecjudge.errors import ModelError
from trecjudge.findings import shown
from trecjudge.llm.pace import LONGEST_WAIT, Pace
from trecjudge.llm.settings import LlmSettings

T = TypeVar("T")
AGAIN = frozenset({408, 409, 425, *range(500, 600)})
TOO_MANY = 429
ADVICE = {
    401: "check OPENAI_API_KEY",
    403: "check OPENAI_API_KEY",
    404: "check OPENAI_BASE_URL and OPENAI_MODEL",
}
LONGEST_MESSAGE = 300
MOST_TOKENS = 1 << 40
SHORTEST_SECRET = 16


class Retry(Exception):
    """This try failed and another may not; `kind` as in JudgmentFailed."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Unreachable(Retry):
    """There is no connection to the endpoint."""

    def __init__(self, message: str) -> None:
        super().__init__("transport", message)


class Throttled(Retry):
    """The endpoint is busy; `after` are the seconds that it asked to wait, at least."""

    def __init__(self, message: str, after: float) -> None:
        super().__init__("transport", message)
        self.after = after


class Refused(Exception):
    """The endpoint refuses this very request; asking again would not help."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of a completion and its cost."""

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0


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
        vain is never more than what was in flight. Raises Retry, Refused, or ModelError where
        nothing can help.
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
        if status == TOO_MANY:
            after = _seconds(headers.get("Retry-After", ""))
            self.pace.refused(after)
            raise Throttled(self._said(status, payload), after)
        if status != 200:
            raise self._failure(status, headers, payload)
        self.pace.succeeded()
        reply = _reply(payload)
        if reply is None:
            said = shown(self._masked(payload.decode(errors="replace")))
            raise Retry("transport", f"the reply is no completion: {said}")
        # Masked, since replies are logged and kept; a key of a few letters is no secret.
        long = len(self._key) >= SHORTEST_SECRET
        return replace(reply, text=self._masked(reply.text)) if long else reply

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
            raise Unreachable(self._masked(unreachable))
        raise Retry("transport", self._masked(said))

    def _failure(self, status: int, headers: Any, payload: bytes) -> Exception:
        said = self._said(status, payload)
        if status in AGAIN:
            return Retry("transport", said)
        if 300 <= status < 400:
            where = shown(self._masked(headers.get("Location", "")))
            return ModelError(f"{self._url}: redirects to {where}; set OPENAI_BASE_URL to it")
        if status in ADVICE:
            return ModelError(f"{self._url}: {said}; {ADVICE[status]}")
        return Refused(said)

    def _said(self, status: int, payload: bytes) -> str:
        said = " ".join(self._masked(_message(payload)).split())[:LONGEST_MESSAGE]
        return f"HTTP {status}: {said}"

    def _masked(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    async def close(self) -> None:
        """Close the session."""
        await self._session.close()


def _reply(payload: bytes) -> Reply | None:
    """Return what a completion says, None if it is none. Raises Retry if it is empty."""
    try:
        answer = orjson.loads(payload)
        choice = answer["choices"][0]
        text = choice["message"]["content"]
        usage = answer.get("usage") or {}
        tokens = [_count(usage.get(f"{what}_tokens")) for what in ("prompt", "completion")]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError):
        return None
    finish = str(choice.get("finish_reason") or "stop")
    said = text if isinstance(text, str) else ""
    if not said.strip() and finish != "length":  # cut while it was still reasoning
        raise Retry("empty", "the reply is empty")
    return Reply(said, finish, *tokens)


def _count(tokens: Any) -> int:
    """Return a number of tokens, nought where it cannot be one."""
    count = int(tokens or 0)
    return count if 0 <= count < MOST_TOKENS else 0


def _message(payload: bytes) -> str:
    try:
        return str(orjson.loads(payload)["error"]["message"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return payload.decode(errors="replace")


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
