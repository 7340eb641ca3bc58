"""Whole jobs in batches, as processes that are killed and interrupted."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.batch_endpoint import Batch, serving_batches
from tests.commandline import Done, command, judge
from tests.endpoint import Answer, attestation, attesting, repeating, serving, text_of
from tests.models.processes import FILES, Here, runs, start, wait_until

ITEMS = 200
SLOW = pytest.mark.slow("trecjudge/models")
BATCH = ("--set", "llm.batch=true", "--set", "llm.batch_poll=0.01")


@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGKILL, marks=SLOW), signal.SIGINT], ids=["killed", "interrupted"]
)
def test_a_batch_under_way_is_waited_for_by_the_same_command(
    how: signal.Signals, tmp_path: Path, here: Here
) -> None:
    runs(tmp_path / "runs")
    with serving_batches(attesting("partial_support")) as endpoint:
        assert here(endpoint, "cache1", "whole", *BATCH).status == 0
        assert len(endpoint.asked) == ITEMS
        endpoint.held = True
        process = start(tmp_path, endpoint, "cache2", *BATCH)
        wait_until(lambda: len(endpoint.batches) == 2 and endpoint.batches[1].looks > 1)
        process.send_signal(how)
        _, said = process.communicate(timeout=20)
        if how is signal.SIGINT:
            assert process.returncode == 130
            assert b"batch_1: still under way; the same command goes on" in said
        info = command("cache", "info", "--cache-dir", tmp_path / "cache2").out
        assert "batch batch_1 under way" in info
        assert "200 requests" in info
        endpoint.held = False
        assert here(endpoint, "cache2", "x", *BATCH).status == 0
        assert (len(endpoint.asked), len(endpoint.batches)) == (2 * ITEMS, 2)
    for kind in FILES:
        assert (tmp_path / f"x.{kind}").read_bytes() == (tmp_path / f"whole.{kind}").read_bytes()


@pytest.mark.parametrize(
    "lists", [True, pytest.param(False, marks=SLOW)], ids=["it lists batches", "it does not"]
)
def test_killed_between_the_file_and_the_batch(lists: bool, tmp_path: Path, here: Here) -> None:
    runs(tmp_path / "runs")
    with serving_batches(attesting(), lists=lists) as endpoint:
        endpoint.refuse = {"POST batches": [503] * 99}
        process = start(tmp_path, endpoint, "cache", *BATCH)
        wait_until(lambda: len(endpoint.refuse["POST batches"]) < 99)
        process.kill()
        process.communicate(timeout=20)
        endpoint.refuse = {}
        assert here(endpoint, "cache", "x", *BATCH).status == 0
        assert (len(endpoint.asked), len(endpoint.batches), len(endpoint.files)) == (ITEMS, 1, 2)


@SLOW
def test_killed_before_the_id_of_a_batch_came_it_is_found_on_a_later_page(
    tmp_path: Path, here: Here
) -> None:
    runs(tmp_path / "runs")
    with serving_batches(attesting(), loses=1, page=2) as endpoint:
        process = start(tmp_path, endpoint, "cache", *BATCH)
        wait_until(lambda: endpoint.batches)
        process.kill()
        process.communicate(timeout=20)
        endpoint.batches += [
            Batch(f"batch_of_others_{n}", f"file-of-others-{n}", []) for n in "abc"
        ]
        assert here(endpoint, "cache", "x", *BATCH).status == 0
        assert (len(endpoint.asked), len(endpoint.batches)) == (ITEMS, 4)


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Return `ask(endpoint, *arguments)`: judge a run in batches."""
    folder = runs(tmp_path / "runs")

    def ask(endpoint: Any, *arguments: str) -> Done:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        given = ("--use-env-llm", *BATCH, "--json")
        return judge(folder, tmp_path / "out", *given, *arguments)

    return ask


def test_replies_that_repeat_themselves_are_asked_for_in_a_second_batch(
    ask: Callable[..., Done],
) -> None:
    endless, good = repeating("The tram ran until 1957. ", 0.5), attesting()

    def script(body: dict[str, Any], number: int) -> Answer:
        return (endless if "number 1" in text_of(body) else good)(body, number)

    with serving_batches(script) as endpoint:
        done = ask(endpoint)
    assert (done.status, len(endpoint.batches)) == (0, 2)
    asked = [body.get("frequency_penalty") for body in endpoint.asked]
    assert asked[:ITEMS] == [None] * ITEMS
    assert asked[ITEMS:] == [0.5] * len(endpoint.batches[1].lines)


def test_steps_of_a_judge_are_batches(ask: Callable[..., Done]) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        if "claims" in str(body["response_format"]):
            claims = [{"sentence": 0, "claim": "Fact number 1.", "importance": "vital"}]
            return Answer(json.dumps({"claims": claims}))
        return Answer(
            json.dumps(
                {"quotes": [], "reason": "r", "match": "NONE", "verdict": "UNATTRIBUTED"}
                if "match" in str(body["response_format"])
                else {"label": attestation(body)}
            )
        )

    with serving_batches(script) as endpoint:
        done = ask(endpoint, "--judge", "attribution")
        sizes = [len(batch.lines) for batch in endpoint.batches]
        assert (done.status, len(sizes), sizes[0]) == (0, 2, 10)
        assert all("Fact" in text_of(line["body"]) for line in endpoint.batches[1].lines)


def test_a_plan_and_its_job_cost_half(ask: Callable[..., Done]) -> None:
    prices = ("--set", "llm.prices={input: 1000, output: 2000}")
    with serving_batches(attesting()) as endpoint:
        plan = json.loads(ask(endpoint, *prices, "--plan").out)
        full = json.loads(ask(endpoint, *prices, "--plan", "--set", "llm.batch_price=1").out)
        assert plan["cost"] == pytest.approx(full["cost"] / 2)
        assert endpoint.batches == []
        spent = json.loads(ask(endpoint, *prices).out)["calls"]
        assert (spent["calls"], spent["cost"]) == (200, 200 * (10 * 1 + 5 * 2) / 2 / 1000)


def test_an_endpoint_without_batches_is_an_error_in_one_line(ask: Callable[..., Done]) -> None:
    with serving(attesting()) as endpoint:
        done = ask(endpoint, "-q")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "no Batch API there; set llm.batch to false" in done.err


def test_progress_is_reported(ask: Callable[..., Done]) -> None:
    with serving_batches(attesting()) as endpoint:
        done = ask(endpoint)
    assert "batch batch_0: 200 requests are under way" in done.err
    assert "batch batch_0: completed, 200 of 200 requests done" in done.err
