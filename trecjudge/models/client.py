"""A Model over HTTP, with a cache, one call for equal requests, retries and a budget."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Self

from trecjudge.errors import JudgmentFailed, ModelError, TrecJudgeError
from trecjudge.models.asking import Asking, FormFault, Turn, as_shared, shared_failure
from trecjudge.models.batch.transport import BatchTransport
from trecjudge.models.bearing import FaultPolicy
from trecjudge.models.cache.leases import FILE, AskedElsewhere, Leases
from trecjudge.models.cache.replies import CachedReply
from trecjudge.models.endpoints import Endpoints
from trecjudge.models.envelope import Reply
from trecjudge.models.faults import Busy, Fault
from trecjudge.models.habits import Form
from trecjudge.models.learning import HabitLearner
from trecjudge.models.lengths import estimated_tokens
from trecjudge.models.model import Prediction, Program
from trecjudge.models.pace import TurnedAway
from trecjudge.models.patience import Patience
from trecjudge.models.prompt import PlainPrompt, Prompt
from trecjudge.models.requests import KeptReply, Replies, Request
from trecjudge.models.single_flight import SingleFlight
from trecjudge.models.spending import NoRoom, Spending
from trecjudge.models.transport import Transport
from trecjudge.models.under_way import UnderWay
from trecjudge.records import ModelCall

FieldsAndCall = tuple[dict[str, Any], ModelCall]
ReplyAndFields = tuple[Reply, dict[str, Any]]
RequestsByForm = Mapping[Form, Request]


class Client:
    """A Model over HTTP. Use as an async context manager."""

    available = True

    def __init__(
        self,
        replies: Replies,
        spending: Spending | None = None,
        offline: bool = False,
        notify: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.replies = replies
        self.requests = replies.requests
        self.prompts = replies.requests.prompts
        self.settings = settings = replies.requests.settings
        self.spending = spending or Spending()
        self.endpoints = Endpoints(settings, replies.of_each, notify, offline)
        leases = Leases(replies.cache.folder / FILE, notify, self._is_over, 2 * settings.timeout)
        self._flights = SingleFlight(replies, leases, self._is_over)
        self._learner = HabitLearner(replies, notify)
        first = self.endpoints.all[0]
        if settings.batch and not offline and isinstance(first.transport, Transport):
            first.transport = BatchTransport(
                replies.requests, replies.cache, leases, notify, first.transport
            )
        self.transport = first.transport
        # Until one reply is good, no more calls are under way than may fail: a wrong key costs few.
        self.endpoints.cap(settings.give_up_after)
        most, where = (settings.give_up_after, settings.tries), ", ".join(settings.urls)
        self.patience = Patience(settings.patience, *most, notify, where)
        self.fault_policy = FaultPolicy(replies, self.endpoints, self.patience, notify)
        self.endpoints.silence.listener = self.fault_policy
        self.endpoints.silence.has_answered = replies.answered_before
        for endpoint in self.endpoints.all:
            endpoint.transport.pace.longest = self.patience.left
        # With several endpoints, one that holds requests back causes no wait: others are asked.
        if not self.endpoints.several:
            self.transport.pace.on_hold = self.patience.holds
        self.offline = offline
        self._firsts: dict[str, asyncio.Lock] = {}
        self._under_way: UnderWay[FieldsAndCall] = UnderWay()
        self._closing = False

    @property
    def in_flight(self) -> int:
        """How many requests may be under way at once."""
        return self.settings.batch_size if self.settings.batch else self.settings.in_flight

    def spent(self) -> dict[str, Any]:
        """Return calls, replies from the cache, tokens, cost so far, and what is in flight."""
        asked = self.endpoints
        return self.spending.record() | {"throttled": asked.throttled, "in_flight": asked.in_flight}

    def record(self) -> dict[str, Any]:
        """Return settings without the key, what is known of the endpoint, and prompt digests."""
        habits = self.replies.habits.record()
        if self.endpoints.several:
            habits |= {e.url: e.habits.record() for e in self.endpoints.all}
        made = {"endpoint": habits} | self.prompts.record(self.replies.form_of)
        others = self.replies.cache.record()
        return self.settings.public() | made | ({"other_caches": others} if others else {})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Requests on their way are paid for: their replies are waited for, whatever ends the job.
        self._closing = True
        try:
            ends = asyncio.CancelledError | TrecJudgeError | OSError
            if isinstance(error, ends) and not isinstance(error, ModelError):
                self.endpoints.hurry()
                waited_for = self.fault_policy.interrupt(self.transport.last_wait)
                await self._under_way.settle(waited_for)
        finally:
            await self._under_way.close()
            self.spending.lost += self.endpoints.silence.lost
            self.patience.close()
            await self.endpoints.close()
            self._flights.leases.close()

    def _is_over(self) -> bool:
        """Return whether nothing is asked any more."""
        return self._closing or self.fault_policy.stopped is not None

    def call_off(self, why: str) -> None:
        """Ask nothing from now on; what is on its way is waited for."""
        self.fault_policy.call_off(why)

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Return a program's prediction: from the cache, an equal request under way, or a call."""
        made = self.replies.possible(program, inputs)
        found = self._taken(self.replies.find(made), program.name)
        if found is not None:
            return Prediction(*found)
        return Prediction(*await self._ask_in_form(program, inputs, made))

    async def complete(
        self, messages: list[dict[str, Any]], prompt: PlainPrompt, max_tokens: int | None = None
    ) -> Reply:
        """Return the reply to messages of the caller's own; it comes from where `predict` has it.

        This is for `dspy_lm`, which optimises prompts.
        """
        most = max_tokens or self.settings.max_tokens
        body = self.requests.body(messages, prompt.request, most)
        key, *others = self.requests.keys(body, prompt.rollout)
        first = str(messages[0].get("content")) if messages else ""
        request = Request(prompt, messages, key, None, tuple(others), first)
        found = self._taken(self.replies.kept(request), prompt.program.name)
        _, call = found or await self._shared(request, most)
        usage = call.usage
        return Reply(call.reply, "stop", usage.prompt_tokens, usage.completion_tokens)

    def _taken(self, found: KeptReply | None, name: str) -> FieldsAndCall | None:
        """Return a kept reply, and count it. Raises JudgmentFailed if there is none and offline."""
        if found is None:
            if self.offline:
                raise JudgmentFailed("offline", "the reply is not in the cache")
            return None
        asked_now = found.request.key in self._under_way or self.replies.asked(found.request)
        self.spending.reuse(asked_now)
        return found.fields, found.call(name, self.spending.nothing, asked_now)

    async def _ask_in_form(
        self, program: Program, inputs: dict[str, Any], made: RequestsByForm
    ) -> FieldsAndCall:
        """Return the reply in the form that the endpoint takes.

        While that is unknown, requests are sent one after the other. In a batch all are sent at
        once; those that the endpoint does not take are sent again in the next one.
        """
        if self.replies.form_of(program) is None and not self.settings.batch:
            lock = self._firsts.setdefault(program.name, asyncio.Lock())
            await lock.acquire()
            turn = Turn(lock)
            try:
                # While this one waited, an equal request may have been answered.
                if found := self._taken(self.replies.find(made), program.name):
                    return found
                if self.replies.learned_form(program) is None:
                    return await self._in_form(program, inputs, made, turn)
            finally:
                turn.end()
        return await self._in_form(program, inputs, made)

    async def _in_form(
        self,
        program: Program,
        inputs: dict[str, Any],
        made: RequestsByForm,
        turn: Turn | None = None,
    ) -> FieldsAndCall:
        known = self.replies.form_of(program)
        form = known or "schema"
        try:
            request = self._request(form, program, inputs, made)
            return await self._shared(request, None, turn)
        except FormFault as fault:
            request = self._request("chat", program, inputs, made)
            return await self._shared(request, None, turn, fault.tried)

    def _request(
        self, form: Form, program: Program, inputs: dict[str, Any], made: RequestsByForm
    ) -> Request:
        return made.get(form) or self.requests.make(program, inputs, form)

    async def _shared(
        self,
        request: Request,
        max_tokens: int | None = None,
        turn: Turn | None = None,
        tried: Sequence[ModelCall] = (),
    ) -> FieldsAndCall:
        """Return the reply of an equal request under way, or of this one, after calls `tried`."""
        key = request.key
        # No await between this look and `begun`, or two equal requests would both be sent.
        if key not in self._under_way:
            most, given = max_tokens or self.settings.max_tokens, self.spending.prices
            # Awaited only when it begins: one that is called off before has nothing to await.
            work = partial(self._ask, Asking(request, most, turn, prices=given, earlier=[*tried]))
            return await self._under_way.begun(key, self._flights.released_after(request, work))
        self.spending.saved += 1
        try:
            fields, call = await self._under_way.joined(key)
        except JudgmentFailed as failed:  # the call is counted where it was made
            raise shared_failure(failed, tried, self.spending.nothing) from failed
        except FormFault as fault:
            self.spending.saved -= 1  # it is asked again, in another form
            raise FormFault(str(fault)) from fault
        shared = as_shared(call, self.spending.nothing)
        return fields, replace(shared, earlier=tuple(tried)) if tried else shared

    async def _ask(self, asking: Asking) -> FieldsAndCall:
        with asking.reporting():
            return await self._answered(asking)

    async def _answered(self, asking: Asking) -> FieldsAndCall:
        """Try, as often and as patiently as is set, until a reply parses; return its fields."""
        while True:
            try:
                reply, fields = await self._try(asking)
            except TurnedAway:  # its endpoint went out of order while it waited: choose again
                continue
            except AskedElsewhere:
                if kept := await self._flights.of_another(asking):
                    self.spending.cached += 1
                    call = kept.call(asking.program, self.spending.nothing)
                    return kept.fields, replace(call, earlier=tuple(asking.earlier))
            except NoRoom:
                self._flights.release(asking.request)
                await self.spending.budget.room()
            except Fault as fault:
                if any(fault.tokens):
                    self._count_tokens(asking, *fault.tokens)
                if not asking.paid:  # nothing is paid yet: another process may try
                    self._flights.release(asking.request)
                await self.fault_policy.after(asking, fault)
            else:
                self._learner.needed(asking)
                call, earlier = asking.call(reply), tuple(asking.earlier)
                return fields, replace(call, earlier=earlier) if earlier else call

    async def _try(self, asking: Asking) -> ReplyAndFields:
        """Send a request when there is a place for it at an endpoint."""
        self._flights.look(asking.request)
        asking.endpoint = await self.endpoints.enter(asking.request.first, asking.avoided)
        try:
            return await self._send(asking)
        finally:
            self.endpoints.leave()

    async def _send(self, asking: Asking) -> ReplyAndFields:
        """Send a request when its turn comes and the budget has room for it."""
        request = asking.request
        if isinstance(request.prompt, Prompt):
            # All replies of a program get the limit that one needed: a cut reply is wasted money.
            learned = self.replies.habits.limits.get(asking.program, 0)
            asking.max_tokens = asking.room or max(asking.max_tokens, learned)
        body = self.requests.body(asking.messages, asking.more, asking.max_tokens)
        asking.sent = asking.endpoint.habits.applied(body)
        asking.prompt_tokens = sum(estimated_tokens(m["content"]) for m in asking.messages)
        admitted = busy = crowded = False
        again = asking.is_again

        def admit() -> None:
            nonlocal admitted
            # Called when its turn comes: much may have changed while it waited.
            if self._closing:
                raise JudgmentFailed("interrupted", "not asked any more")
            self.fault_policy.check()
            self._flights.claim(request)
            asking.expects(self.replies.lengths)  # by what was seen until now
            self.spending.call(asking.expected)
            self.spending.retries += again
            admitted = True
            asking.tries += 1
            asking.sends()
            self.spending.budget.wake()

        try:
            return await asking.endpoint.transport.post(
                asking.sent, asking.prompt_tokens, admit, partial(self._keep, asking), request.key
            )
        except NoRoom:
            crowded = True
            raise
        except (Fault, JudgmentFailed, AskedElsewhere) as fault:
            # Nothing was answered, or to another process: neither a call nor a try.
            busy = admitted and isinstance(fault, Busy | AskedElsewhere)
            asking.tries -= busy
            if admitted and not isinstance(fault, AskedElsewhere):
                asking.failed(fault)
            raise
        finally:
            if admitted:
                self.spending.release(asking.expected, calls=int(busy))
                self.spending.retries -= busy and again
            # Where there was no room, nothing was given back that another call could use.
            if not crowded:
                self.spending.budget.wake()

    async def _keep(self, asking: Asking, reply: Reply) -> ReplyAndFields:
        """Count a reply and, if it parses, keep it. Raises Fault if it does not."""
        asking.reply = reply
        self._count_tokens(asking, reply.prompt_tokens, reply.completion_tokens)
        self.spending.prefix_tokens += reply.cached_tokens
        # Any answer ends an outage, even one that does not parse.
        self.patience.answered()
        asking.endpoint.answered()
        asking.waiting_since = None
        fields = asking.fields(reply, self.settings.most)
        self.fault_policy.good()
        self.endpoints.cap(math.inf)
        self._learner.form(asking)
        # Only a reply that parsed is kept: a bad one must be asked for again by the next job.
        kept = CachedReply(reply.text, reply.prompt_tokens, reply.completion_tokens)
        is_kept = True  # also where nobody waits for that any more
        try:
            is_kept = await self.replies.keep(asking.request, kept)
        finally:
            self.spending.kept += is_kept
        return reply, fields

    def _count_tokens(self, asking: Asking, prompt_tokens: int, completion_tokens: int) -> None:
        """Count the tokens of a reply, be it usable or not."""
        self.spending.reply(prompt_tokens, completion_tokens, asking.expected)
        estimated = (asking.prompt_tokens, asking.request.stated)
        self.replies.lengths.note(asking.program, estimated, prompt_tokens, completion_tokens)
