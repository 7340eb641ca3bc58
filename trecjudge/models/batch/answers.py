"""The answers of a batch that is over, told apart by what becomes of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from trecjudge.models.batch.lines import (
    PendingRequest,
    RawAnswer,
    answered,
    is_failure,
    is_unanswered,
)


@dataclass(frozen=True, slots=True)
class Answers:
    """The requests of a batch: `good` ones have their answer, `left` have none.

    `failures` are handed out only after the good ones are kept. `unclaimed` answers are those that
    nobody waits for, by key.
    """

    good: list[PendingRequest]
    failures: list[tuple[PendingRequest, RawAnswer]]
    left: list[PendingRequest]
    unclaimed: list[tuple[str, bytes]]

    @classmethod
    def of(
        cls,
        rows: Iterable[tuple[str, Any]],
        waiting_for: Mapping[str, PendingRequest],
        is_kept: Callable[[str], bool],
    ) -> Answers:
        """Return the answers of the rows (key, entry); good ones are handed out."""
        found, left = cls([], [], [], []), dict(waiting_for)
        for key, entry in rows:
            if is_unanswered(entry):
                continue
            waiting = left.pop(key, None)
            if waiting is None:
                if key not in waiting_for and not is_kept(key):
                    found.unclaimed.append((key, orjson.dumps(entry)))
                continue
            answer = answered(entry)
            if is_failure(answer):
                found.failures.append((waiting, answer))
            elif not waiting.answer.done():
                waiting.answer.set_result(answer)
                found.good.append(waiting)
        found.left.extend(left.values())
        return found
