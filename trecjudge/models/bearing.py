"""What follows a failed call: a wait, another try, an unjudged item, or the end of all asking."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from trecjudge.errors import JudgmentFailed, ModelError
from trecjudge.models.asking import Asking, FormFault
from trecjudge.models.endpoints import FORBIDDEN, Endpoints
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
from trecjudge.models.patience import Patience
from trecjudge.models.requests import Replies
from trecjudge.models.settings import LlmSettings
from trecjudge.models.transport import TOO_MANY
from trecjudge.records import ModelCall

LONGEST_BACK_OFF = 30.0
"""Seconds, at most, before an item is tried again."""
GO_ON = "what is judged is written; run the same command again to go on"


@dataclass(slots=True)
class FaultPolicy:
    """Decides what follows a fault of an endpoint.

    `succeeded`: there was a good reply in this job. `stopped` is why nothing is asked any more, as
    kind and message; None while requests are sent. `dead` is the message for an endpoint that never
    answered.
    """

    replies: Replies
    endpoints: Endpoints
    patience: Patience
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

    def good(self) -> None:
        """Note a good reply."""
        self.succeeded = True
        self.patience.succeeded()

    def check(self, fault: Fault | None = None) -> None:
        """Raise ModelError or JudgmentFailed where nothing is asked any more."""
        if self.dead:
            raise ModelError(self.dead) from fault
        if self.stopped:
            raise JudgmentFailed(*self.stopped) from fault

    @property
    def _never_answered(self) -> bool:
        return not self.endpoints.silence.has_answered

    def still(self, seconds: float, requests: int) -> None:
        """Report that there was no answer for so many seconds."""
        ends = "the job ends" if self._never_answered else "no more is asked"
        most, name = self.endpoints.silence.limit, self._limit_name
        self.notify(
            f"{self._where}: no answer at all for {seconds:.0f} s, {requests} requests under way;"
            f" {ends} after {most:g} s ({name})"
        )

    def silent(self) -> None:
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

    async def after(self, asking: Asking, fault: Fault) -> None:
        """Return when it is time to try again; else raise the failure of this item, or of all."""
        self.check(fault)
        # In this order: ask differently, ask elsewhere, wait; only then is it a failure.
        if isinstance(fault, ParameterFault):
            differs = self._learned(asking, fault)
            if fault.parameter == PENALTY and asking.looped:
                fault = ItemFault("cut", f"{asking.looped}; {fault}")
            elif differs:
                return
            else:
                fault = ItemFault("refused", str(fault), fault.status)
        if isinstance(fault, TooLong) and asking.fits(fault.room):
            return
        if self._is_of_the_form(asking, fault):
            asking.endpoint.no_schema.add(asking.program)
            if not self.settings.batch:  # in a batch all requests have this fault at once
                self._note(asking, fault)
            raise FormFault(str(fault)) from fault
        if self.endpoints.moves(asking.endpoint, fault, asking.request.mark, asking.avoided):
            asking.tries -= not isinstance(fault, Busy)  # the next endpoint's first try is no retry
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
        """Note a parameter that is not taken; return whether the next request will differ."""
        habits = asking.endpoint.habits
        if learned := habits.learn(fault, asking.sent):
            self.notify(f"{asking.endpoint.url}: {fault}; {learned}")
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

        A 403 may be about this item only; if two different items get one, it is about the key.
        """
        if fault.status == FORBIDDEN and (self.succeeded or not self._is_second(asking)):
            return
        message = f"{fault}{self.settings.service.advice(fault.status)}"
        if not self.succeeded:
            raise ModelError(f"{asking.endpoint.url}: {message}") from fault
        self._end("stopped", message)

    def _is_second(self, asking: Asking) -> bool:
        """Return whether a second item is refused as a first one was."""
        self._forbidden.add(asking.request.mark)
        return len(self._forbidden) > 1

    def _is_of_the_moment(self, asking: Asking, fault: Fault) -> bool:
        """Return whether a fault is temporary, so that waiting may help."""
        if isinstance(fault, Busy):
            return True
        # One that never answered is most likely a wrong address: not worth a wait.
        if isinstance(fault, Unreachable):
            return self.succeeded or self.replies.answered_before
        plain = type(fault) is Fault and fault.kind == "transport"
        return plain and self.patience.out_of_order(fault.kind, asking.request.mark)

    async def _wait(self, asking: Asking, fault: Fault) -> None:
        """Wait until the request may be tried again; all other requests wait too."""
        now = asyncio.get_running_loop().time()
        asking.waits += 1
        if asking.turn and asking.waits > 1:
            asking.turn.end()  # it may be this item's fault: another one shall try
        asking.tries -= not isinstance(fault, Busy)  # an outage does not count as a try
        asking.waiting_since = now if asking.waiting_since is None else asking.waiting_since
        passed, most = now - asking.waiting_since, self.settings.patience
        first, since = self.endpoints.silence.first, self.patience.since
        if self._never_answered and since is not None and now - since >= first:
            self._end_silent(first, f": {fault}")
            self.check(fault)
        waited = f"waited for {most:g} s (llm.patience) in vain: {fault}"
        if self.patience.waits(str(fault)):
            self._end("stopped", waited)
        if self.stopped or passed > most:
            raise self._failure(asking, fault, waited) from fault
        asked = fault.after if isinstance(fault, Busy) else 0.0
        # As long as the endpoint asks for, but within the patience: then it is tried once more.
        pause = min(asked or self.patience.pause(), self.patience.left(), most - passed)
        # While others succeed, only this request was one too many.
        only_this = not asked and not self.patience.is_pausing
        if fault.status != TOO_MANY and not (only_this and asking.waits > 2):
            asking.endpoint.transport.pace.pause(pause)
            if self.settings.batch:
                await self._sleep(pause)
            return
        if only_this:
            pause = _back_off(asking.waits)
        else:
            asking.endpoint.transport.pace.hold(pause)
        await self._sleep(pause)

    async def _count(self, asking: Asking, fault: Fault) -> None:
        """Count a failure; return after a while if the item may be tried again."""
        settings = self.settings
        self._note(asking, fault)
        if asking.turn and not fault.status and fault.kind == "transport":
            asking.turn.end()  # it may be this item's fault: another one shall try
        # A cut reply is asked for again with more tokens, or a penalty: that takes no try.
        is_final = isinstance(fault, ItemFault | AccountFault | ConfigurationFault)
        if is_final or self.stopped or asking.counted_tries >= settings.tries:
            if isinstance(fault, Unreachable) and (not fault.status or self._is_second(asking)):
                raise ModelError(
                    f"{asking.endpoint.url}: {fault}; check {self._address}"
                ) from fault
            raise self._failure(asking, fault) from fault
        # No wait after an answer that is unreadable or cut: the endpoint is not overloaded.
        if fault.kind not in ("parse", "cut") and not self.settings.batch:
            await self._sleep(_back_off(asking.tries))

    def _note(self, asking: Asking, fault: Fault) -> None:
        """Note a call that failed; of too many in a row, end the asking."""
        if self.stopped is None:
            too_long = fault.kind == "too_long" and bool(asking.request.first)
            # Many items cite one document: if it is too long, that is one failure and not many.
            mark = hash(asking.request.first) if too_long else asking.request.mark
            if self.patience.failed(
                fault.kind, mark, self.endpoints.all[0].transport.at_once, too_long
            ):
                self._end("stopped", f"{self.patience.in_a_row} calls in a row failed: {fault}")
                return
            # No more are under way than may still fail.
            left = self.settings.give_up_after - self.patience.in_a_row
            self.endpoints.cap(max(1, left))

    def _failure(self, asking: Asking, fault: Fault, message: str = "") -> JudgmentFailed:
        """Return the failure of this item."""
        message = message or str(fault)
        failed = asking.failure(fault.kind, message, asking.tries)
        if self.stopped is None and (failed.call is None or isinstance(failed.call, ModelCall)):
            self.replies.failed[asking.request.mark] = (
                fault.kind,
                message,
                asking.tries,
                failed.call,
            )
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
