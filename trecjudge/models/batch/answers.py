"""Sorts the answers of a finished batch: good, failed, unanswered, or for later commands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from trecjudge.models.batch.lines import (
    PendingRequest,
    RawAnswer,
    answered,
    is_failure,
    is_unanswered,
)
from trecjudge.models.batch.survey import Row, Survey
from trecjudge.models.bodies import OF_AN_ERROR
from trecjudge.models.faults import Fault

HELD = 16 << 20
"""Bytes of answers that are held at a time."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The requests of a batch, sorted as its answers are read; good answers are handed out.

    `survey` knows which are not believed.
    `failures` are to be handed out only after the good ones are kept. `keep` takes answers, by key,
    that no request waits for but that are paid for (`is_wanted`).
    """

    survey: Survey
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
            elif not is_unanswered(entry):
                held += self._take(key, entry, left.pop(key, None), key in waiting_for)
            if held > HELD:
                await self._settle()
                held = 0
        await self._settle()
        return list(left.values())

    def _take(
        self, key: str, entry: Mapping[str, Any], waiting: PendingRequest | None, is_known: bool
    ) -> int:
        """Take one answer; return how many bytes of it are held."""
        if waiting is None:
            if is_known or key in self._unclaimed or not self.is_wanted(key):
                return 0
            self._unclaimed[key] = orjson.dumps(entry)
            return len(self._unclaimed[key])
        status, body = answered(entry)
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
