"""How many tokens calls take: as programs state, corrected by kept replies and by this job's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from trecjudge.models.model import Program

# Below it one long reply would move the estimate of all.
ENOUGH = 50
"""Calls of a job from which on estimates follow what was seen in it."""

A_FEW = 5
"""Calls that are enough to correct an estimate: by kept replies, or upwards by this job's own."""

# Rules of thumb for the tokenizers of the day: exact ones differ by model and load slowly.
ASCII_PER_TOKEN = 4.0
OTHERS_PER_TOKEN = 1.5
REASONING = 800
"""Tokens that a reasoning model thinks, about, before it answers."""


@dataclass(slots=True)
class TokenCounts:
    """Calls, how many tokens they were expected to take, and how many they took."""

    calls: int = 0
    stated: float = 0.0
    took: float = 0.0

    def note(self, stated: float, took: float) -> None:
        """Add a call; one whose tokens were not reported is left out."""
        if took > 0:
            self.calls += 1
            self.stated += stated
            self.took += took

    def ratio(self, least: int) -> float | None:
        """Return tokens taken for each one stated; None for fewer than `least` calls."""
        return self.took / self.stated if self.calls >= least and self.stated > 0 else None


NO_COUNTS: Final = TokenCounts()


@dataclass
class Lengths:
    """What is known of the tokens of one model's calls.

    `read` gives what kept replies took, by program; it is read when it is first needed. `limits`
    are limits of tokens that were found to be needed, by program; `limit` is the one set.
    """

    read: Callable[[], Mapping[str, TokenCounts]]
    limits: Mapping[str, int]
    limit: int
    _prompts: TokenCounts = field(default_factory=TokenCounts)
    _replies: dict[str, TokenCounts] = field(default_factory=dict)

    @cached_property
    def _kept_counts(self) -> Mapping[str, TokenCounts]:
        return self.read()

    def prompt(self, estimated: int) -> float:
        """Return how many tokens a prompt is expected to be, by an estimate from its text."""
        return estimated * (self._prompts.ratio(ENOUGH) or 1.0)

    def reply(self, program: str, stated: int) -> float:
        """Return how many tokens a reply is expected to have, given how many its program states."""
        seen = self._replies.get(program, NO_COUNTS)
        kept = self._kept_counts.get(program, NO_COUNTS)
        if ratio := seen.ratio(ENOUGH):
            return stated * ratio
        expected = stated * (kept.ratio(A_FEW) or 1.0)
        # A raised limit shows that replies are long; how long is not known yet.
        if not kept.ratio(A_FEW) and self.limits.get(program, 0) > self.limit:
            expected = max(expected, self.limit)
        # A few calls may only raise an estimate: one that is too low breaks a budget.
        return max(expected, stated * (seen.ratio(A_FEW) or 0.0))

    def note(
        self, program: str, expected: tuple[int, int], prompt_tokens: int, completion_tokens: int
    ) -> None:
        """Note what a call took; `expected` are the tokens estimated from its text, and stated."""
        self._prompts.note(expected[0], prompt_tokens)
        if program not in self._replies:
            self._replies[program] = TokenCounts()
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
