"""The answers of a batch: which of them cannot be those of their requests, and what is left."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from trecjudge.models.batch.api import (
    PendingRequest,
    RawAnswer,
    is_failure,
    read_answer,
    was_not_asked,
)
from trecjudge.models.envelope import token_count
from trecjudge.models.faults import Fault, ItemFault
from trecjudge.models.transport import OF_AN_ERROR

MIXED_UP = "mixed_up"
"""The kind of failure of a request whose answer may be that of another one."""
CODE = "code"
"""The field of a reply that repeats a nonce."""
HELD = 16 << 20
"""Bytes of answers that are held at a time."""
Row = tuple[str, str, Mapping[str, Any]]
"""The key of a request, the nonce that it carries, "" for none, and its entry in a file."""


def mark_sample(pending: Sequence[PendingRequest], share: float) -> None:
    """Let a share of requests, spread evenly and at least one, carry a nonce to be repeated."""
    count = min(len(pending), max(1, round(share * len(pending)))) if share else 0
    for number in range(count):
        waiting = pending[number * len(pending) // count]
        # One that was in a batch before carries its nonce still.
        if waiting.nonce or not isinstance(waiting.body["messages"][-1].get("content"), str):
            continue
        waiting.nonce = secrets.token_hex(6)
        waiting.body.update(_with_nonce(waiting.body, waiting.nonce))


def _with_nonce(body: Mapping[str, Any], nonce: str) -> dict[str, Any]:
    """Return what differs in a body that asks to repeat a nonce: messages, and a schema's field."""
    *before, last = body["messages"]
    form = body.get("response_format") or {}
    schema = form.get("json_schema", {}).get("schema")
    asked = f"Begin your reply with the line `{CODE}: {nonce}`."
    changed: dict[str, Any] = {}
    if schema is not None:
        asked = f"Give `{CODE}` as {nonce}."
        fields = {CODE: {"type": "string", "enum": [nonce]}} | schema.get("properties", {})
        schema = schema | {"properties": fields, "required": [CODE, *schema.get("required", ())]}
        changed["response_format"] = form | {
            "json_schema": form["json_schema"] | {"schema": schema}
        }
    return changed | {"messages": [*before, last | {"content": f"{last['content']}\n\n{asked}"}]}


@dataclass(slots=True)
class AnswerSurvey:
    """What is wrong with the answers of a batch, counted; `is_ours` knows the keys in it."""

    model: str
    is_ours: Callable[[str], bool]
    waiting: Mapping[str, PendingRequest]
    unread: int = 0
    strangers: int = 0
    mixed: dict[str, str] = field(default_factory=dict)
    """Why the answer to a request cannot be its own, by key."""
    coded: int = 0
    lost: int = 0
    """Replies that were to repeat a nonce, and those of them that do not."""
    _said: dict[str, bytes] = field(default_factory=dict)
    _tokens: dict[str, tuple[int, int]] = field(default_factory=dict)
    _others: dict[str, str] = field(default_factory=dict)
    _is_named: bool = False

    def read(self, rows: Iterable[Row]) -> None:
        """Read all answers once."""
        for key, nonce, entry in rows:
            if not key:
                self.unread += 1
            elif self.is_ours(key):
                self._look(key, nonce, entry)
            else:
                self.strangers += 1
        if self._is_named:  # where none has the name, the endpoint has another one for the model
            self.mixed |= self._others

    def _look(self, key: str, nonce: str, entry: Mapping[str, Any]) -> None:
        response = _object(entry.get("response"))
        body = _object(response.get("body"))
        parts = [response.get("status_code"), body.get("choices") or body, entry.get("error")]
        said = hashlib.blake2b(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).digest()
        if self._said.setdefault(key, said) != said:
            self.mixed[key] = "it gives two answers that differ"
        usage, (before, more) = body.get("usage"), self._tokens.get(key, (0, 0))
        counts = [token_count(usage, f"{what}_tokens") for what in ("prompt", "completion")]
        self._tokens[key] = before + counts[0], more + counts[1]
        named = (None, entry["custom_id"])
        echo = _object(entry.get("body") or entry.get("request")).get("messages")
        is_told = echo is not None and key in self.waiting
        own = self.waiting[key].body["messages"] if is_told else echo
        if echo != own or any(part.get("custom_id") not in named for part in (response, body)):
            self.mixed[key] = "it repeats another request"
        if isinstance(served := body.get("model"), str) and served:
            if _is_name_of(served, self.model):
                self._is_named = True
            else:
                self._others[key] = f"its answer is of another model, {served[:80]!r}"
        choices = body.get("choices")
        if nonce and isinstance(choices, list) and choices:
            ended = _object(choices[0]).get("finish_reason") in (None, "stop")
            self.coded += ended
            self.lost += ended and nonce.encode() not in orjson.dumps(choices)

    def fault(self, key: str) -> Fault | None:
        """Return why the answer to a request is not believed, None where it is."""
        why, kind = self.mixed.get(key, ""), Fault
        if self.lost:
            why, kind = self._codes, ItemFault
        if not why:
            return None
        tokens = self._tokens.get(key, (0, 0))
        return kind(MIXED_UP, f"the batch is not believed: {why}").after_paying(*tokens)

    @property
    def _codes(self) -> str:
        what = f"{self.lost} of {self.coded} replies do not repeat their code (llm.batch_nonce)"
        return f"{what}, so answers may be those of other requests"

    @property
    def summary(self) -> str:
        """What is wrong, in words; empty if nothing is."""
        counted = (
            (self.lost, self._codes),
            (len(self.mixed), f"answers to {len(self.mixed)} requests are mixed up"),
            (self.strangers, f"{self.strangers} answers to requests that were not in it"),
            (self.unread, f"{self.unread} lines that cannot be read"),
        )
        return "; ".join(words for count, words in counted if count)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_name_of(served: str, asked: str) -> bool:
    """Return whether an answer's model may be the one asked: `gpt-4o-2024-08-06` for `gpt-4o`."""
    one, other = (name.rpartition("/")[2].casefold() for name in (served, asked))
    return one in other or other in one


@dataclass(frozen=True, slots=True)
class BatchAnswers:
    """The requests of a batch, sorted as its answers are read; good answers are handed out.

    `survey` knows which are not believed.
    `failures` are to be handed out only after the good ones are kept. `keep` takes answers, by key,
    that no request waits for but that are paid for (`is_wanted`).
    """

    survey: AnswerSurvey
    is_wanted: Callable[[str], bool]
    keep: Callable[[Iterable[tuple[str, bytes]]], None]
    failures: list[tuple[PendingRequest, RawAnswer | Fault]] = field(default_factory=list)
    _good: list[PendingRequest] = field(default_factory=list)
    _unclaimed: dict[str, bytes] = field(default_factory=dict)

    async def take(
        self, rows: Iterable[Row], waiting_for: Mapping[str, PendingRequest]
    ) -> list[PendingRequest]:
        """Take the answers of the rows; return the requests that have none."""
        left, held = dict(waiting_for), 0
        for key, _, entry in rows:
            if fault := self.survey.fault(key):
                if waiting := left.pop(key, None):
                    self.failures.append((waiting, fault))
            elif not was_not_asked(entry):
                held += self._take(key, entry, left.pop(key, None), key in waiting_for)
            if held > HELD:
                await self._settle()
                held = 0
        await self._settle()
        return list(left.values())

    def hand_out_failures(self) -> None:
        """Hand out what is no good answer."""
        for waiting, answer in self.failures:
            if isinstance(answer, Fault):
                waiting.fail(answer)
            elif not waiting.answer.done():
                waiting.answer.set_result(answer)

    def _take(
        self, key: str, entry: Mapping[str, Any], waiting: PendingRequest | None, is_known: bool
    ) -> int:
        """Take one answer; return how many bytes of it are held."""
        if waiting is None:
            if is_known or key in self._unclaimed or not self.is_wanted(key):
                return 0
            self._unclaimed[key] = orjson.dumps(entry)
            return len(self._unclaimed[key])
        status, body = read_answer(entry)
        if is_failure((status, body)):
            self.failures.append((waiting, (status, body[:OF_AN_ERROR])))
            return 0
        if not waiting.answer.done():
            waiting.answer.set_result((status, body))
            self._good.append(waiting)
        return len(body)

    async def _settle(self) -> None:
        """Keep answers that no request waits for, and wait until the good ones were used."""
        self.keep(self._unclaimed.items())
        self._unclaimed.clear()
        if self._good:
            await asyncio.wait([waiting.done for waiting in self._good])
        self._good.clear()
