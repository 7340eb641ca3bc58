"""The door: cache, equal requests in flight as one call, retries, and what a failure becomes."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any

from trecjudge.cache.store import CachedReply
from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.llm.asking import Asking, FormFault, Turn
from trecjudge.llm.batch import BatchTransport
from trecjudge.llm.endpoints import FORBIDDEN, Endpoints
from trecjudge.llm.envelope import Reply
from trecjudge.llm.faults import (
    OF_THE_FORM,
    AccountFault,
    Busy,
    ConfigurationFault,
    Fault,
    ItemFault,
    ParameterFault,
    TooLong,
    Unreachable,
    names_the_form,
)
from trecjudge.llm.habits import Form
from trecjudge.llm.lengths import estimated_tokens
from trecjudge.llm.model import Prediction, Program
from trecjudge.llm.pace import TurnedAway
from trecjudge.llm.patience import Patience
from trecjudge.llm.prompt import PlainPrompt, Prompt
from trecjudge.llm.requests import Kept, Replies, Request
from trecjudge.llm.spending import Expected, NoRoom, Spending
from trecjudge.llm.transport import TOO_MANY, Transport
from trecjudge.records import ModelCall, Usage

LONGEST_BACK_OFF = 30.0
ADVICE = {
    401: "; check OPENAI_API_KEY",
    403: "; check OPENAI_API_KEY",
    404: "; check OPENAI_BASE_URL and OPENAI_MODEL",
    405: "; check OPENAI_BASE_URL",
    410: "; check OPENAI_BASE_URL and OPENAI_MODEL",
}
GO_ON = "what is judged is written; run the same command again to go on"

Found = tuple[dict[str, Any], ModelCall]
Answer = tuple[Reply, dict[str, Any]]
Made = Mapping[Form, Request]


class Door:
    """A Model over HTTP. Use as an async context manager."""

    available = True

    def __init__(
        self,
        replies: Replies,
        spending: Spending | None = None,
        offline: bool = False,
        say: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.replies = replies
        self.requests = replies.requests
        self.settings = settings = replies.requests.settings
        self.spending = spending or Spending()
        self.endpoints = Endpoints(settings, replies.of_each, say, offline)
        first = self.endpoints.all[0]
        if settings.batch and isinstance(first.transport, Transport):
            first.transport = BatchTransport(replies.requests, replies.cache, say, first.transport)
        self.transport = first.transport
        self.endpoints.cap(settings.give_up_after)
        self.patience = Patience(settings.patience, settings.give_up_after, settings.tries, say)
        if not self.endpoints.several:
            self.transport.pace.on_hold = self.patience.holds
        self._say = say
        self._offline = offline
        self._firsts: dict[str, asyncio.Lock] = {}
        self._under_way: dict[str, asyncio.Task[Found]] = {}
        self._closing = False
        self._stopped: tuple[str, str] | None = None
        self._stop = asyncio.Event()
        self._succeeded = False
        self._forbidden: set[int] = set()

    @property
    def in_flight(self) -> int:
        """How many requests may be under way at once."""
        return self.settings.batch_size if self.settings.batch else self.settings.in_flight

    def spent(self) -> dict[str, Any]:
        """Return calls, replies from the cache, tokens, cost so far, and what is in flight."""
        asked = self.endpoints
        return self.spending.record() | {"throttled": asked.throttled, "in_flight": asked.in_flight}

    def record(self) -> dict[str, Any]:
        """Return settings, what is known of the endpoint and prompt digests, the key left out."""
        habits = self.replies.habits.record()
        if self.endpoints.several:
            habits |= {e.url: e.habits.record() for e in self.endpoints.all}
        digests = self.requests.prompts.digests(self.replies.form_of)
        return self.settings.public() | {"endpoint": habits, "prompts_sha256": digests}

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
            await asyncio.wait(tasks, timeout=self.transport.last_wait)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.patience.close()
        await self.endpoints.close()

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
        key, *others = self.requests.keys(self.requests.body(messages, more, most))
        first = str(messages[0].get("content")) if messages else ""
        request = Request(prompt, messages, key, None, tuple(others), first)
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
        if found.request.key in self._under_way or self.replies.asked(found.request):
            self.spending.saved += 1
        else:
            self.spending.cached += 1
        reply = found.reply
        usage = Usage(True, reply.prompt_tokens, reply.completion_tokens)
        return found.fields, ModelCall(name, found.request.messages, reply.text, usage, tries=0)

    async def _ask_in_form(self, program: Program, inputs: dict[str, Any], made: Made) -> Found:
        """Ask in the form that the endpoint takes; while it is not known, one after the other.

        In a batch all are asked at once, and those it does not take again in the next one.
        """
        if self.replies.form_of(program) is None and not self.settings.batch:
            lock = self._firsts.setdefault(program.name, asyncio.Lock())
            await lock.acquire()
            turn = Turn(lock)
            try:
                # Whoever waited here did so while an equal request may have been answered.
                if found := self._taken(self.replies.find(made), program.name):
                    return found
                if self.replies.form_of(program) is None:
                    return await self._in_form(program, inputs, made, turn)
            finally:
                turn.end()
        return await self._in_form(program, inputs, made)

    async def _in_form(
        self, program: Program, inputs: dict[str, Any], made: Made, turn: Turn | None = None
    ) -> Found:
        known = self.replies.form_of(program)
        form = known or "schema"
        try:
            request = self._request(form, program, inputs, made)
            return await self._shared(request, None, turn)
        except FormFault:
            return await self._shared(self._request("chat", program, inputs, made), None, turn)

    def _request(self, form: Form, program: Program, inputs: dict[str, Any], made: Made) -> Request:
        return made.get(form) or self.requests.make(program, inputs, form)

    async def _shared(
        self, request: Request, max_tokens: int | None = None, turn: Turn | None = None
    ) -> Found:
        """Wait for an equal request under way, or make this one."""
        task = self._under_way.get(request.key)
        if task is None:
            asking = Asking(request, max_tokens or self.settings.max_tokens, turn)
            task = asyncio.create_task(self._ask(asking))
            self._under_way[request.key] = task
            task.add_done_callback(self._ended(request.key))
            return await asyncio.shield(task)
        self.spending.saved += 1
        try:
            fields, call = await asyncio.shield(task)
        except JudgmentFailed as failed:  # whoever asked has the call, and paid for it
            raise JudgmentFailed(failed.kind, str(failed), failed.tries) from failed
        return fields, replace(call, usage=replace(call.usage, cached=True), earlier=())

    def _ended(self, key: str) -> Any:
        def forget(task: asyncio.Task[Found]) -> None:
            self._under_way.pop(key, None)
            if not task.cancelled():
                task.exception()  # looked at here too: whoever waited for it may be gone

        return forget

    async def _ask(self, asking: Asking) -> Found:
        """Try, as often and as patiently as is set, until a reply parses; return its fields."""
        while True:
            try:
                reply, fields = await self._try(asking)
            except TurnedAway:
                continue
            except NoRoom:
                await self.spending.budget.room()
            except Fault as fault:
                if any(fault.tokens):
                    self._count_tokens(asking, *fault.tokens)
                    asking.paid_in_vain(fault)
                await self._after(asking, fault)
            else:
                self._learn_form(asking)
                self._learn_limit(asking)
                call, earlier = asking.call(reply), tuple(asking.earlier)
                return fields, replace(call, earlier=earlier) if earlier else call

    async def _try(self, asking: Asking) -> Answer:
        """Send a request when there is a place for it at an endpoint."""
        asking.endpoint = await self.endpoints.enter(asking.request.first, asking.avoided)
        try:
            return await self._send(asking)
        finally:
            self.endpoints.leave()

    async def _send(self, asking: Asking) -> Answer:
        """Send a request when its turn comes and the budget has room for it."""
        request = asking.request
        if isinstance(request.prompt, Prompt):
            learned = self.replies.habits.limits.get(asking.program, 0)
            asking.max_tokens = asking.room or max(asking.max_tokens, learned)
        body = self.requests.body(asking.messages, request.prompt.request, asking.max_tokens)
        asking.sent = asking.endpoint.habits.applied(body)
        asking.prompt_tokens = sum(estimated_tokens(m["content"]) for m in asking.messages)
        admitted = busy = crowded = False

        def admit() -> None:
            nonlocal admitted
            if self._closing:
                raise JudgmentFailed("interrupted", "not asked any more")
            if self._stopped:
                raise JudgmentFailed(*self._stopped)
            asking.expected = self._expected(asking)  # by what was seen until now
            self.spending.call(asking.expected)
            self.spending.retries += asking.tries > 0
            admitted = True
            asking.tries += 1
            self.spending.budget.wake()

        try:
            return await asking.endpoint.transport.post(
                asking.sent, asking.prompt_tokens, admit, partial(self._keep, asking), request.key
            )
        except NoRoom:
            crowded = True
            raise
        except Busy:
            # A busy endpoint answered nothing and asked to wait: neither a call nor a try.
            busy = True
            asking.tries -= 1
            raise
        finally:
            if admitted:
                self.spending.release(asking.expected, calls=int(busy))
            if not crowded:
                self.spending.budget.wake()

    async def _keep(self, asking: Asking, reply: Reply) -> Answer:
        """Count a reply and, if it parses, keep it. Raises Fault if it does not."""
        self._count_tokens(asking, reply.prompt_tokens, reply.completion_tokens)
        self.spending.prefix_tokens += reply.cached_tokens
        self.patience.answered()
        asking.endpoint.answered()
        asking.waiting_since = None
        fields = asking.fields(reply, self.settings.most)
        self._succeeded = True
        self.patience.succeeded()
        self.endpoints.cap(math.inf)
        self._learn_form(asking)
        kept = CachedReply(reply.text, reply.prompt_tokens, reply.completion_tokens)
        await self.replies.keep(asking.request, kept)
        return reply, fields

    def _expected(self, asking: Asking) -> Expected:
        """Return the tokens that a call is expected to take, in and out."""
        lengths = self.replies.lengths
        reply = lengths.reply(asking.program, asking.request.stated)
        return lengths.prompt(asking.prompt_tokens), min(reply, asking.max_tokens)

    def _count_tokens(self, asking: Asking, prompt_tokens: int, completion_tokens: int) -> None:
        """Count what a reply took, whatever it is worth."""
        self.spending.reply(prompt_tokens, completion_tokens, asking.expected)
        estimated = (asking.prompt_tokens, asking.request.stated)
        self.replies.lengths.note(asking.program, estimated, prompt_tokens, completion_tokens)

    def _learn_form(self, asking: Asking) -> None:
        """Note the form that an endpoint takes, and the one that all of them do."""
        prompt, habits = asking.request.prompt, asking.endpoint.habits
        if not isinstance(prompt, Prompt) or self.settings.structured != "auto":
            return
        name, form, shared = asking.program, prompt.form, self.replies.habits.forms
        # Markers say nothing of an endpoint that was not asked for a schema.
        if habits.forms.get(name) == form or (form == "chat" and self._may_take_schema(asking)):
            return
        habits.forms[name] = form
        if form == "chat" or name not in shared:
            shared[name] = form
        self.replies.keep_habits()

    def _may_take_schema(self, asking: Asking) -> bool:
        return asking.program not in asking.endpoint.no_schema

    def _learn_limit(self, asking: Asking) -> None:
        """Note the limit of tokens that a reply needed, for all of its program."""
        habits = self.replies.habits
        if not asking.cuts or habits.limits.get(asking.program, 0) >= asking.max_tokens:
            return
        habits.limits[asking.program] = asking.max_tokens
        asking.endpoint.habits.limits[asking.program] = asking.max_tokens
        self.replies.keep_habits()
        self._say(
            f"replies of {asking.program} are cut at {self.settings.max_tokens} tokens:"
            f" up to {asking.max_tokens} are asked for from now on (llm.max_tokens)"
        )

    async def _after(self, asking: Asking, fault: Fault) -> None:
        """Return when to try again; else raise what a fault comes to for the item, or for all."""
        if self._stopped:
            raise JudgmentFailed(*self._stopped) from fault
        if isinstance(fault, ParameterFault):
            if self._learned(asking, fault):
                return
            fault = ItemFault("refused", str(fault), fault.status)
        if isinstance(fault, TooLong) and asking.fits(fault.room):
            return
        if self._is_of_the_form(asking, fault):
            asking.endpoint.no_schema.add(asking.program)
            if not self.settings.batch:  # there all have it at once
                self._note(asking, fault)
            raise FormFault(str(fault)) from fault
        if self.endpoints.moves(asking.endpoint, fault, asking.request.mark, asking.avoided):
            asking.tries -= not isinstance(fault, Busy)  # another endpoint's first is no second
            asking.last_status = 0
            return
        if isinstance(fault, AccountFault):
            self._end("account", str(fault))
        elif isinstance(fault, ConfigurationFault):
            self._misconfigured(asking, fault)
        elif self._is_of_the_moment(asking, fault):
            await self._wait(asking, fault)
            return
        await self._count(asking, fault)

    def _learned(self, asking: Asking, fault: ParameterFault) -> bool:
        """Note a parameter that is not taken; return whether asking now is asking differently."""
        habits = asking.endpoint.habits
        if learned := habits.learn(fault, asking.sent):
            self._say(f"{asking.endpoint.url}: {fault}; {learned}")
            self.replies.keep_habits()
            return True
        return habits.applied(asking.sent) != asking.sent

    def _is_of_the_form(self, asking: Asking, fault: Fault) -> bool:
        """Return whether a fault may go away with the form; a 500 must come twice for that."""
        before, asking.last_status = asking.last_status, fault.status
        if fault.status not in OF_THE_FORM or fault.kind not in ("refused", "transport"):
            return False
        if "response_format" not in asking.sent or self.settings.structured != "auto":
            return False
        known = asking.endpoint.habits.forms.get(asking.program)
        untried = self.endpoints.several and known != "schema"
        is_open = (asking.turn or self.settings.batch) and known is None
        if not (is_open or untried):
            return fault.status < 500 and names_the_form(str(fault))
        return fault.status < 500 or fault.status in (501, before)

    def _misconfigured(self, asking: Asking, fault: ConfigurationFault) -> None:
        """Raise ModelError where nothing was answered yet; else stop.

        What is forbidden may be only this item: of two different ones it is the key.
        """
        if fault.status == FORBIDDEN and (self._succeeded or not self._is_second(asking)):
            return
        message = f"{fault}{ADVICE.get(fault.status, '')}"
        if not self._succeeded:
            raise ModelError(f"{asking.endpoint.url}: {message}") from fault
        self._end("stopped", message)

    def _is_second(self, asking: Asking) -> bool:
        """Return whether a second item is turned away as a first one was."""
        self._forbidden.add(asking.request.mark)
        return len(self._forbidden) > 1

    def _is_of_the_moment(self, asking: Asking, fault: Fault) -> bool:
        """Return whether a fault is one of the moment, to be waited out."""
        if isinstance(fault, Busy):
            return True
        if isinstance(fault, Unreachable):
            return self._succeeded or self.replies.answered_before
        plain = type(fault) is Fault and fault.kind == "transport"
        return plain and self.patience.out_of_order(fault.kind, asking.request.mark)

    async def _wait(self, asking: Asking, fault: Fault) -> None:
        """Wait until the request may be tried again; the whole door does."""
        now = asyncio.get_running_loop().time()
        asking.waits += 1
        if asking.turn and asking.waits > 1:
            asking.turn.end()  # it may be this item's fault: another one shall try
        asking.tries -= not isinstance(fault, Busy)  # an outage takes no try
        asking.waiting_since = now if asking.waiting_since is None else asking.waiting_since
        if self.patience.waits(str(fault)):
            waited = f"waited for {self.settings.patience:g} s (llm.patience) in vain: {fault}"
            self._end("stopped", waited)
        if self._stopped or now - asking.waiting_since > self.settings.patience:
            raise self._failure(asking, fault) from fault
        asked = fault.after if isinstance(fault, Busy) else 0.0
        pause = asked or self.patience.pause()
        # While others succeed, only this request was one too many.
        only_this = not asked and not self.patience.is_pausing
        if fault.status != TOO_MANY and not (only_this and asking.waits > 2):
            asking.endpoint.transport.pace.pause(pause)
            if self.settings.batch:
                await self._sleep(pause)
            return
        if only_this:
            pause = random.uniform(0, min(LONGEST_BACK_OFF, 0.25 * 2**asking.waits))
        else:
            asking.endpoint.transport.pace.hold(pause)
        await self._sleep(pause)

    async def _count(self, asking: Asking, fault: Fault) -> None:
        """Count a failure; return after a while if the item may be tried again."""
        settings = self.settings
        self._note(asking, fault)
        is_final = isinstance(fault, ItemFault | AccountFault | ConfigurationFault)
        if is_final or self._stopped or asking.tries - asking.cuts >= settings.tries:
            if isinstance(fault, Unreachable) and (not fault.status or self._is_second(asking)):
                raise ModelError(
                    f"{asking.endpoint.url}: {fault}; check OPENAI_BASE_URL"
                ) from fault
            raise self._failure(asking, fault) from fault
        if fault.kind not in ("parse", "cut") and not self.settings.batch:
            await self._sleep(random.uniform(0, min(LONGEST_BACK_OFF, 0.25 * 2**asking.tries)))

    def _note(self, asking: Asking, fault: Fault) -> None:
        """Note a call that failed; of too many in a row, end the asking."""
        if self._stopped is None:
            too_long = fault.kind == "too_long" and bool(asking.request.first)
            mark = hash(asking.request.first) if too_long else asking.request.mark
            if self.patience.failed(fault.kind, mark, self.transport.at_once, too_long):
                self._end("stopped", f"{self.patience.in_a_row} calls in a row failed: {fault}")
                return
            # No more are under way than may still fail.
            left = self.settings.give_up_after - self.patience.in_a_row
            self.endpoints.cap(max(1, left))

    def _failure(self, asking: Asking, fault: Fault) -> JudgmentFailed:
        """Return the failure of this item."""
        call = asking.failed(str(fault))
        return JudgmentFailed(fault.kind, str(fault), asking.tries, call)

    def _end(self, kind: str, message: str) -> None:
        """Ask nothing from now on: what would be asked is unjudged, by this kind and message."""
        if self._stopped is None:
            self._stopped = (kind, message)
            self._say(f"{', '.join(self.settings.urls)}: {message}; {GO_ON}")
            self._stop.set()
            self.endpoints.release()

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but not beyond the moment from which on nothing is asked."""
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            return
