"""The state of one request while it is asked: what was sent, what failed, what to send next."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from trecjudge.errors import JudgmentFailed
from trecjudge.findings import brief
from trecjudge.models.endpoint import Endpoint
from trecjudge.models.envelope import Reply
from trecjudge.models.faults import PENALTY, Busy, Fault, ItemFault
from trecjudge.models.prompt import PlainPrompt
from trecjudge.models.reading import Unparsed, loop_at_end, without_reasoning
from trecjudge.models.requests import Request
from trecjudge.models.spending import Expected, Lengths, Prices, estimated_tokens
from trecjudge.records import ModelCall, Usage
from trecjudge.text.chat_tokens import TOKENS, neutralize

LEAST_ROOM = 64
"""The fewest tokens worth asking for: an answer takes at least so many."""
LONGEST_BEGINNING = 60
"""Characters of an unreadable reply that a message shows."""
LONGEST_REPEATED = 20_000
"""Characters of an unreadable reply that are sent back with what is wrong with it."""
LONGEST_LOOP = 40
"""Characters of what a reply repeats that a message shows."""
PENALISED = 0.5
"""The penalty, of -2 to 2. With 1 a small model quotes no more: it avoids words of its prompt."""
HINT = f"llm.extra_body: {{{PENALTY}: {PENALISED}}} may prevent that"
"""What a user may do about replies that repeat themselves."""
RAISED = 4
"""How many times as many tokens are asked for where a reply was cut."""


class FirstTurn:
    """A held lock that is released only once, however often `end` is called."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock: asyncio.Lock | None = lock

    def end(self) -> None:
        """Release the lock, if that was not done yet."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


class FormFault(Exception):
    """A fault that may go away where no reply by JSON schema is asked for.

    `tried` are the requests that were made in that form, for the log.
    """

    tried: Sequence[ModelCall] = ()


@dataclass(slots=True)
class RequestState:
    """A request, its limit of tokens, and what went wrong with it so far.

    `turn` is held while it is unknown whether the endpoint takes this form: other requests wait for
    it. `endpoint` was asked last; `avoided` are those that could not serve the request.
    """

    request: Request
    max_tokens: int
    turn: FirstTurn | None = None
    endpoint: Endpoint = field(init=False)
    avoided: set[Endpoint] = field(default_factory=set)
    tries: int = 0
    cuts: int = 0
    looped: str = ""
    """What is said of a reply that repeated itself, once there was one."""
    waits: int = 0
    room: int | None = None
    """The most tokens that the endpoint has room for after this prompt, once it reported that."""
    waiting_since: float | None = None
    last_status: int = 0
    sent: dict[str, Any] = field(default_factory=dict)
    prompt_tokens: int = 0
    """About how many tokens were sent, by their text."""
    expected: Expected = (0.0, 0.0)
    wrong: list[dict[str, Any]] = field(default_factory=list)
    """Messages that are added to the request's own: the last reply, and what was wrong with it."""
    earlier: list[ModelCall] = field(default_factory=list)
    """The requests that gave no reply of use."""
    prices: Prices | None = None
    in_part: bool = False
    """Whether the reply was cut, and what it had before that is used."""
    reply: Reply | None = None
    """What was answered to the request that was sent last."""
    is_admitted: bool = False
    """Whether the request that was sent last was counted as a call."""
    paid: bool = False
    """Whether any answer was paid for."""
    sent_at: float = 0.0

    @property
    def program(self) -> str:
        """The name of the program."""
        return self.request.prompt.program.name

    @property
    def counted_tries(self) -> int:
        """How many tries it took, those not counted that asked differently for a cut reply."""
        return self.tries - self.cuts - bool(self.looped)

    @property
    def is_again(self) -> bool:
        """Whether a call was made for this reply already, in this form or another."""
        return any(not call.turned_away for call in self.earlier)

    def next_messages(self) -> list[dict[str, Any]]:
        """Return the messages to send next, and note about how many tokens they are."""
        messages = [*self.request.messages, *self.wrong]
        self.prompt_tokens = sum([estimated_tokens(m["content"]) for m in messages])
        return messages

    def additions(self) -> dict[str, Any]:
        """Return what is added to the body: a penalty too, where a reply repeated itself."""
        more = self.request.prompt.request
        return more | {PENALTY: PENALISED} if self.looped else more

    def estimate_tokens(self, lengths: Lengths) -> None:
        """Note the tokens that it is expected to take, in and out, by what was seen until now."""
        reply = lengths.reply(self.program, self.request.stated)
        self.expected = lengths.prompt(self.prompt_tokens), min(reply, self.max_tokens)

    def fit_into(self, room: int) -> bool:
        """Note the room after this prompt; return whether to ask again with that as limit."""
        # Only once: an endpoint that misreports its room would be asked for ever.
        if self.room is not None or not LEAST_ROOM <= room < self.max_tokens:
            return False
        self.room = self.max_tokens = room
        return True

    def read_fields(self, reply: Reply, most_tokens: int) -> dict[str, Any]:
        """Return the output fields of a reply.

        Raises Fault with what to ask for next noted: up to `most_tokens` where the reply was cut.
        """
        try:
            if reply.cut and isinstance(self.request.prompt, PlainPrompt):
                raise Unparsed("it was cut.")
            return self.request.parse(reply.text)
        except Unparsed as error:
            most_tokens = min(most_tokens, self.room or most_tokens)
            # Some servers cut a reply and do not give that as the reason.
            came_to_the_limit = reply.completion_tokens >= self.max_tokens > 0
            if reply.cut or (came_to_the_limit and reply.finish_reason != "stop"):
                fault = self._cut_fault(reply, most_tokens)
                if isinstance(fault, ItemFault):  # nothing better will come
                    with suppress(Unparsed):
                        fields = self.request.parse_part(reply.text)
                        self.in_part = True
                        return fields
            else:
                self.wrong = _correction(reply.text, str(error))
                begins = brief(without_reasoning(reply.text) or reply.text, LONGEST_BEGINNING)
                fault = Fault("parse", f"the reply does not parse: {error} It is {begins}")
            raise fault from error

    def _cut_fault(self, reply: Reply, most_tokens: int) -> Fault:
        """Return the fault of a cut reply; raise the limit, if it was an answer only once."""
        message = f"the reply was cut at {self.max_tokens} tokens"
        if loop := loop_at_end(reply.text or reply.reasoning):
            return self._loop_fault(f"{message}, repeating {brief(loop, LONGEST_LOOP)}")
        # Reasoning may be of any length; an answer that is cut twice most likely never ends.
        thought_only = without_reasoning(reply.text) is None
        if self.max_tokens >= most_tokens or self.looped or (self.cuts and not thought_only):
            return ItemFault("cut", f"{message} (llm.most_tokens is {most_tokens})")
        self.max_tokens = min(most_tokens, RAISED * self.max_tokens)
        self.cuts += 1
        return Fault("cut", message)

    def _loop_fault(self, message: str) -> Fault:
        """Return the fault of a reply that repeats itself: once it is asked for with a penalty."""
        is_set = any("penalty" in name for name in self.sent)
        if self.looped or is_set or PENALTY in self.endpoint.capabilities.without:
            return ItemFault("cut", message)
        self.looped = message
        return Fault("cut", f"{message}; asked again with {PENALTY} {PENALISED} ({HINT})")

    def begin_call(self) -> None:
        """Note that a request is sent now."""
        self.sent_at = time.perf_counter()
        self.reply, self.is_admitted = None, True
        self.tries += 1

    def logged_call(self, reply: Reply, fault: Fault | JudgmentFailed | None = None) -> ModelCall:
        """Return the exchange that is over, for the log."""
        seconds = time.perf_counter() - self.sent_at
        tokens = (reply.prompt_tokens, reply.completion_tokens)
        cost = None if self.prices is None else self.prices.of(*tokens)
        usage = Usage(False, *tokens, seconds, cost=cost, program=self.program)
        return ModelCall(
            self.program,
            self.sent.get("messages", self.request.messages),
            reply.text,
            usage,
            self.tries,
            "" if fault is None else str(fault),
            reply.reasoning,
            failure="" if fault is None else fault.kind,
            cut=self.in_part,
            turned_away=isinstance(fault, Busy),
            logprobs=reply.logprobs,
            number=len(self.earlier) + 1,
        )

    def fail_call(self, fault: Fault | JudgmentFailed) -> None:
        """Note that the request sent last gave no reply of use."""
        tokens = fault.tokens if isinstance(fault, Fault) else (0, 0)
        self.paid = self.paid or self.reply is not None or any(tokens)
        self.earlier.append(self.logged_call(self.reply or Reply("", "", *tokens), fault))

    def failure(self, kind: str, message: str, tries: int) -> JudgmentFailed:
        """Return the failure of this request, with all that was exchanged."""
        return JudgmentFailed(kind, message, tries, chain_calls(self.earlier))


def chain_calls(calls: Sequence[ModelCall]) -> ModelCall | None:
    """Return the last of several calls, with those before it; None without any."""
    if not calls:
        return None
    *before, last = calls
    return replace(last, earlier=(*before, *last.earlier))


def as_shared(call: ModelCall, cost: float | None) -> ModelCall:
    """Return a call as logged for a request that shares its reply; `cost` is 0, None if unknown."""
    usage = replace(call.usage, cached=True, seconds=0.0, cost=cost)
    return replace(call, usage=usage, tries=0, number=0, earlier=(), turned_away=False, shared=True)


def shared_failure(
    failed: JudgmentFailed, tried: Sequence[ModelCall], cost: float | None
) -> JudgmentFailed:
    """Return a failure for a request that waited for the reply; `tried` are its own calls."""
    of_another = [as_shared(failed.call, cost)] if isinstance(failed.call, ModelCall) else []
    calls = [*tried, *of_another]
    return JudgmentFailed(failed.kind, str(failed), failed.tries, chain_calls(calls))


def _correction(reply: str, wrong: str) -> list[dict[str, Any]]:
    """Return the messages that ask again with what was wrong."""
    again = f"That reply could not be read: {wrong} Answer again in exactly the form asked for."
    # Without its thoughts: they would be paid for again, as input.
    answer = (without_reasoning(reply) or reply)[:LONGEST_REPEATED]
    messages = [{"role": "assistant", "content": answer}, {"role": "user", "content": again}]
    # A model may repeat what a text tried to end its turn with; the fields are those of its answer.
    return [message | {"content": neutralize(message["content"], TOKENS)} for message in messages]
