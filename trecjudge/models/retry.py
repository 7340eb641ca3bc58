"""What follows a failed call: a wait, another try, an unjudged item, or the end of all asking."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.models.endpoint import FORBIDDEN, Endpoints
from trecjudge.models.faults import (
    OF_THE_FORM,
    PENALTY,
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
from trecjudge.models.pace import OutageTracker
from trecjudge.models.request_state import FormFault, RequestState
from trecjudge.models.requests import Replies
from trecjudge.models.settings import LlmSettings
from trecjudge.models.transport import TOO_MANY
from trecjudge.records import ModelCall

LONGEST_BACK_OFF = 30.0
"""Seconds, at most, before an item is tried again."""
GO_ON = "what is judged is written; run the same command again to go on"


@dataclass(slots=True)
class RetryPolicy:
    """Decides what follows a fault of an endpoint.

    `succeeded`: there was a good reply in this job. `stopped` is why nothing is asked any more, as
    kind and message; None while requests are sent. `dead` is the message for an endpoint that never
    answered.
    """

    replies: Replies
    endpoints: Endpoints
    patience: OutageTracker
    notify: Callable[[str], None]
    succeeded: bool = False
    stopped: tuple[str, str] | None = None
    dead: str = ""
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _forbidden: set[int] = field(default_factory=set)

    @property
    def settings(self) -> LlmSettings:
        """The settings of the client."""
        return self.replies.requests.settings

    def succeed(self) -> None:
        """Note a good reply."""
        self.succeeded = True
        self.patience.note_success()

    def check(self, fault: Fault | None = None) -> None:
        """Raise ModelError or JudgmentFailed where nothing is asked any more."""
        if self.dead:
            raise ModelError(self.dead) from fault
        if self.stopped:
            raise JudgmentFailed(*self.stopped) from fault

    def report_silence(self, seconds: float, requests: int) -> None:
        """Report that there was no answer for so many seconds."""
        ends = "the job ends" if self._never_answered else "no more is asked"
        most, name = self.endpoints.silence.limit, self._limit_name
        self.notify(
            f"{self._where}: no answer at all for {seconds:.0f} s, {requests} requests under way;"
            f" {ends} after {most:g} s ({name})"
        )

    def end_silent(self) -> None:
        """Ask nothing from now on: no answer came within the limit."""
        self._end_silent(self.endpoints.silence.limit)

    def _end_silent(self, seconds: float, why: str = "") -> None:
        message = f"no answer at all for {seconds:g} s ({self._limit_name}){why}"
        if not self._never_answered:
            self._end("stopped", message)
        elif self.stopped is None:
            hint = f"check {self._address}, and whether the model is up; run the same command again"
            self.dead, self.stopped = f"{self._where}: {message}; {hint}", ("stopped", message)
            self.wake()

    @property
    def _never_answered(self) -> bool:
        return not self.endpoints.silence.has_answered

    @property
    def _where(self) -> str:
        return ", ".join(self.settings.urls)

    @property
    def _address(self) -> str:
        return self.settings.service.base_urls[0]

    @property
    def _limit_name(self) -> str:
        given = self.settings
        if 2 * given.timeout >= self.endpoints.silence.limit:
            return "twice llm.timeout"
        is_first = self._never_answered and given.first_answer <= given.patience
        return "llm.first_answer" if is_first else "llm.patience"

    async def after(self, state: RequestState, fault: Fault) -> None:
        """Return when it is time to try again; else raise the failure of this item, or of all."""
        self.check(fault)
        # In this order: ask differently, ask elsewhere, wait; only then is it a failure.
        if isinstance(fault, ParameterFault):
            differs = self._learn_parameter(state, fault)
            if fault.parameter == PENALTY and state.looped:
                fault = ItemFault("cut", f"{state.looped}; {fault}")
            elif differs:
                return
            else:
                fault = ItemFault("refused", str(fault), fault.status)
        if isinstance(fault, TooLong) and state.fit_into(fault.room):
            return
        # Before it is taken for the endpoint's or the item's: many refuse a schema by a 500.
        if self._is_of_the_form(state, fault):
            state.endpoint.no_schema.add(state.program)
            if not self.settings.batch:  # in a batch all requests have this fault at once
                self._note(state, fault)
            raise FormFault(str(fault)) from fault
        if self.endpoints.moves_on(state.endpoint, fault, state.request.mark, state.avoided):
            state.tries -= not isinstance(fault, Busy)  # the next endpoint's first try is no retry
            state.last_status = 0
            return
        if isinstance(fault, AccountFault):
            self._end("account", str(fault))
        elif isinstance(fault, ConfigurationFault):
            self._end_misconfigured(state, fault)
        elif self._is_of_the_moment(state, fault):
            await self._wait(state, fault)
            return
        await self._count(state, fault)

    def _learn_parameter(self, state: RequestState, fault: ParameterFault) -> bool:
        """Note a parameter that is not taken; return whether the next request will differ."""
        capabilities = state.endpoint.capabilities
        if learned := capabilities.learn(fault, state.sent):
            self.notify(f"{state.endpoint.url}: {fault}; {learned}")
            self.replies.keep_capabilities()
            return True
        return capabilities.apply(state.sent) != state.sent

    def _is_of_the_form(self, state: RequestState, fault: Fault) -> bool:
        """Return whether a fault may go away with the form; a 500 must come twice for that."""
        before, state.last_status = state.last_status, fault.status
        if fault.status not in OF_THE_FORM or fault.kind not in ("refused", "transport"):
            return False
        if "response_format" not in state.sent or self.settings.structured != "auto":
            return False
        known = state.endpoint.capabilities.forms.get(state.program)
        untried = self.endpoints.several and known != "schema"
        is_open = (state.turn or self.settings.batch) and known is None
        if not (is_open or untried):
            return fault.status < 500 and names_the_form(str(fault))
        return fault.status < 500 or fault.status in (501, before)

    def _end_misconfigured(self, state: RequestState, fault: ConfigurationFault) -> None:
        """Raise ModelError where nothing was answered yet; else stop.

        A 403 may be about this item only; if two different items get one, it is about the key.
        """
        if fault.status == FORBIDDEN and (self.succeeded or not self._is_second(state)):
            return
        message = f"{fault}{self.settings.service.advice(fault.status)}"
        if not self.succeeded:
            raise ModelError(f"{state.endpoint.url}: {message}") from fault
        self._end("stopped", message)

    def _is_second(self, state: RequestState) -> bool:
        """Return whether a second item is refused as a first one was."""
        self._forbidden.add(state.request.mark)
        return len(self._forbidden) > 1

    def _is_of_the_moment(self, state: RequestState, fault: Fault) -> bool:
        """Return whether a fault is temporary, so that waiting may help."""
        if isinstance(fault, Busy):
            return True
        # One that never answered is most likely a wrong address: not worth a wait.
        if isinstance(fault, Unreachable):
            return self.succeeded or self.replies.answered_before
        plain = type(fault) is Fault and fault.kind == "transport"
        return plain and self.patience.is_outage(fault.kind, state.request.mark)

    async def _wait(self, state: RequestState, fault: Fault) -> None:
        """Wait until the request may be tried again; all other requests wait too."""
        now = asyncio.get_running_loop().time()
        state.waits += 1
        if state.turn and state.waits > 1:
            state.turn.end()  # it may be this item's fault: another one shall try
        state.tries -= not isinstance(fault, Busy)  # an outage does not count as a try
        state.waiting_since = now if state.waiting_since is None else state.waiting_since
        passed, most = now - state.waiting_since, self.settings.patience
        first, since = self.endpoints.silence.first, self.patience.since
        if self._never_answered and since is not None and now - since >= first:
            self._end_silent(first, f": {fault}")
            self.check(fault)
        waited = f"waited for {most:g} s (llm.patience) in vain: {fault}"
        if self.patience.note_wait(str(fault)):
            self._end("stopped", waited)
        if self.stopped or passed > most:
            raise self._failure(state, fault, waited) from fault
        asked = fault.after if isinstance(fault, Busy) else 0.0
        # As long as the endpoint asks for, but within the patience: then it is tried once more.
        # One pause for all requests of a moment: each of its own would wait in a row.
        pause = min(asked or self.patience.pause(), self.patience.seconds_left(), most - passed)
        # While others succeed, only this request was one too many.
        only_this = not asked and not self.patience.is_pausing
        if fault.status != TOO_MANY and not (only_this and state.waits > 2):
            state.endpoint.transport.pace.pause(pause)
            if self.settings.batch:
                await self._sleep(pause)
            return
        if only_this:
            pause = _back_off(state.waits)
        else:
            state.endpoint.transport.pace.hold(pause)
        await self._sleep(pause)

    async def _count(self, state: RequestState, fault: Fault) -> None:
        """Count a failure; return after a while if the item may be tried again."""
        settings = self.settings
        self._note(state, fault)
        if state.turn and not fault.status and fault.kind == "transport":
            state.turn.end()  # it may be this item's fault: another one shall try
        # A cut reply is asked for again with more tokens, or a penalty: that takes no try.
        is_final = isinstance(fault, ItemFault | AccountFault | ConfigurationFault)
        if is_final or self.stopped or state.counted_tries >= settings.tries:
            if isinstance(fault, Unreachable) and (not fault.status or self._is_second(state)):
                message = f"{state.endpoint.url}: {fault}; check {self._address}"
                raise ModelError(message) from fault
            raise self._failure(state, fault) from fault
        # No wait after an answer that is unreadable or cut: the endpoint is not overloaded.
        if fault.kind not in ("parse", "cut") and not settings.batch:
            await self._sleep(_back_off(state.tries))

    def _note(self, state: RequestState, fault: Fault) -> None:
        """Note a call that failed; of too many in a row, end the asking."""
        if self.stopped is not None:
            return
        too_long = fault.kind == "too_long" and bool(state.request.first)
        # Many items cite one document: if it is too long, that is one failure and not many.
        mark = hash(state.request.first) if too_long else state.request.mark
        at_once = self.endpoints.all[0].transport.at_once
        if self.patience.note_failure(fault.kind, mark, at_once, too_long):
            self._end("stopped", f"{self.patience.in_a_row} calls in a row failed: {fault}")
            return
        # No more are under way than may still fail.
        self.endpoints.cap(max(1, self.settings.give_up_after - self.patience.in_a_row))

    def _failure(self, state: RequestState, fault: Fault, message: str = "") -> JudgmentFailed:
        """Return the failure of this item."""
        failed = state.failure(fault.kind, message or str(fault), state.tries)
        call = failed.call
        if self.stopped is None and (call is None or isinstance(call, ModelCall)):
            outcome = (fault.kind, message or str(fault), state.tries, call)
            self.replies.failed[state.request.mark] = outcome
        return failed

    def _end(self, kind: str, message: str) -> None:
        """Ask nothing from now on: what is left is unjudged, with this kind and message."""
        if self.stopped is None:
            self.stopped = (kind, message)
            self.notify(f"{self._where}: {message}; {GO_ON}")
            self.wake()

    def call_off(self, why: str) -> None:
        """Ask nothing from now on because of `why`, a fault that is not the endpoint's."""
        if self.stopped is None:
            self.stopped = ("stopped", f"not asked any more: {why}")
            self.wake()

    def interrupt(self, seconds: float) -> float:
        """Ask nothing from now on; return the seconds to wait for replies on their way."""
        on_their_way = self.endpoints.silence.requests
        self.wake()
        if not (on_their_way and seconds):
            return 0.0
        self.notify(f"waiting up to {seconds:g} s for {on_their_way} replies on their way")
        return seconds

    def wake(self) -> None:
        """Wake all requests that wait: they end at once, without being sent."""
        self._stop.set()
        self.endpoints.release()

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but wake up at once when asking ends."""
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            return


def _back_off(number: int) -> float:
    """Return the seconds before an item is tried again after so many tries or waits."""
    # From 0 on: requests that failed together should not come back together.
    return random.uniform(0, min(LONGEST_BACK_OFF, 0.25 * 2.0**number))
