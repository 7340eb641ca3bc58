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


@dataclass(slots=True)
class Budget:
    """The most that a command may spend, over all its jobs; None is no bound.

    What calls under way are expected to cost is reserved until their replies tell. `max_cost`
    needs prices.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    calls: int = 0
    tokens: float = 0.0
    cost: float = 0.0

    def take(self, calls: int, tokens: float, cost: float) -> None:
        """Take from the budget. Raises JudgmentFailed where it does not hold so much any more."""
        for what, wanted, most in (
            ("calls", self.calls + calls, self.max_calls),
            ("tokens", self.tokens + tokens, self.max_tokens),
            ("cost", self.cost + cost, self.max_cost),
        ):
            if most is not None and wanted > most:
                raise JudgmentFailed("budget", f"the budget of {most:g} {what} is spent")
        self.add(calls, tokens, cost)

    def add(self, calls: int, tokens: float, cost: float) -> None:
        """Add to what is spent, or take off it what was reserved in vain."""
        self.calls += calls
        self.tokens += tokens
        self.cost += cost


@dataclass(slots=True)
class Spending:
    """What a door did and spent, within a budget.

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

    def price(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return what so many tokens cost; 0 without prices."""
        return self.prices.of(prompt_tokens, completion_tokens) if self.prices else 0.0

    @property
    def cost(self) -> float | None:
        """The price of the tokens so far; None without prices."""
        return self.price(self.prompt_tokens, self.completion_tokens) if self.prices else None

    def call(self, prompt_tokens: int) -> None:
        """Count a call about to be made and reserve what it may cost.

        Raises JudgmentFailed where the budget is spent.
        """
        reserved = self.price(prompt_tokens, REPLY_TOKENS)
        self.budget.take(1, prompt_tokens + REPLY_TOKENS, reserved)
        self.calls += 1

    def release(self, prompt_tokens: int, calls: int = 0) -> None:
        """Give back what was reserved for a call, and the call itself where there was none."""
        reserved = self.price(prompt_tokens, REPLY_TOKENS)
        self.budget.add(-calls, -(prompt_tokens + REPLY_TOKENS), -reserved)
        self.calls -= calls

    def reply(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Count the tokens of a reply."""
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        cost = self.price(prompt_tokens, completion_tokens)
        self.budget.add(0, prompt_tokens + completion_tokens, cost)

    def record(self) -> dict[str, Any]:
        """Return the counts by name; the cost where prices are known."""
        counts = {k: v for k, v in asdict(self).items() if k not in ("budget", "prices")}
        return counts if self.cost is None else counts | {"cost": round(self.cost, 6)}


def estimated_tokens(text: str) -> int:
    """Return roughly how many tokens a text is: 4 ASCII characters each, 1.5 of any other kind."""
    others = 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore"))
    return int((len(text) - others) / ASCII_PER_TOKEN + others / OTHERS_PER_TOKEN) + 1


@cache
def listed_prices(model: str) -> Prices | None:
    """Return the prices of a model in the list that LiteLLM ships; None if it is not in it."""
    path = _price_list()
    if path is None:
        return None
    prices = path.read_bytes()
    if orjson.dumps(model) not in prices:  # it is long, and models of one's own are not in it
        return None
    entry = orjson.loads(prices).get(model)
    if not entry or "input_cost_per_token" not in entry:
        return None
    costs = (entry["input_cost_per_token"], entry.get("output_cost_per_token", 0.0))
    return Prices(*(cost * PER_MILLION for cost in costs))


def _price_list() -> Path | None:
    """Return LiteLLM's list as a file, since importing LiteLLM would take seconds."""
    found = importlib.util.find_spec("litellm")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / PRICE_LIST
    return path if path.is_file() else None
