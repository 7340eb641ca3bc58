"""A Model over HTTP, with a cache, one call for equal requests, retries and a budget."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from trecjudge.errors import JudgmentFailed, ModelError, TrecJudgeError
from trecjudge.models.adapters import Form
from trecjudge.models.batch.transport import BatchTransport
from trecjudge.models.cache.request_locks import FILE, InFlightElsewhere, RequestLocks
from trecjudge.models.cache.store import CachedReply
from trecjudge.models.dspy_lm import judging_lm, run_module
from trecjudge.models.endpoint import Endpoints
from trecjudge.models.envelope import Reply
from trecjudge.models.faults import Busy, Fault
from trecjudge.models.model import Prediction, Program, Recorder
from trecjudge.models.pace import EndpointDown, OutageTracker
from trecjudge.models.prompt import Prompt
from trecjudge.models.request_state import (
    HINT,
    FirstTurn,
    FormFault,
    RequestState,
    as_shared,
    shared_failure,
)
from trecjudge.models.requests import KeptReply, Replies, Request
from trecjudge.models.retry import RetryPolicy
from trecjudge.models.spending import BudgetExhausted, Spending
from trecjudge.models.transport import Transport
from trecjudge.records import ModelCall

T = TypeVar("T")
MOST_SERVED = 10
"""Names of models that answered, which are remembered."""
FieldsAndCall = tuple[dict[str, Any], ModelCall]
ReplyAndFields = tuple[Reply, dict[str, Any]]
RequestsByForm = Mapping[Form, Request]


@dataclass(eq=False, slots=True)
class InFlight(Generic[T]):
    """Work in flight by key: equal work is done once, and goes on when its callers are gone."""

    _tasks: dict[str, asyncio.Task[T]] = field(default_factory=dict)
    _places: dict[str, list[asyncio.Future[T]]] = field(default_factory=dict)

    def __contains__(self, key: str) -> bool:
        return key in self._tasks

    def begin(self, key: str, work: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
        """Begin work with this key, which is not in flight; return the future of its result."""
        # A task of its own: its first caller may be cancelled while others wait for the result.
        task = self._tasks[key] = asyncio.create_task(work)
        self._places[key] = []
        task.add_done_callback(partial(self._deliver, key))
        return self.join(key)

    def join(self, key: str) -> asyncio.Future[T]:
        """Return a future of one's own for the result of the work with this key.

        Whoever is cancelled gives up only its own. That takes fewer turns of the event loop than
        `asyncio.shield`.
        """
        place: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._places[key].append(place)
        return place

    def _deliver(self, key: str, task: asyncio.Task[T]) -> None:
        """Pass the result, or the error, to all that still wait for it."""
        # Over before anybody is woken: whoever is may begin equal work anew.
        del self._tasks[key]
        error = None if task.cancelled() else task.exception()
        for place in self._places.pop(key):
            if place.done():  # its caller was cancelled
                continue
            if task.cancelled():
                place.cancel()
            elif error is not None:
                place.set_exception(error)
            else:
                place.set_result(task.result())

    async def settle(self, seconds: float) -> None:
        """Wait so long for what is in flight."""
        if self._tasks and seconds:
            await asyncio.wait(list(self._tasks.values()), timeout=seconds)

    async def close(self) -> None:
        """Give up what is in flight."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
        self.offline = offline
        self._notify = notify
        self.endpoints = Endpoints(settings, replies.of_each, notify, offline)
        # A reply that takes two timeouts is not waited for: whoever asks it may have been stopped.
        longest = 2 * settings.timeout
        self._leases = RequestLocks(replies.cache.folder / FILE, notify, self._is_over, longest)
        first = self.endpoints.all[0]
        if settings.batch and not offline and isinstance(first.transport, Transport):
            first.transport = BatchTransport(
                replies.requests, replies.cache, self._leases, notify, first.transport
            )
        self.transport = first.transport
        # Until one reply is good, no more calls are under way than may fail: a wrong key costs few.
        self.endpoints.cap(settings.give_up_after)
        most, where = (settings.give_up_after, settings.tries), ", ".join(settings.urls)
        self.patience = OutageTracker(settings.patience, *most, notify, where)
        self.fault_policy = RetryPolicy(replies, self.endpoints, self.patience, notify)
        watchdog = self.endpoints.silence
        watchdog.on_notice = self.fault_policy.report_silence
        watchdog.on_limit = self.fault_policy.end_silent
        watchdog.has_answered = replies.answered_before
        for endpoint in self.endpoints.all:
            endpoint.transport.pace.longest = self.patience.seconds_left
        # With several endpoints, one that holds requests back causes no wait: others are asked.
        if not self.endpoints.several:
            self.transport.pace.on_hold = self.patience.note_hold
        self._first_turns: dict[str, asyncio.Lock] = {}
        self._in_flight: InFlight[FieldsAndCall] = InFlight()
        self._looping: set[str] = set()
        self._served: set[str] = set()
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
        capabilities = self.replies.capabilities.record()
        if self.endpoints.several:
            capabilities |= {e.url: e.capabilities.record() for e in self.endpoints.all}
        made = {"endpoint": capabilities} | self.prompts.record(self.replies.form_of)
        others = self.replies.cache.record()
        more = {"other_caches": others, "served": sorted(self._served)}
        return self.settings.public() | made | {name: told for name, told in more.items() if told}

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
                await self._in_flight.settle(waited_for)
        finally:
            await self._in_flight.close()
            self.spending.lost += self.endpoints.silence.lost
            self.patience.close()
            await self.endpoints.close()
            self._leases.close()

    def _is_over(self) -> bool:
        """Return whether nothing is asked any more."""
        return self._closing or self.fault_policy.stopped is not None

    def call_off(self, why: str) -> None:
        """Ask nothing from now on; what is on its way is waited for."""
        self.fault_policy.call_off(why)

    @property
    def lm(self) -> Any:
        """A `dspy.LM` that asks as `predict` does."""
        return judging_lm(self)

    async def predict(self, program: Program, **inputs: Any) -> Prediction:
        """Return a program's prediction: from the cache, an equal request under way, or a call."""
        if (prompt := self.prompts.answered_by_module(program)) is not None:
            return await run_module(Recorder(self), prompt, inputs)
        made = self.replies.possible(program, inputs)
        # Before any await: a job whose replies are all kept never waits for the event loop.
        kept = self._use_kept(self.replies.find(made), program.name)
        if kept is not None:
            return Prediction(*kept)
        return Prediction(*await self._ask_in_form(program, inputs, made))

    def _use_kept(self, kept: KeptReply | None, name: str) -> FieldsAndCall | None:
        """Return a kept reply, and count it. Raises JudgmentFailed if there is none and offline."""
        if kept is None:
            if self.offline:
                raise JudgmentFailed("offline", "the reply is not in the cache")
            return None
        asked_now = kept.request.key in self._in_flight or self.replies.is_from_this_job(
            kept.request
        )
        self.spending.reuse(asked_now)
        return kept.fields, kept.call(name, self.spending.nothing, asked_now)

    async def _ask_in_form(
        self, program: Program, inputs: dict[str, Any], made: RequestsByForm
    ) -> FieldsAndCall:
        """Return the reply in the form that the endpoint takes.

        While that is unknown, requests are sent one after the other. In a batch all are sent at
        once; those that the endpoint does not take are sent again in the next one.
        """
        if self.replies.form_of(program) is None and not self.settings.batch:
            lock = self._first_turns.setdefault(program.name, asyncio.Lock())
            await lock.acquire()
            turn = FirstTurn(lock)
            try:
                # While this one waited, an equal request may have been answered.
                if kept := self._use_kept(self.replies.find(made), program.name):
                    return kept
                if self.replies.learned_form(program) is None:
                    return await self._in_known_form(program, inputs, made, turn)
            finally:
                turn.end()
        return await self._in_known_form(program, inputs, made)

    async def _in_known_form(
        self,
        program: Program,
        inputs: dict[str, Any],
        made: RequestsByForm,
        turn: FirstTurn | None = None,
    ) -> FieldsAndCall:
        """Ask in the form that is known, or by schema; by markers where that is not taken."""

        def request_in(form: Form) -> Request:
            return made.get(form) or self.requests.make(program, inputs, form)

        try:
            form = self.replies.form_of(program) or "schema"
            return await self._ask_once(request_in(form), turn)
        except FormFault as fault:
            # Another key: a reply by markers must not stand in the cache for one by schema.
            return await self._ask_once(request_in("chat"), turn, fault.tried)

    async def _ask_once(
        self,
        request: Request,
        turn: FirstTurn | None = None,
        tried: Sequence[ModelCall] = (),
    ) -> FieldsAndCall:
        """Return the reply of an equal request under way, or of this one, after calls `tried`."""
        key = request.key
        # No await between this look and `begin`, or two equal requests would both be sent.
        if key not in self._in_flight:
            most = request.max_tokens or self.settings.max_tokens
            prices = self.spending.prices
            state = RequestState(request, most, turn, prices=prices, earlier=[*tried])
            return await self._in_flight.begin(key, self._ask(state))
        self.spending.saved += 1
        try:
            fields, call = await self._in_flight.join(key)
        except JudgmentFailed as failed:  # the call is counted where it was made
            raise shared_failure(failed, tried, self.spending.nothing) from failed
        except FormFault as fault:
            self.spending.saved -= 1  # it is asked again, in another form
            raise FormFault(str(fault)) from fault
        shared = as_shared(call, self.spending.nothing)
        return fields, replace(shared, earlier=tuple(tried)) if tried else shared

    async def _ask(self, state: RequestState) -> FieldsAndCall:
        """Return what `_ask_until_read` does; errors get the failed exchanges, for the log."""
        try:
            return await self._ask_until_read(state)
        except FormFault as fault:
            fault.tried = state.earlier
            raise
        except JudgmentFailed as failed:
            if failed.call is not None or not state.earlier:
                raise
            # One failure may be raised for many requests: each gets one with its own calls.
            raise state.failure(failed.kind, str(failed), failed.tries) from failed
        finally:  # other processes may wait for it, whatever came of it
            self._leases.release(state.request.key)

    async def _ask_until_read(self, state: RequestState) -> FieldsAndCall:
        """Try, as often and as patiently as is set, until a reply parses; return its fields."""
        while True:
            try:
                reply, fields = await self._try(state)
            except EndpointDown:  # its endpoint went out of order while it waited: choose again
                continue
            except InFlightElsewhere:
                if kept := await self._reply_of_another(state):
                    self.spending.cached += 1
                    call = kept.call(state.program, self.spending.nothing)
                    return kept.fields, replace(call, earlier=tuple(state.earlier))
            except BudgetExhausted:
                self._leases.release(state.request.key)
                await self.spending.budget.room()
            except Fault as fault:
                if any(fault.tokens):
                    self._count_tokens(state, *fault.tokens)
                if not state.paid:  # nothing is paid yet: another process may try
                    self._leases.release(state.request.key)
                await self.fault_policy.after(state, fault)
            else:
                self._learn_needs(state)
                call, earlier = state.logged_call(reply), tuple(state.earlier)
                return fields, replace(call, earlier=earlier) if earlier else call

    async def _try(self, state: RequestState) -> ReplyAndFields:
        """Send a request when there is a place for it at an endpoint."""
        # What only waits for another process must take no place. With `refresh` no other's reply
        # is taken.
        may_wait = not (self.replies.refresh or self._is_over())
        if may_wait and self._leases.is_elsewhere(state.request.key):
            raise InFlightElsewhere
        state.endpoint = await self.endpoints.enter(state.request.first, state.avoided)
        try:
            return await self._send(state)
        finally:
            self.endpoints.leave()

    async def _send(self, state: RequestState) -> ReplyAndFields:
        """Send a request when its turn comes and the budget has room for it."""
        request = state.request
        if isinstance(request.prompt, Prompt):
            # All replies of a program get the limit that one needed: a cut reply is wasted money.
            learned = self.replies.capabilities.limits.get(state.program, 0)
            state.max_tokens = state.room or max(state.max_tokens, learned)
        # Made anew for each try: form, limit and endpoint may be others than those of the last one.
        body = self.requests.body(state.next_messages(), state.additions(), state.max_tokens)
        state.sent = state.endpoint.capabilities.apply(body)
        state.is_admitted, again = False, state.is_again
        not_called = crowded = False
        try:
            return await state.endpoint.transport.post(
                state.sent,
                state.prompt_tokens,
                partial(self._admit, state, again),
                partial(self._keep, state),
                request.key,
            )
        except BudgetExhausted:
            crowded = True
            raise
        except (Fault, JudgmentFailed, InFlightElsewhere) as fault:
            # Nothing was answered, or to another process: neither a call nor a try.
            not_called = state.is_admitted and isinstance(fault, Busy | InFlightElsewhere)
            state.tries -= not_called
            if state.is_admitted and not isinstance(fault, InFlightElsewhere):
                state.fail_call(fault)
            raise
        finally:
            if state.is_admitted:
                self.spending.release(state.expected, calls=int(not_called))
                self.spending.retries -= not_called and again
            # Where there was no room, nothing was given back that another call could use.
            if not crowded:
                self.spending.budget.wake()

    def _admit(self, state: RequestState, again: bool) -> None:
        """Count a request as a call: its turn has come, and much may have changed meanwhile."""
        if self._closing:
            raise JudgmentFailed("interrupted", "not asked any more")
        self.fault_policy.check()
        # Claimed before it is counted: what another process asks takes nothing of the budget.
        self._claim(state.request)
        state.estimate_tokens(self.replies.lengths)
        self.spending.call(state.expected)
        self.spending.retries += again
        state.begin_call()
        self.spending.budget.wake()

    async def _keep(self, state: RequestState, reply: Reply) -> ReplyAndFields:
        """Count a reply and, if it parses, keep it. Raises Fault if it does not."""
        state.reply = reply
        self._count_tokens(state, reply.prompt_tokens, reply.completion_tokens)
        self.spending.prefix_tokens += reply.cached_tokens
        if reply.served and len(self._served) < MOST_SERVED:
            self._served.add(reply.served)
        # Any answer ends an outage, even one that does not parse.
        self.patience.note_answer()
        state.endpoint.note_answer()
        state.waiting_since = None
        fields = state.read_fields(reply, self.settings.most)
        self.fault_policy.succeed()
        self.endpoints.cap(math.inf)
        self._learn_form(state)
        # Only a reply that parsed is kept: a bad one must be asked for again by the next job.
        text = state.request.kept_text(reply)
        kept = CachedReply(text, reply.prompt_tokens, reply.completion_tokens)
        is_kept = True  # also where nobody waits for that any more
        try:
            is_kept = await self.replies.keep(state.request, kept)
        finally:
            self.spending.kept += is_kept
        return reply, fields

    def _count_tokens(
        self, state: RequestState, prompt_tokens: int, completion_tokens: int
    ) -> None:
        """Count the tokens of a reply, be it usable or not."""
        self.spending.reply(prompt_tokens, completion_tokens, state.expected)
        estimated = (state.prompt_tokens, state.request.stated)
        self.replies.lengths.note(state.program, estimated, prompt_tokens, completion_tokens)

    def _learn_form(self, state: RequestState) -> None:
        """Note the form that an endpoint takes, and the one that all of them do."""
        prompt, capabilities = state.request.prompt, state.endpoint.capabilities
        if not isinstance(prompt, Prompt) or self.settings.structured != "auto":
            return
        name, form, shared = state.program, prompt.form, self.replies.capabilities.forms
        # A reply by markers proves nothing of an endpoint that was not asked for a schema.
        is_proof = form == "schema" or name in state.endpoint.no_schema
        if capabilities.forms.get(name) == form or not is_proof:
            return
        capabilities.forms[name] = form
        if form == "chat" or name not in shared:
            shared[name] = form
        self.replies.keep_capabilities()

    def _learn_needs(self, state: RequestState) -> None:
        """Note what a good reply needed: a higher limit of tokens, or a penalty."""
        name, limits = state.program, self.replies.capabilities.limits
        if state.cuts and limits.get(name, 0) < state.max_tokens:
            limits[name] = state.endpoint.capabilities.limits[name] = state.max_tokens
            self.replies.keep_capabilities()
            self._notify(
                f"replies of {name} are cut at {self.settings.max_tokens} tokens:"
                f" up to {state.max_tokens} are asked for from now on (llm.max_tokens)"
            )
        # Not kept for other requests: their replies must not depend on which came first.
        if state.looped and name not in self._looping:
            self._looping.add(name)
            self._notify(
                f"replies of {name} repeat themselves until they are cut: each such is"
                f" asked for once more ({HINT})"
            )

    def _claim(self, request: Request) -> None:
        """Claim a request that is about to be sent, among all processes that share the cache.

        Raises InFlightElsewhere if another process asks it, or has since it was looked for.
        """
        # A batch is noted in the cache, request by request.
        is_ours = self.settings.batch or self._leases.claim(request.key)
        if self.replies.refresh:
            return
        if not is_ours:
            raise InFlightElsewhere
        # Another process may have asked it, and let it go, between the first look and the claim;
        # and what is asked in another form, after a fault, is looked for only here.
        if self.replies.find_kept(request):
            raise InFlightElsewhere

    async def _reply_of_another(self, state: RequestState) -> KeptReply | None:
        """Return the reply that another process is asking for, None where none came.

        Raises FormFault where it was found out meanwhile that another form is to be asked for.
        """
        await self._leases.wait_until_free(state.request.key)
        kept = self.replies.find_kept(state.request)
        form = None
        if state.turn is not None:
            form = self.replies.learned_form(state.request.prompt.program)
            if form is not None:
                state.turn.end()  # others may ask in it
        prompt = state.request.prompt
        if kept is None and isinstance(prompt, Prompt) and form not in (None, prompt.form):
            raise FormFault("another process found that another form is needed")
        return kept
