"""What asking a model was: each exchange, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Usage:
    """What a judgment cost: not part of the judgment itself, since a repeated run costs less."""

    cached: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    spared: int = 0
    """Questions to a model that a cheaper detector made unnecessary."""
    cost: float | None = None
    """What the tokens cost, where prices are known."""
    program: str = ""
    """The program whose reply it was."""


NOTHING_SPENT: Final = Usage()


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One exchange with a model, word for word, for the debug log.

    `usage.cached`: no request was sent for it. `shared`: this command sent an equal request, whose
    reply is used here too.
    """

    program: str
    messages: list[dict[str, Any]]
    reply: str
    usage: Usage
    tries: int = 1
    """How many requests for this reply counted as tries; 0 where nothing was asked."""
    error: str = ""
    reasoning: str = ""
    """The model's reasoning, where the endpoint gives it separately from the reply."""
    earlier: tuple[ModelCall, ...] = ()
    """The requests before it that gave no reply of use; some were paid for too."""
    source: str = ""
    """The cache that the reply came from, unless it is the job's own."""
    failure: str = ""
    """The kind of what went wrong, as in `errors.JudgmentFailed`; empty for a good reply."""
    cut: bool = False
    """Whether the reply was cut, and what it had before that is used."""
    turned_away: bool = False
    """Whether the endpoint had no time for the request: that is neither a call nor a try."""
    shared: bool = False
    number: int = 1
    """Which request for this reply it was, counted from 1; 0 where none was sent."""
    voter: str = ""
    """The voter that asked, where a judge has several."""
