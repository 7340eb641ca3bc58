"""The log has every request for a reply, and its sums are those of table, config and endpoint."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.batch_endpoint import serving_batches
from tests.commandline import Done, sample
from tests.endpoint import Answer, Script, attestation, in_chat_form, serving, text_of

PRICES = ("--set", "llm.prices={input: 3, output: 7}")
QUICK = ("--set", "llm.patience=20")
Ask = Callable[..., Done]
Event = dict[str, Any]


def good(body: dict[str, Any], number: int) -> Answer:
    """Attest one sentence, or each of a group."""
    found = re.search(r"\[\[ ## sentences ## \]\]\n(\[.*\])", text_of(body))
    if found is None:
        return Answer(attestation(body))
    numbers = range(1, len(json.loads(found[1])) + 1)
    verdicts = [{"number": n, "evidence": "", "label": "no_support"} for n in numbers]
    return Answer(json.dumps({"verdicts": verdicts}))


def faulty(*faults: Answer) -> Script:
    """Answer every fourth request with one of the faults in turn, each with tokens of its own."""

    def script(body: dict[str, Any], number: int) -> Answer:
        bad = faults[number // 4 % len(faults)] if number % 4 == 1 else good(body, number)
        return bad if bad.usage is None else replace(bad, usage=(100 + number, 10 + number % 7))

    return script


def counted(script: Script) -> tuple[Script, list[int]]:
    """Return a script that counts the tokens which it reports, in and out."""
    tokens = [0, 0]

    def counting(body: dict[str, Any], number: int) -> Answer:
        answer = script(body, number)
        if answer.status == 200 and answer.raw is None and not answer.drop and answer.usage:
            tokens[0] += answer.usage[0]
            tokens[1] += answer.usage[1]
        return answer

    return counting, tokens


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return `ask(endpoint, *arguments)`: judge the sample data with a model."""

    def ask(endpoint: Any, *arguments: str) -> Done:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        more = ("--use-env-llm", "--json", *PRICES, *QUICK, *arguments)
        return sample("ragtime", tmp_path / "out", *more)

    return ask


def events(folder: Path) -> list[Event]:
    return [json.loads(line) for line in (folder / "out" / "x.log").read_text().splitlines()]


def calls_in(folder: Path) -> list[Event]:
    return [event for event in events(folder) if event["event"] == "MODEL_CALL"]


def made(calls: list[Event]) -> list[Event]:
    """Return the events of requests that were sent."""
    return [call for call in calls if not call["cached"]]


def check_sums(folder: Path, done: Done, tokens: list[int] | None = None) -> list[Event]:
    """Check that log, table and config have the same sums; return the events of calls."""
    calls = calls_in(folder)
    table = json.loads(done.out)["calls"]
    config = yaml.safe_load((folder / "out" / "x.config.yml").read_text())["counts"]["model"]
    for what in ("prompt_tokens", "completion_tokens"):
        assert sum(call[what] for call in calls) == table[what] == config[what]
    assert sum(call["cost"] for call in calls) == pytest.approx(table["cost"], abs=1e-6)
    sent = [call for call in made(calls) if not call["turned_away"]]
    assert len(sent) == table["calls"] == config["calls"]
    assert sum(call["shared"] for call in calls) == table["saved"]
    assert sum(call["cached"] and not call["shared"] for call in calls) == table["cached"]
    assert _again(calls) == table["retries"] == config["retries"]
    if tokens is not None:
        assert tokens == [table["prompt_tokens"], table["completion_tokens"]]
    return calls


def _again(calls: list[Event]) -> int:
    """Return how many calls came after the first for their reply."""
    found, before = 0, 0
    for call in made(calls):
        before = 0 if call["try"] == 1 else before
        found += before > 0 and not call["turned_away"]
        before += not call["turned_away"]
    return found


FAULTS = {
    "HTTP 500": Answer(status=500),
    "no parse": Answer("hm"),
    "cut": Answer("hm", finish_reason="length"),
    "empty": Answer(""),
    "filtered": Answer("", finish_reason="content_filter"),
    "429": Answer(status=429, headers={"Retry-After": "0.05"}),
    "503": Answer(status=503, headers={"Retry-After": "0.05"}),
    "dropped": Answer(drop=True),
    "no usage": Answer("hm", usage=None),
    "no JSON": Answer(raw=b"hm"),
    "refused": Answer(status=400),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("also", [(), ("--also", "citation")], ids=["one judge", "shared"])
def test_sums_of_the_log_are_those_of_table_config_and_endpoint(
    fault: str, also: tuple[str, ...], ask: Ask, tmp_path: Path
) -> None:
    script, tokens = counted(faulty(FAULTS[fault]))
    with serving(script) as endpoint:
        done = ask(endpoint, "--judge", "support", "--set", "llm.tries=2", *also)
    calls = check_sums(tmp_path, done, tokens)
    assert len(made(calls)) == len(endpoint.requests)
    assert any(call["failure"] for call in calls)
    assert any(call["shared"] for call in calls) is bool(also)


def test_all_faults_at_once_with_judges_that_ask_in_steps(ask: Ask, tmp_path: Path) -> None:
    script, tokens = counted(faulty(*FAULTS.values()))
    with serving(script) as endpoint:
        done = ask(endpoint, "--judge", "argue,faithfulness,grounding", "--set", "llm.tries=1")
    calls = check_sums(tmp_path, done, tokens)
    assert len(made(calls)) == len(endpoint.requests)


def test_each_event_of_a_call_has_what_was_sent_and_answered(ask: Ask, tmp_path: Path) -> None:
    first: list[str] = []

    def script(body: dict[str, Any], number: int) -> Answer:
        first.append(str(body["messages"][1]["content"]))
        if first[-1] not in list(dict.fromkeys(first))[:3]:
            return good(body, number)
        error = Answer(status=500, headers={"Retry-After": "0.05"})
        fault = (error, Answer("hm", usage=(7, 3)))[first.count(first[-1]) % 2]
        return fault if first.count(first[-1]) < 3 else good(body, number)

    with serving(script) as endpoint:
        ask(endpoint, "--judge", "support", "--max-runs", "1", "--set", "llm.in_flight=1")
    calls = calls_in(tmp_path)
    key = json.dumps
    sent = [key(body["messages"]) for body in endpoint.requests]
    assert Counter(sent) == Counter(key(call["messages"]) for call in calls)
    unread, error, read = calls[:3]
    assert [call["try"] for call in calls[:3]] == [1, 2, 3]
    assert (unread["reply"], unread["prompt_tokens"], unread["completion_tokens"]) == ("hm", 7, 3)
    assert (unread["failure"], error["failure"], read["failure"]) == ("parse", "transport", None)
    assert unread["cost"] == pytest.approx((7 * 3 + 3 * 7) / 1e6)
    assert (error["reply"], error["tokens"], "HTTP 500" in error["error"]) == ("", 0, True)
    assert len(error["messages"]) > len(unread["messages"]) == 2
    assert all(call["seconds"] > 0 and call["judge"] == "support" for call in calls)


def test_a_call_that_failed_for_good_has_what_its_reply_cost(ask: Ask, tmp_path: Path) -> None:
    with serving(lambda body, number: Answer("hm", usage=(9, 4))) as endpoint:
        ask(endpoint, "--judge", "support", "--max-runs", "1", "--set", "llm.tries=2")
    calls = calls_in(tmp_path)
    assert {(call["tokens"], call["failure"], call["seconds"] > 0) for call in calls} == {
        (13, "parse", True)
    }
    assert Counter(call["try"] for call in calls).keys() == {1, 2}
    failures = [event for event in events(tmp_path) if event["event"] == "FAILURE"]
    assert {(f["judge"], f["program"], f["kind"]) for f in failures} == {
        ("support", "attest", "parse")
    }


def test_what_was_asked_before_a_budget_was_spent_is_in_the_log(ask: Ask, tmp_path: Path) -> None:
    script, tokens = counted(lambda body, number: Answer("hm", usage=(9, 4)))
    with serving(script) as endpoint:
        done = ask(endpoint, "--judge", "support", "--max-calls", "2", "--set", "llm.in_flight=1")
    assert len(made(check_sums(tmp_path, done, tokens))) == len(endpoint.requests) == 2


def test_a_form_that_is_refused_is_in_the_log_too(ask: Ask, tmp_path: Path) -> None:
    with serving(in_chat_form(good)) as endpoint:
        done = ask(endpoint, "--judge", "support", "--also", "citation")
    calls = made(check_sums(tmp_path, done))
    assert len(calls) == len(endpoint.requests)
    refused = [call for call in calls if call["failure"]]
    assert {call["failure"] for call in refused} == {"refused"}


def test_a_job_that_is_resumed_pays_for_nothing_twice(ask: Ask, tmp_path: Path) -> None:
    with serving(good) as endpoint:
        check_sums(tmp_path, ask(endpoint, "--judge", "support", "--max-calls", "7"))
        done = ask(endpoint, "--judge", "support")
    calls = check_sums(tmp_path, done)
    kept = [call for call in calls if call["cached"]]
    assert len(kept) == 7
    assert {(c["tokens"], c["cost"], c["seconds"], c["try"], c["shared"]) for c in kept} == {
        (0, 0.0, 0.0, 0, False)
    }
    assert all(call["reply"] for call in kept)


def test_a_group_has_its_call_once_and_the_others_share_it(ask: Ask, tmp_path: Path) -> None:
    script, tokens = counted(faulty(Answer("hm"), Answer(status=500)))
    with serving(script) as endpoint:
        done = ask(endpoint, "--judge", "support", "--set", "group=4", "--set", "llm.tries=2")
    calls = check_sums(tmp_path, done, tokens)
    assert len(made(calls)) == len(endpoint.requests)
    grouped = [call for call in calls if call.get("group")]
    mates = [e for e in events(tmp_path) if e["event"] == "SUPPORT_OUTPUT" and e.get("shared")]
    assert grouped and mates
    assert any(call["failure"] is None for call in grouped)
    assert all("program" in event for event in mates)


def test_a_batch_has_the_sums_of_its_endpoint_at_its_own_price(ask: Ask, tmp_path: Path) -> None:
    script = faulty(Answer("hm"), Answer(status=500))
    with serving_batches(script) as endpoint:
        more = ("--set", "llm.batch=true", "--set", "llm.batch_poll=0.01")
        done = ask(endpoint, "--judge", "support", "--also", "citation", *more)
    calls = made(check_sums(tmp_path, done, endpoint.tokens))
    assert len(calls) == len(endpoint.asked)
    paid = next(call for call in calls if call["tokens"])
    full = paid["prompt_tokens"] * 3 + paid["completion_tokens"] * 7
    assert paid["cost"] == pytest.approx(full / 2e6)


def test_without_prices_cost_is_null(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(good, monkeypatch):
        sample("ragtime", tmp_path / "out", "--judge", "support", "--use-env-llm")
    assert {call["cost"] for call in calls_in(tmp_path)} == {None}
