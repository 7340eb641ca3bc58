"""The door: cache, equal requests in flight as one call, retries, and what a failure becomes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type
from tenacity.wait import wait_random_exponential

from trecjudge.cache.store import CachedReply
from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.llm.model import Prediction, Program
from trecjudge.llm.pace import LONGEST_WAIT
from trecjudge.llm.prompt import Form, PlainPrompt, Prompt
from trecjudge.llm.reading import Unparsed
from trecjudge.llm.requests import Kept, Replies, Request
from trecjudge.llm.spending import Spending, estimated_tokens
from trecjudge.llm.transport import Refused, Reply, Retry, Throttled, Transport, Unreachable
from trecjudge.records import ModelCall, Usage

BACK_OFF = wait_random_exponential(multiplier=0.25, max=30)
LAST_WAIT = 15.0
"""Seconds to wait, after an interrupt, for replies that are on their way."""

Found = tuple[dict[str, Any], ModelCall]
Answer = tuple[Reply, dict[str, Any]]
Made = Mapping[Form, Request]


@dataclass(slots=True)
class Asking:
    """One distinct request on its way, and what went wrong with it so far."""

    request: Request
    max_tokens: int
    tries: int = 0
    cuts: int = 0
    throttled_since: float | None = None
    last_reply: str = ""
    wrong: list[dict[str, Any]] = field(default_factory=list)

    def call(self, reply: str, usage: Usage, error: str = "") -> ModelCall:
        """Return the exchange for the log."""
        name = self.request.prompt.program.name
        return ModelCall(name, self.request.messages, reply, usage, self.tries, error)


class Door:
    """A Model over HTTP. Use as an async context manager."""

    available = True

    def __init__(
        self, replies: Replies, spending: Spending | None = None, offline: bool = False
    ) -> None:
        self.replies = replies
        self.requests = replies.requests
        self.settings = replies.requests.settings
        self.spending = spending or Spending()
        self.transport = Transport(self.settings)
        self._offline = offline
        self._form: Form = replies.known_form or "schema"
        self._form_tried = replies.known_form is not None
        self._form_lock = asyncio.Lock()
        self._under_way: dict[str, asyncio.Task[Found]] = {}
        self._closing = False
        self._failed_in_a_row = 0
        self._succeeded = replies.answered_before

    @property
    def in_flight(self) -> int:
        """How many requests may be under way at once."""
        return self.settings.in_flight

    def spent(self) -> dict[str, Any]:
        """Return calls, replies from the cache, tokens, cost so far, and what is in flight."""
        pace = self.transport.pace
        return self.spending.record() | {"throttled": pace.throttled, "in_flight": pace.in_flight}

    def record(self) -> dict[str, Any]:
        """Return settings, form of replies and prompt digests, the key left out."""
        prompts = self.requests.prompts.digests(self._form)
        return self.settings.public() | {"form": self._form, "prompts_sha256": prompts}

    async def __aenter__(self) -> Door:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # What is on its way is paid for: it is waited for and kept, unless something broke.
        self._closing = True
        tasks = list(self._under_way.values())
        if tasks and isinstance(error, asyncio.CancelledError):
            await asyncio.wait(tasks, timeout=min(LAST_WAIT, self.settings.timeout))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.transport.close()

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Run a program: from the cache, with an equal request under way, or by a call."""
        made = self.replies.possible(program, inputs)
        found = self._taken(self.replies.find(made), program.name)
        if found is not None:
            return Prediction(*found)
        started = time.perf_counter()
        fields, call = await self._ask_in_form(program, inputs, made)
        usage = replace(call.usage, seconds=time.perf_counter() - started)
        return Prediction(fields, replace(call, usage=usage))

    async def complete(
        self, messages: list[dict[str, Any]], more: dict[str, Any], max_tokens: int | None = None
    ) -> Reply:
        """Return the reply to messages of the caller's own; `more` is added to the request body.

        From the cache, with an equal request under way, or by a call, as `predict`.
        """
        most = max_tokens or self.settings.max_tokens
        prompt = PlainPrompt(more)
        key = self.requests.key(self.requests.body(messages, more, most))
        request = Request(prompt, messages, key)
        found = self._taken(self.replies.kept(request), prompt.program.name)
        _, call = found or await self._shared(request, most)
        usage = call.usage
        return Reply(call.reply, "stop", usage.prompt_tokens, usage.completion_tokens)

    def _taken(self, found: Kept | None, name: str) -> Found | None:
        """Count a kept reply. Raises JudgmentFailed where there is none and none may be asked."""
        if found is None:
            if self._offline:
                raise JudgmentFailed("offline", "the reply is not in the cache")
            return None
        self._succeeded = True
        if found.request.key in self._under_way or self.replies.asked(found.request):
            self.spending.saved += 1
        else:
            self.spending.cached += 1
        reply = found.reply
        usage = Usage(True, reply.prompt_tokens, reply.completion_tokens)
        return found.fields, ModelCall(name, found.request.messages, reply.text, usage, tries=0)

    async def _ask_in_form(self, program: Program, inputs: dict[str, Any], made: Made) -> Found:
        """Ask in the form that the endpoint takes; the first request finds out which."""
        if not self._form_tried:
            async with self._form_lock:
                # Whoever waited here did so while an equal request may have been answered.
                if found := self._taken(self.replies.find(made), program.name):
                    return found
                if not self._form_tried:
                    try:
                        return await self._in_form(self._form, program, inputs, made)
                    finally:
                        self._form_tried = True
        return await self._in_form(self._form, program, inputs, made)

    async def _in_form(
        self, form: Form, program: Program, inputs: dict[str, Any], made: Made
    ) -> Found:
        request = made.get(form) or self.requests.make(program, inputs, form)
        try:
            return await self._shared(request)
        except Refused as refused:
            if form == "schema" and self.replies.known_form is None:
                self._form = "chat"
                return await self._in_form("chat", program, inputs, made)
            if not self._succeeded:
                raise ModelError(f"{self.settings.url}: {refused}") from refused
            call = ModelCall(program.name, request.messages, "", Usage(), error=str(refused))
            raise JudgmentFailed("refused", str(refused), 1, call) from refused

    async def _shared(self, request: Request, max_tokens: int | None = None) -> Found:
        """Wait for an equal request under way, or make this one."""
        task = self._under_way.get(request.key)
        if task is None:
            asking = Asking(request, max_tokens or self.settings.max_tokens)
            task = asyncio.create_task(self._ask(asking))
            self._under_way[request.key] = task
            task.add_done_callback(self._ended(request.key))
        else:
            self.spending.saved += 1
        return await asyncio.shield(task)

    def _ended(self, key: str) -> Any:
        def forget(task: asyncio.Task[Found]) -> None:
            self._under_way.pop(key, None)
            if not task.cancelled():
                task.exception()  # looked at here too: whoever waited for it may be gone

        return forget

    async def _ask(self, asking: Asking) -> Found:
        """Try until a reply parses, keep it, and return its fields."""
        try:
            reply, fields = await self._answer(asking)
        except Retry as failed:
            raise self._give_up(asking, failed) from failed
        self._failed_in_a_row, self._succeeded = 0, True
        prompt = asking.request.prompt
        if self.replies.known_form is None and isinstance(prompt, Prompt):
            self.replies.learn_form(prompt.form)
        usage = Usage(False, reply.prompt_tokens, reply.completion_tokens)
        return fields, asking.call(reply.text, usage)

    async def _answer(self, asking: Asking) -> Answer:
        """Try once and, where that fails, as often and as patiently as is set."""
        tries = AsyncRetrying(
            stop=self._enough, wait=_wait, retry=retry_if_exception_type(Retry), reraise=True
        )
        answer: Answer = await tries(self._try, asking)
        return answer

    async def _try(self, asking: Asking) -> Answer:
        messages = [*asking.request.messages, *asking.wrong]
        tokens = sum(estimated_tokens(message["content"]) for message in messages)
        body = self.requests.body(messages, asking.request.prompt.request, asking.max_tokens)
        return await self._post(asking, body, tokens)

    async def _post(self, asking: Asking, body: dict[str, Any], tokens: int) -> Answer:
        """Send a request when its turn comes and the budget has room for it."""
        admitted = throttled = False

        def admit() -> None:
            nonlocal admitted
            if self._closing:
                raise JudgmentFailed("interrupted", "not asked any more")
            self.spending.call(tokens)
            self.spending.retries += asking.tries > 0
            admitted = True
            asking.tries += 1

        try:
            return await self.transport.post(body, tokens, admit, partial(self._keep, asking))
        except Throttled:
            # A busy endpoint answered nothing and asked to wait: neither a call nor a try.
            throttled = True
            asking.tries -= 1
            asking.throttled_since = asking.throttled_since or time.monotonic()
            raise
        finally:
            if admitted:
                self.spending.release(tokens, calls=int(throttled))
            if not throttled:
                asking.throttled_since = None

    async def _keep(self, asking: Asking, reply: Reply) -> Answer:
        """Count a reply and, if it parses, keep it. Raises Retry if it does not."""
        self.spending.reply(reply.prompt_tokens, reply.completion_tokens)
        asking.last_reply = reply.text
        fields = _parsed(asking, reply)
        kept = CachedReply(reply.text, reply.prompt_tokens, reply.completion_tokens)
        await self.replies.keep(asking.request, kept)
        return reply, fields

    def _enough(self, state: RetryCallState) -> bool:
        """Return whether a request was tried often enough, or waited for long enough."""
        asking: Asking = state.args[0]
        if asking.throttled_since is not None:
            return time.monotonic() - asking.throttled_since > self.settings.patience
        return asking.tries >= self.settings.tries or asking.cuts > 1

    def _give_up(self, asking: Asking, failed: Retry) -> Exception:
        """Return the failure of this item, or of the whole run if the endpoint seems dead."""
        self._failed_in_a_row += 1
        if isinstance(failed, Unreachable) and not self._succeeded:
            return ModelError(f"{self.settings.url}: {failed}; check OPENAI_BASE_URL")
        if failed.kind == "transport" and self._failed_in_a_row >= self.settings.give_up_after:
            return ModelError(
                f"{self.settings.url}: {self._failed_in_a_row} items in a row failed, the last"
                f" with {failed}; what is done is kept, run the same command again to go on"
            )
        call = asking.call(asking.last_reply, Usage(), str(failed))
        return JudgmentFailed(failed.kind, str(failed), asking.tries, call)


def _parsed(asking: Asking, reply: Reply) -> dict[str, Any]:
    """Return the output fields of a reply. Raises Retry with what was wrong noted for next time."""
    if reply.finish_reason == "length":
        asking.max_tokens *= 2
        asking.cuts += 1
        raise Retry("cut", "the reply was cut at max_tokens")
    try:
        return asking.request.parse(reply.text)
    except Unparsed as error:
        asking.wrong = _correction(reply.text, str(error))
        raise Retry("parse", f"the reply does not parse: {error}") from error


def _wait(state: RetryCallState) -> float:
    """Return the seconds before the next try: none where the reply was wrong, else backing off."""
    failed = state.outcome.exception() if state.outcome else None
    if isinstance(failed, Retry) and failed.kind in ("parse", "cut"):
        return 0.0
    asked = failed.after if isinstance(failed, Throttled) else 0.0
    return min(LONGEST_WAIT, asked) if asked else float(BACK_OFF(state))


def _correction(reply: str, wrong: str) -> list[dict[str, Any]]:
    """Return the messages that ask again with what was wrong."""
    again = f"That reply could not be read: {wrong} Answer again in exactly the form asked for."
    return [{"role": "assistant", "content": reply}, {"role": "user", "content": again}]
