"""The state of one request while it is asked: what was sent, what failed, what to send next."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import Any

from trecjudge.findings import shown
from trecjudge.models.endpoints import Endpoint
from trecjudge.models.envelope import Reply
from trecjudge.models.faults import Fault, ItemFault
from trecjudge.models.prompt import PlainPrompt
from trecjudge.models.reading import Unparsed, without_reasoning
from trecjudge.models.requests import Request
from trecjudge.models.spending import Expected
from trecjudge.records import ModelCall, Usage
from trecjudge.text.chat_tokens import TOKEN, broken

LEAST_ROOM = 64
"""Tokens that an answer takes at least."""
LONGEST_BEGINNING = 60
LONGEST_REPEATED = 20_000
"""Characters of an unreadable reply that are sent back with what is wrong with it."""
RAISED = 4
"""How many times as many tokens are asked for where a reply was cut."""


class Turn:
    """A lock that is held; it is released only once, whoever does so first."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock: asyncio.Lock | None = lock

    def end(self) -> None:
        """Release the lock, if that was not done yet."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


class FormFault(Exception):
    """A fault that may go away where no reply by JSON schema is asked for."""


@dataclass(slots=True)
class Asking:
    """A request, its limit of tokens, and what went wrong with it so far.

    `turn`: it is not known yet whether the endpoint takes this form; others wait for this turn.
    `endpoint` was asked last; `avoided` are those that could not serve it.
    """

    request: Request
    max_tokens: int
    turn: Turn | None = None
    endpoint: Endpoint = field(init=False)
    avoided: set[Endpoint] = field(default_factory=set)
    tries: int = 0
    cuts: int = 0
    waits: int = 0
    room: int | None = None
    """The most tokens that the endpoint has room for behind this prompt, once it reported that."""
    waiting_since: float | None = None
    last_status: int = 0
    sent: dict[str, Any] = field(default_factory=dict)
    prompt_tokens: int = 0
    """About how many tokens were sent, by their text."""
    expected: Expected = (0.0, 0.0)
    wrong: list[dict[str, Any]] = field(default_factory=list)
    earlier: list[ModelCall] = field(default_factory=list)
    """The replies that could not be used."""
    started: float = field(default_factory=time.perf_counter)

    @property
    def program(self) -> str:
        """The name of the program."""
        return self.request.prompt.program.name

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The request's messages, and what was wrong with the last reply."""
        return [*self.request.messages, *self.wrong]

    def fits(self, room: int) -> bool:
        """Note the room behind this prompt; return whether to ask again with a limit of that."""
        # Only once: an endpoint that misreports its room would be asked for ever.
        if self.room is not None or not LEAST_ROOM <= room < self.max_tokens:
            return False
        self.room = self.max_tokens = room
        return True

    def fields(self, reply: Reply, most_tokens: int) -> dict[str, Any]:
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
                fault = self._cut(reply, most_tokens)
            else:
                self.wrong = _correction(reply.text, str(error))
                begins = shown(without_reasoning(reply.text) or reply.text, LONGEST_BEGINNING)
                fault = Fault("parse", f"the reply does not parse: {error} It is {begins}")
            self.earlier.append(self.call(reply, str(fault)))
            raise fault from error

    def _cut(self, reply: Reply, most_tokens: int) -> Fault:
        """Raise the limit: as often as it takes where reasoning ate it, else once."""
        message = f"the reply was cut at {self.max_tokens} tokens"
        # Reasoning may take any length; an answer that is cut twice has gone astray.
        thought_only = without_reasoning(reply.text) is None
        if self.max_tokens >= most_tokens or (self.cuts and not thought_only):
            return ItemFault("cut", f"{message} (llm.most_tokens is {most_tokens})")
        self.max_tokens = min(most_tokens, RAISED * self.max_tokens)
        self.cuts += 1
        return Fault("cut", message)

    def paid_in_vain(self, fault: Fault) -> None:
        """Note a reply that is of no use and was counted all the same."""
        if any(fault.tokens):
            self.earlier.append(self.call(Reply("", "", *fault.tokens), str(fault)))

    def call(self, reply: Reply, error: str = "") -> ModelCall:
        """Return the exchange for the log."""
        seconds = time.perf_counter() - self.started
        usage = Usage(False, reply.prompt_tokens, reply.completion_tokens, seconds)
        return ModelCall(
            self.program, self.messages, reply.text, usage, self.tries, error, reply.reasoning
        )

    def failed(self, error: str) -> ModelCall:
        """Return the failed exchange, for the log: the last reply, with those before it."""
        if not self.earlier:
            return ModelCall(self.program, self.messages, "", Usage(), self.tries, error)
        *before, last = self.earlier
        tries, earlier = self.tries, tuple(before)
        return replace(last, tries=tries, error=error, earlier=earlier)


def _correction(reply: str, wrong: str) -> list[dict[str, Any]]:
    """Return the messages that ask again with what was wrong."""
    again = f"That reply could not be read: {wrong} Answer again in exactly the form asked for."
    # Without its thoughts: they would be paid for again, as input.
    answer = (without_reasoning(reply) or reply)[:LONGEST_REPEATED]
    messages = [{"role": "assistant", "content": answer}, {"role": "user", "content": again}]
    # A model may repeat what a text tried to end its turn with; the fields are those of its answer.
    return [message | {"content": broken(message["content"], TOKEN)} for message in messages]
