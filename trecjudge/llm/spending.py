"""What calls cost: tokens estimated before, counted after, priced, and kept within a budget."""

from __future__ import annotations

import importlib.util
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import JudgmentFailed

PRICE_LIST = "model_prices_and_context_window_backup.json"
PER_MILLION = 1_000_000
ASCII_PER_TOKEN = 4.0
OTHERS_PER_TOKEN = 1.5
REPLY_TOKENS = 60


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a million tokens, in whatever currency they were given in."""

    input: float
    output: float

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the price of so many tokens."""
        return (self.input * prompt_tokens + self.output * completion_tokens) / PER_MILLION


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one job may spend; None is no bound. `max_cost` needs prices."""

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None


@dataclass(slots=True)
class Spending:
    """What a door did and spent, checked against a budget before each call.

    `saved` counts predictions that a call made for an equal one answered; `cached` those answered
    by calls of earlier jobs.
    """

    budget: Budget = field(default_factory=Budget)
    prices: Prices | None = None
    calls: int = 0
    cached: int = 0
    saved: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def cost(self) -> float | None:
        """The price of the tokens so far; None without prices."""
        if self.prices is None:
            return None
        return self.prices.of(self.prompt_tokens, self.completion_tokens)

    def call(self) -> None:
        """Count a call about to be made. Raises JudgmentFailed where the budget is spent."""
        budget = self.budget
        tokens = self.prompt_tokens + self.completion_tokens
        for what, spent, most in (
            ("calls", self.calls, budget.max_calls),
            ("tokens", tokens, budget.max_tokens),
            ("cost", self.cost, budget.max_cost),
        ):
            if most is not None and spent is not None and spent >= most:
                raise JudgmentFailed("budget", f"the budget of {most:g} {what} is spent")
        self.calls += 1

    def reply(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Count the tokens of a reply."""
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens

    def record(self) -> dict[str, Any]:
        """Return the counts by name; the cost where prices are known."""
        counts = {k: v for k, v in asdict(self).items() if k not in ("budget", "prices")}
        return counts if self.cost is None else counts | {"cost": round(self.cost, 6)}


def estimated_tokens(text: str) -> int:
    """Return roughly how many tokens a text is: 4 ASCII characters each, 1.5 of any other kind."""
    others = 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore"))
    return int((len(text) - others) / ASCII_PER_TOKEN + others / OTHERS_PER_TOKEN) + 1


def listed_prices(model: str) -> Prices | None:
    """Return the prices of a model in the list that LiteLLM ships; None if it is not in it."""
    entry = _price_list().get(model)
    if not entry or "input_cost_per_token" not in entry:
        return None
    costs = (entry["input_cost_per_token"], entry.get("output_cost_per_token", 0.0))
    return Prices(*(cost * PER_MILLION for cost in costs))


@cache
def _price_list() -> dict[str, dict[str, Any]]:
    """Read LiteLLM's list as a file, since importing LiteLLM would take seconds."""
    found = importlib.util.find_spec("litellm")
    if found is None or found.origin is None:
        return {}
    path = Path(found.origin).parent / PRICE_LIST
    if not path.is_file():
        return {}
    prices: dict[str, dict[str, Any]] = orjson.loads(path.read_bytes())
    return prices
