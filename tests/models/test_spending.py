"""Budgets, prices and estimates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, Script, attestation, attesting, running
from tests.models.clients import ask, ask_many, client_to, kinds, settings_for
from tests.models.clock import run
from trecjudge.errors import ModelError
from trecjudge.models.spending import Budget, Prices, estimated_tokens, listed_prices


@pytest.mark.parametrize("most", [0, 1, 7, 30])
def test_calls_stop_exactly_with_many_in_flight(most: int, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(status=429) if number == 3 else Answer(attestation(body), delay=0.1)

    async def many() -> tuple[list[str], int, int]:
        async with (
            running(script) as endpoint,
            client_to(endpoint, tmp_path, budget=Budget(max_calls=most)) as client,
        ):
            found = kinds(await ask_many(client, 40))
            return found, len(endpoint.requests), client.spent()["calls"]

    found, requests, calls = run(many())
    assert (found.count("ok"), found.count("budget"), calls) == (most, 40 - most, most)
    assert requests == most + (most > 3)


def counting(prompt_tokens: int, completion_tokens: int, most_delay: float = 0.01) -> Script:
    """Return a script whose replies take so many tokens."""
    usage = (prompt_tokens, completion_tokens)
    return lambda body, number: Answer(attestation(body), usage=usage, delay=most_delay)


def asked_within(
    budget: Budget, tmp_path: Path, script: Script, count: int = 40
) -> tuple[list[str], int]:
    """Return what became of so many questions, and how many were in flight at most."""

    async def all_of_them() -> tuple[list[str], int]:
        async with (
            running(script) as endpoint,
            client_to(endpoint, tmp_path, budget=budget, prices=Prices(1.0, 1.0)) as client,
        ):
            return kinds(await ask_many(client, count)), endpoint.most_in_flight

    return run(all_of_them())


@pytest.mark.parametrize(
    "budget",
    [
        pytest.param(Budget(max_tokens=3000), id="tokens"),
        pytest.param(Budget(max_cost=0.003), id="cost"),
    ],
)
def test_calls_under_way_are_within_the_budget(budget: Budget, tmp_path: Path) -> None:
    found, most_in_flight = asked_within(budget, tmp_path, counting(300, 20))
    assert set(found) == {"ok", "budget"}
    # A request is about 300 tokens long: what is under way is reserved, whatever it will cost.
    assert 1 < most_in_flight < 12
    assert 3000 - 320 < budget.tokens < 3000 + 320
    assert budget.under_way == 0


@pytest.mark.parametrize(("taken", "count"), [((10, 5), 40), ((600, 20), 7), ((9000, 300), 80)])
def test_a_budget_that_suffices_is_not_refused(
    taken: tuple[int, int], count: int, tmp_path: Path
) -> None:
    budget = Budget(max_tokens=sum(taken) * count)
    found, _ = asked_within(budget, tmp_path, counting(*taken), count)
    assert (found.count("ok"), budget.tokens) == (count, sum(taken) * count)


def test_what_calls_reserve_is_given_back(tmp_path: Path) -> None:
    budget = Budget(max_tokens=100_000, max_cost=1.0)
    found, most_in_flight = asked_within(budget, tmp_path, counting(600, 20), 100)
    assert (found, most_in_flight) == (["ok"] * 100, 32)
    left = (budget.under_way, budget.reserved_tokens, budget.reserved_cost)
    assert left == pytest.approx((0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("taken", "most", "count"),
    [
        pytest.param((10, 5), 60, 4, id="spent to the last token"),
        pytest.param((10, 0), 60, 6, id="only those in are reported"),
        pytest.param((0, 5), 60, 12, id="only those out are reported"),
    ],
)
def test_a_budget_ends_where_it_is_reached(
    taken: tuple[int, int], most: int, count: int, tmp_path: Path
) -> None:
    budget = Budget(max_tokens=most)
    found, _ = asked_within(budget, tmp_path, counting(*taken), 20)
    assert (found.count("ok"), found.count("budget")) == (count, 20 - count)
    assert budget.tokens == most


def test_a_reply_is_taken_to_be_no_longer_than_it_may_be(tmp_path: Path) -> None:
    async def spent(most: int) -> float:
        budget = Budget(max_tokens=9000)
        async with (
            running(lambda body, number: Answer(attestation(body), usage=None)) as endpoint,
            client_to(endpoint, tmp_path / str(most), budget=budget, max_tokens=most) as client,
        ):
            await ask(client)
        return budget.tokens

    assert run(spent(512)) - run(spent(20)) == 60 - 20


def test_after_fifty_calls_what_was_seen_is_reserved(tmp_path: Path) -> None:
    budget = Budget(max_cost=0.2)
    found, _ = asked_within(budget, tmp_path, counting(600, 400), 300)
    # 60 tokens of a reply are stated, not 400: of 32 calls at once that would be 10 too many.
    assert 198 <= found.count("ok") <= 201
    assert budget.cost <= 0.2 + 0.001


def test_where_no_usage_is_reported_estimates_are_spent(tmp_path: Path) -> None:
    budget = Budget(max_tokens=3000)
    found, _ = asked_within(
        budget, tmp_path, lambda body, number: Answer(attestation(body), usage=None)
    )
    assert 6 <= found.count("ok") <= 11


def test_what_the_cache_answers_costs_nothing(tmp_path: Path) -> None:
    async def twice() -> list[str]:
        async with running(attesting()) as endpoint:
            async with client_to(endpoint, tmp_path) as client:
                await ask(client, "Claim 0.")
            async with client_to(endpoint, tmp_path, budget=Budget(max_calls=0)) as client:
                return kinds(await ask_many(client, 2))

    assert run(twice()) == ["ok", "budget"]


def test_prices_of_a_known_model() -> None:
    found = listed_prices("gpt-4o-mini")
    assert found is not None
    assert [found.input, found.output] == pytest.approx([0.15, 0.6])
    assert listed_prices("my-own-model") is None


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"model": "gpt-4o-mini", "prices": {"input": 1.0, "output": 2.0}}, Prices(1.0, 2.0)),
        ({"model": "my-own-model"}, None),
    ],
    ids=["the workflow's win", "none known"],
)
def test_which_prices(settings: dict[str, Any], expected: Prices | None) -> None:
    assert settings_for("http://a/v1", **settings).pricing == expected


def test_prices_that_are_none() -> None:
    with pytest.raises(ModelError, match="give input and output"):
        _ = settings_for("http://a/v1", prices={"in": 1.0}).pricing


def test_a_price_is_of_a_million_tokens() -> None:
    assert Prices(0.15, 0.6).of(1_000_000, 500_000) == pytest.approx(0.45)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        pytest.param("", 0, 1, id="nothing"),
        pytest.param("The tram opened in June. " * 40, 220, 280, id="English"),
        pytest.param("电车于六月开通。" * 125, 500, 1200, id="Chinese"),
        pytest.param("Трамвай открылся. " * 50, 300, 800, id="Russian"),
    ],
)
def test_estimates(text: str, least: int, most: int) -> None:
    assert least <= estimated_tokens(text) <= most
