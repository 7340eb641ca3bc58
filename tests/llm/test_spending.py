"""Budgets, prices and estimates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import Answer, attestation, attesting, running
from tests.llm.clock import run
from tests.llm.doors import ask, ask_many, door_to, kinds, settings_for
from trecjudge.errors import ModelError
from trecjudge.llm.spending import Budget, Prices, estimated_tokens, listed_prices


@pytest.mark.parametrize("most", [0, 1, 7, 30])
def test_calls_stop_exactly_with_many_in_flight(most: int, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(status=429) if number == 3 else Answer(attestation(body), delay=0.1)

    async def many() -> tuple[list[str], int, int]:
        async with (
            running(script) as endpoint,
            door_to(endpoint, tmp_path, budget=Budget(max_calls=most)) as door,
        ):
            found = kinds(await ask_many(door, 40))
            return found, len(endpoint.requests), door.spent()["calls"]

    found, requests, calls = run(many())
    assert (found.count("ok"), found.count("budget"), calls) == (most, 40 - most, most)
    assert requests == most + (most > 3)


@pytest.mark.parametrize(
    "budget",
    [
        pytest.param(Budget(max_tokens=3000), id="tokens"),
        pytest.param(Budget(max_cost=0.003), id="cost"),
    ],
)
def test_calls_under_way_are_within_the_budget(budget: Budget, tmp_path: Path) -> None:
    async def forty() -> tuple[list[str], int]:
        async with (
            running(attesting(delay=0.01)) as endpoint,
            door_to(endpoint, tmp_path, budget=budget, prices=Prices(1.0, 1.0)) as door,
        ):
            return kinds(await ask_many(door, 40)), endpoint.most_in_flight

    found, most_in_flight = run(forty())
    assert set(found) == {"ok", "budget"}
    # A request is about 600 tokens long: what is under way is reserved, whatever it will cost.
    assert 1 < most_in_flight < 8
    assert budget.tokens < 3000
    assert budget.cost < 0.003


def test_what_the_cache_answers_costs_nothing(tmp_path: Path) -> None:
    async def twice() -> list[str]:
        async with running(attesting()) as endpoint:
            async with door_to(endpoint, tmp_path) as door:
                await ask(door, "Claim 0.")
            async with door_to(endpoint, tmp_path, budget=Budget(max_calls=0)) as door:
                return kinds(await ask_many(door, 2))

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
