"""One request to an OpenAI-compatible endpoint, and what its answer means."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

from trecjudge.errors import ModelError
from trecjudge.findings import shown
from trecjudge.llm.settings import LlmSettings

AGAIN = frozenset({408, 409, 425, 429, *range(500, 600)})
HOPELESS = frozenset({401, 403, 404})


class Retry(Exception):
    """This try failed and another may not; `kind` as in JudgmentFailed, `after` in seconds."""

    def __init__(self, kind: str, message: str, after: float = 0.0, reply: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.after = after
        self.reply = reply


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
    """A keep-alive session with at most `in_flight` requests under way."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.in_flight)
        connector = aiohttp.TCPConnector(limit=settings.in_flight)
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=settings.timeout),
            headers={
                "Authorization": f"Bearer {settings.api_key}",
                "Content-Type": "application/json",
            },
        )

    async def post(self, body: dict[str, Any]) -> Reply:
        """Send one request. Raises Retry, Refused, or ModelError where nothing can help."""
        try:
            async with (
                self._slots,
                self._session.post(
                    self._settings.url, data=orjson.dumps(body), allow_redirects=False
                ) as response,
            ):
                payload = await response.read()
                status, headers = response.status, response.headers
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Retry("transport", f"{type(error).__name__}: {error}".rstrip(": ")) from error
        if status != 200:
            raise self._failure(status, payload, headers.get("Retry-After", ""))
        return _reply(payload)

    def _failure(self, status: int, payload: bytes, retry_after: str) -> Exception:
        said = f"HTTP {status}: {_message(payload)}".replace(self._settings.api_key, "***")
        if status in AGAIN:
            return Retry("transport", said, _seconds(retry_after))
        if status in HOPELESS:
            hint = {401: "check OPENAI_API_KEY", 403: "check OPENAI_API_KEY"}
            advice = hint.get(status, "check OPENAI_BASE_URL and OPENAI_MODEL")
            return ModelError(f"{self._settings.url}: {said}; {advice}")
        return Refused(said)

    async def close(self) -> None:
        """Close the session."""
        await self._session.close()


def _reply(payload: bytes) -> Reply:
    try:
        answer = orjson.loads(payload)
        choice = answer["choices"][0]
        text = choice["message"]["content"]
        usage = answer.get("usage") or {}
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError) as error:
        raise Retry("transport", f"the reply is no completion: {shown(payload)}") from error
    if not isinstance(text, str) or not text.strip():
        raise Retry("empty", "the reply is empty")
    return Reply(
        text,
        str(choice.get("finish_reason") or "stop"),
        int(usage.get("prompt_tokens") or 0),
        int(usage.get("completion_tokens") or 0),
    )


def _message(payload: bytes) -> str:
    try:
        return str(orjson.loads(payload)["error"]["message"])[:300]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return payload[:300].decode(errors="replace").strip()


def _seconds(retry_after: str) -> float:
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        return 0.0
