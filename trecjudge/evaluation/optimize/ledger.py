"""The prompts that an optimiser tried, and what each had right of the questions to choose by."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from trecjudge.evaluation.optimize.questions import Question


@dataclass(frozen=True, slots=True)
class Tried:
    """A prompt: DSPy signature and demonstrations, and the score of each question by its place."""

    signature: Any
    demos: tuple[Mapping[str, Any], ...]
    scores: dict[int, float] = field(default_factory=dict)

    def mean(self) -> float:
        """Return the mean score, 0 to 1."""
        return sum(self.scores.values()) / len(self.scores)


@dataclass(slots=True)
class Ledger:
    """All prompts tried, in their order; threads write it."""

    questions: Sequence[Question]
    tried: dict[bytes, Tried] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, signature: Any, demos: Sequence[Any], question: Question, score: float) -> None:
        """Note what a prompt had right of a question; only those to choose by count."""
        place = next((i for i, known in enumerate(self.questions) if known is question), None)
        examples = tuple(dict(demo) for demo in demos)
        key = orjson.dumps([signature.dump_state(), repr(examples)])
        with self._lock:
            found = self.tried.setdefault(key, Tried(signature, examples))
            if place is not None:
                found.scores[place] = score

    @property
    def complete(self) -> list[Tried]:
        """The prompts that were asked all questions to choose by."""
        return [tried for tried in self.tried.values() if len(tried.scores) == len(self.questions)]

    def best(self) -> Tried | None:
        """Return the best of the complete ones; of equals the first, None without any."""
        return max(self.complete, key=Tried.mean, default=None)
