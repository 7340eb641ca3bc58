"""Calls, tokens and cost: estimated before, counted after, priced, held within a budget."""

from __future__ import annotations

import asyncio
import importlib.util
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import orjson

from trecjudge.errors import JudgmentFailed
from trecjudge.models.model import Program

# How many tokens calls take: as programs state, corrected by kept replies and by this job's.
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


# What calls cost: tokens estimated before, counted after, priced, held within a budget.
PRICE_LIST = "model_prices_and_context_window_backup.json"
PER_MILLION = 1_000_000
Expected = tuple[float, float]
"""Tokens that a call is expected to take, in and out."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a million tokens; the currency is that of the given prices."""

    input: float
    output: float

    def times(self, factor: float) -> Prices:
        """Return the prices multiplied by a factor."""
        return Prices(self.input * factor, self.output * factor)

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the price of so many tokens."""
        return (self.input * prompt_tokens + self.output * completion_tokens) / PER_MILLION


class BudgetExhausted(Exception):
    """Calls under way may take all that a budget has left: wait for their replies."""


@dataclass(slots=True)
class Budget:
    """The most that a command may spend, over all its jobs; None is no bound.

    The expected cost of calls under way is reserved until they are over. A call waits for them
    where there may not be enough left for it. The last calls are made one at a time, so that no
    estimate refuses a call that can be paid; one that is `strict` refuses it, as others share the
    whole. `max_cost` needs prices.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    calls: int = 0
    tokens: float = 0.0
    cost: float = 0.0
    under_way: int = 0
    reserved_tokens: float = 0.0
    reserved_cost: float = 0.0
    strict: bool = False
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    def take(self, tokens: float, cost: float) -> None:
        """Take a call, and reserve what it may cost.

        Raises JudgmentFailed where the budget is spent, BudgetExhausted where calls under
        way may spend the rest of it.
        """
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise JudgmentFailed("budget", f"the budget of {self.max_calls} calls is spent")
        for what, spent, wanted, most in (
            ("tokens", self.tokens, self.reserved_tokens + tokens, self.max_tokens),
            ("cost", self.cost, self.reserved_cost + cost, self.max_cost),
        ):
            is_last = self.strict and not self.under_way
            if most is not None and (spent >= most or (is_last and spent + wanted > most)):
                raise JudgmentFailed("budget", f"the budget of {most:g} {what} is spent")
            # With nothing under way the call is made: an estimate never refuses what is paid for.
            if most is not None and spent + wanted > most and self.under_way:
                raise BudgetExhausted
        self.calls += 1
        self.under_way += 1
        self.reserved_tokens += tokens
        self.reserved_cost += cost

    def release(self, tokens: float, cost: float, calls: int = 0) -> None:
        """Give back what was reserved for a call, and the call itself where there was none."""
        self.calls -= calls
        self.under_way -= 1
        self.reserved_tokens -= tokens
        self.reserved_cost -= cost

    def add(self, tokens: float, cost: float) -> None:
        """Add to what is spent."""
        self.tokens += tokens
        self.cost += cost

    async def room(self) -> None:
        """Return when there may be room for one more call."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            # It may have been its turn: the next one gets it.
            self.wake()
            raise

    def wake(self) -> None:
        """Let one of those that wait for room try again."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return


UNRECORDED = frozenset({"budget", "prices", "kept", "lost"})
"""Fields that `Spending.record` leaves out."""


@dataclass(slots=True)
class Spending:
    """The calls, tokens and cost of a client, within a budget.

    `saved` counts predictions that a call made for an equal one answered; `cached` those answered
    by calls of earlier jobs. `prefix_tokens` are those in that the endpoint had in its own cache.
    `kept` counts replies put into the cache, `lost` requests given up when the client was closed.
    """

    budget: Budget = field(default_factory=Budget)
    prices: Prices | None = None
    calls: int = 0
    cached: int = 0
    saved: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prefix_tokens: int = 0
    kept: int = 0
    lost: int = 0

    def price(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return what so many tokens cost; 0 without prices."""
        return self.prices.of(prompt_tokens, completion_tokens) if self.prices else 0.0

    @property
    def cost(self) -> float | None:
        """The price of the tokens so far; None without prices."""
        return self.price(self.prompt_tokens, self.completion_tokens) if self.prices else None

    @property
    def nothing(self) -> float | None:
        """The price of a reply that was not asked for; None without prices."""
        return None if self.prices is None else 0.0

    def reuse(self, asked_now: bool) -> None:
        """Count a reply that cost nothing: `asked_now` by this command, else an earlier one."""
        if asked_now:
            self.saved += 1
        else:
            self.cached += 1

    def call(self, expected: Expected) -> None:
        """Count a call about to be made and reserve what it may cost.

        Raises JudgmentFailed where the budget is spent, BudgetExhausted where the call has to wait.
        """
        self.budget.take(sum(expected), self.price(*expected))
        self.calls += 1

    def release(self, expected: Expected, calls: int = 0) -> None:
        """Give back what was reserved for a call, and the call itself where there was none."""
        self.budget.release(sum(expected), self.price(*expected), calls)
        self.calls -= calls

    def reply(self, prompt_tokens: int, completion_tokens: int, expected: Expected) -> None:
        """Count the tokens of a reply.

        Where the endpoint reports none, the budget counts what was expected.
        """
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        reported = (prompt_tokens, completion_tokens)
        taken = reported if any(reported) else expected
        self.budget.add(sum(taken), self.price(*taken))

    def record(self) -> dict[str, Any]:
        """Return the counts by name; the cost where prices are known."""
        named = (f.name for f in fields(self) if f.name not in UNRECORDED)
        counts = {name: getattr(self, name) for name in named}
        # Below 0 while replies that were asked for ahead are still to be used.
        counts["saved"] = max(0, self.saved)
        return counts if self.cost is None else counts | {"cost": round(self.cost, 6)}


def listed_prices(model: str) -> Prices | None:
    """Return the prices of a model in the list that LiteLLM ships; None if it is not in it."""
    entry = _price_entry(model)
    if "input_cost_per_token" not in entry:
        return None
    costs = (entry["input_cost_per_token"], entry.get("output_cost_per_token", 0.0))
    return Prices(*(cost * PER_MILLION for cost in costs))


def listed_context(model: str) -> int | None:
    """Return how many tokens of input a model takes by the same list; None if that is not known."""
    most = _price_entry(model).get("max_input_tokens")
    return most if isinstance(most, int) and most > 0 else None


@cache
def _price_entry(model: str) -> dict[str, Any]:
    """Return what LiteLLM's list says of a model, nothing where it is not in it."""
    path = _price_list()
    content = b"" if path is None else path.read_bytes()
    # Searched as bytes first: the list is long to parse, and self-hosted models are not in it.
    if orjson.dumps(model) not in content:
        return {}
    found: dict[str, Any] = orjson.loads(content).get(model) or {}
    return found


def _price_list() -> Path | None:
    """Return LiteLLM's list as a file, since importing LiteLLM would take seconds."""
    found = importlib.util.find_spec("litellm")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / PRICE_LIST
    return path if path.is_file() else None
