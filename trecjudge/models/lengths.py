"""How many tokens calls take: as programs state, as kept replies did, as those of this job do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from trecjudge.models.model import Program

ENOUGH = 50
"""Calls of a job from which on estimates follow what was seen in it."""

A_FEW = 5
"""Calls from which on they tell something: kept ones what to expect, those of a job to beware."""

ASCII_PER_TOKEN = 4.0
OTHERS_PER_TOKEN = 1.5
REASONING = 800
"""Tokens that a reasoning model thinks, about, before it answers."""


@dataclass(slots=True)
class Seen:
    """Calls, how many tokens they were expected to take, and how many they took."""

    calls: int = 0
    stated: float = 0.0
    took: float = 0.0

    def note(self, stated: float, took: float) -> None:
        """Add a call; one whose tokens were not told says nothing."""
        if took > 0:
            self.calls += 1
            self.stated += stated
            self.took += took

    def ratio(self, least: int) -> float | None:
        """Return how many times as many were taken; None where fewer than `least` calls tell."""
        return self.took / self.stated if self.calls >= least and self.stated > 0 else None


NOTHING_SEEN: Final = Seen()


@dataclass
class Lengths:
    """What is known of the tokens of one model's calls.

    `read` gives what kept replies took, by program; it is read when it is first needed. `limits`
    are limits of tokens that were found to be needed, by program; `limit` is the one set.
    """

    read: Callable[[], Mapping[str, Seen]]
    limits: Mapping[str, int]
    limit: int
    _prompts: Seen = field(default_factory=Seen)
    _replies: dict[str, Seen] = field(default_factory=dict)

    @cached_property
    def _kept(self) -> Mapping[str, Seen]:
        return self.read()

    def prompt(self, estimated: int) -> float:
        """Return how many tokens a prompt is expected to be, by an estimate from its text."""
        return estimated * (self._prompts.ratio(ENOUGH) or 1.0)

    def reply(self, program: str, stated: int) -> float:
        """Return how many tokens a reply is expected to be, of which so many are stated."""
        seen = self._replies.get(program, NOTHING_SEEN)
        kept = self._kept.get(program, NOTHING_SEEN)
        if ratio := seen.ratio(ENOUGH):
            return stated * ratio
        expected = stated * (kept.ratio(A_FEW) or 1.0)
        if not kept.ratio(A_FEW) and self.limits.get(program, 0) > self.limit:
            expected = max(expected, self.limit)
        return max(expected, stated * (seen.ratio(A_FEW) or 0.0))

    def note(
        self, program: str, expected: tuple[int, int], prompt_tokens: int, completion_tokens: int
    ) -> None:
        """Note what a call took; `expected` are the tokens estimated from its text, and stated."""
        self._prompts.note(expected[0], prompt_tokens)
        if program not in self._replies:
            self._replies[program] = Seen()
        self._replies[program].note(expected[1], completion_tokens)


def stated_length(program: Program, inputs: Mapping[str, Any], reasoning: bool) -> int:
    """Return about how many tokens the reply to these inputs has, as the program states it."""
    length = program.length
    tokens: float = length.fixed
    if length.each:
        tokens += length.each * len(inputs.get(program.aligned_with) or ())
    if length.share:
        tokens += length.share * estimated_tokens(str(inputs.get(length.of, "")))
    return int(min(tokens, length.most)) + (REASONING if reasoning else 0)


def estimated_tokens(text: str) -> int:
    """Return roughly how many tokens a text is: 4 ASCII characters each, 1.5 of any other kind."""
    others = 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore"))
    return int((len(text) - others) / ASCII_PER_TOKEN + others / OTHERS_PER_TOKEN) + 1
