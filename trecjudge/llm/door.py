"""The door: cache, equal requests in flight as one call, retries, and what a failure becomes."""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Any

import orjson
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_random_exponential

from trecjudge.cache import CachedReply, ReplyCache
from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.llm.model import Prediction, Program
from trecjudge.llm.prompt import Prompt, Prompts, Unparsed
from trecjudge.llm.settings import LlmSettings
from trecjudge.llm.transport import Refused, Reply, Retry, Transport
from trecjudge.records import ModelCall, Usage

LONGEST_WAIT = 60.0
BACK_OFF = wait_random_exponential(multiplier=0.25, max=LONGEST_WAIT)


@dataclass(slots=True)
class Counts:
    """What the door did: calls paid for, replies from the cache, tries that failed."""

    calls: int = 0
    cached: int = 0
    shared: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(slots=True)
class Asking:
    """One distinct request on its way: the messages grow by what was wrong with a reply."""

    prompt: Prompt
    messages: list[dict[str, Any]]
    max_tokens: int
    tries: int = 0
    last_reply: str = ""
    wrong: list[dict[str, Any]] = field(default_factory=list)


class Door:
    """A Model over HTTP. Use as an async context manager."""

    available = True

    def __init__(self, settings: LlmSettings, prompts: Prompts, cache: ReplyCache) -> None:
        self.settings = settings
        self.prompts = prompts
        self.counts = Counts()
        self._cache = cache
        self._transport = Transport(settings)
        self._under_way: dict[str, asyncio.Task[tuple[dict[str, Any], ModelCall]]] = {}
        self._failed_in_a_row = 0
        self._succeeded = False

    @property
    def in_flight(self) -> int:
        """How many requests may be under way at once."""
        return self.settings.in_flight

    def spent(self) -> dict[str, int]:
        """Return calls, replies from the cache, and tokens so far."""
        return asdict(self.counts)

    def record(self) -> dict[str, Any]:
        """Return settings and prompt digests, the key left out."""
        return self.settings.public() | {"prompts_sha256": self.prompts.digests()}

    async def __aenter__(self) -> Door:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._under_way.values():
            task.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        await self._transport.close()

    async def predict(self, program: Program, **inputs: str) -> Prediction:
        """Run a program: from the cache, with an equal request under way, or by a call."""
        started = time.perf_counter()
        prompt = self.prompts[program]
        messages = prompt.messages(inputs)
        key = self._key(messages)
        found = self._from_cache(key, prompt, messages)
        if found is not None:
            self.counts.cached += 1
            fields, call = found
        else:
            fields, call = await self._shared(key, prompt, messages)
        usage = Usage(
            found is not None,
            call.usage.prompt_tokens,
            call.usage.completion_tokens,
            time.perf_counter() - started,
        )
        return Prediction(fields, ModelCall(call.program, messages, call.reply, usage, call.tries))

    def _body(self, messages: list[dict[str, Any]], max_tokens: int) -> dict[str, Any]:
        settings = self.settings
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": messages,
            "max_tokens": max_tokens,
        }
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.seed is not None:
            body["seed"] = settings.seed
        return body | settings.extra_body

    def _key(self, messages: list[dict[str, Any]]) -> str:
        """Return the sha256 of endpoint and request: everything that can change the reply."""
        request = [self.settings.url, self._body(messages, self.settings.max_tokens)]
        return hashlib.sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def _from_cache(
        self, key: str, prompt: Prompt, messages: list[dict[str, Any]]
    ) -> tuple[dict[str, Any], ModelCall] | None:
        kept = self._cache.get(key)
        if kept is None:
            return None
        try:
            fields = prompt.parse(kept.text)
        except Unparsed:
            return None
        usage = Usage(True, kept.prompt_tokens, kept.completion_tokens)
        return fields, ModelCall(prompt.program.name, messages, kept.text, usage, tries=0)

    async def _shared(
        self, key: str, prompt: Prompt, messages: list[dict[str, Any]]
    ) -> tuple[dict[str, Any], ModelCall]:
        """Wait for an equal request under way, or make this one."""
        task = self._under_way.get(key)
        if task is None:
            asking = Asking(prompt, messages, self.settings.max_tokens)
            task = asyncio.create_task(self._ask(key, asking))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        else:
            self.counts.shared += 1
        return await asyncio.shield(task)

    async def _ask(self, key: str, asking: Asking) -> tuple[dict[str, Any], ModelCall]:
        """Try until a reply parses, keep it, and return its fields."""
        tries = AsyncRetrying(
            stop=stop_after_attempt(self.settings.tries),
            wait=_wait,
            retry=retry_if_exception_type(Retry),
            reraise=True,
        )
        try:
            answer: tuple[Reply, dict[str, Any]] = await tries(self._try, asking)
        except Retry as failed:
            raise self._give_up(asking, failed.kind, str(failed)) from failed
        except Refused as refused:
            if not self._succeeded:
                raise ModelError(f"{self.settings.url}: {refused}") from refused
            raise self._give_up(asking, "refused", str(refused)) from refused
        reply, fields = answer
        self._failed_in_a_row, self._succeeded = 0, True
        kept = CachedReply(reply.text, reply.prompt_tokens, reply.completion_tokens)
        await self._cache.put(key, kept)
        usage = Usage(False, reply.prompt_tokens, reply.completion_tokens)
        name = asking.prompt.program.name
        return fields, ModelCall(name, asking.messages, reply.text, usage, asking.tries)

    async def _try(self, asking: Asking) -> tuple[Reply, dict[str, Any]]:
        asking.tries += 1
        self.counts.calls += 1
        self.counts.retries += asking.tries > 1
        body = self._body([*asking.messages, *asking.wrong], asking.max_tokens)
        reply = await self._transport.post(body)
        self.counts.prompt_tokens += reply.prompt_tokens
        self.counts.completion_tokens += reply.completion_tokens
        asking.last_reply = reply.text
        try:
            return reply, asking.prompt.parse(reply.text)
        except Unparsed as error:
            if reply.finish_reason == "length":
                asking.max_tokens *= 2
                raise Retry("cut", "the reply was cut at max_tokens") from error
            asking.wrong = _correction(reply.text, str(error))
            raise Retry("parse", f"the reply does not parse: {error}") from error

    def _give_up(self, asking: Asking, kind: str, message: str) -> Exception:
        """Return the failure of this item, or of the whole run if the endpoint seems dead."""
        self._failed_in_a_row += 1
        if kind == "transport" and self._failed_in_a_row >= self.settings.give_up_after:
            return ModelError(
                f"{self.settings.url}: {self._failed_in_a_row} items in a row failed, the last"
                f" with {message}; what is done is kept, run the same command again to go on"
            )
        call = ModelCall(
            asking.prompt.program.name,
            asking.messages,
            asking.last_reply,
            Usage(),
            asking.tries,
            message,
        )
        return JudgmentFailed(kind, message, asking.tries, call)


def _wait(state: RetryCallState) -> float:
    """Return seconds to wait: what the server asked for, at least the back-off, both capped."""
    outcome = state.outcome.exception() if state.outcome else None
    asked = outcome.after if isinstance(outcome, Retry) else 0.0
    if isinstance(outcome, Retry) and outcome.kind in ("parse", "cut"):
        return 0.0
    return min(LONGEST_WAIT, max(asked, BACK_OFF(state)))


def _correction(reply: str, wrong: str) -> list[dict[str, Any]]:
    """Return the messages that ask again with what was wrong."""
    again = f"That reply could not be read: {wrong} Answer again in exactly the form asked for."
    return [{"role": "assistant", "content": reply}, {"role": "user", "content": again}]
