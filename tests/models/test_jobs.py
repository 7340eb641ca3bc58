"""Whole jobs with a model: plans, groups, order, failures as records, and what ends a run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commandline import Done, judge
from tests.endpoint import Answer, Endpoint, attestation, serving, text_of

Ask = Callable[..., Done]


def label_of(sentence: str) -> str:
    return ("full_support", "partial_support", "no_support")[sum(sentence.encode()) % 3]


def sentences_of(body: dict[str, Any]) -> list[str]:
    """Return the sentences that a request asks about."""
    return re.findall(r"Fact \d+ \d+\.", text_of(body))


def good(body: dict[str, Any]) -> str:
    """Return the reply that is right, to one sentence or to a group."""
    labels = [label_of(sentence) for sentence in sentences_of(body)]
    if "verdicts" not in str(body["response_format"]):
        return attestation(body, labels[0])
    return verdicts_of(labels)


def verdicts_of(labels: Sequence[str]) -> str:
    """Return a reply with a verdict for each sentence of a group."""
    numbered = enumerate(labels, 1)
    verdicts = [{"number": n, "evidence": "", "label": label} for n, label in numbered]
    return json.dumps({"verdicts": verdicts})


def answering(body: dict[str, Any], number: int) -> Answer:
    return Answer(good(body))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Return two runs of the same text on two topics: six sentences on two documents in turn."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for run in ("a", "b"):
        lines = []
        for t in range(2):
            said = [
                {"text": f"Fact {t} {s}.", "citations": [f"d{s % 2}", f"d{s % 2}"]}
                for s in range(6)
            ]
            meta = {"team_id": "x", "run_id": run, "topic_id": str(t)}
            documents = {f"d{n}": {"text": f"Document {t} {n}."} for n in range(2)}
            record = {"metadata": meta, "responses": said, "documents": documents}
            lines.append(json.dumps(record))
        (folder / f"{run}.jsonl").write_text("\n".join(lines))
    return folder


@pytest.fixture
def ask(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return `ask(endpoint, *arguments, out=...)`: judge the runs with a model."""

    def ask(endpoint: Endpoint, *arguments: str, out: str = "out") -> Done:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        return judge(runs, tmp_path / out, "--use-env-llm", "--json", *arguments)

    return ask


def judgments(folder: Path) -> list[dict[str, Any]]:
    records = map(json.loads, (folder / "x.judgments.jsonl").read_text().splitlines())
    return [record for record in records if record["record"] == "judgment"]


@pytest.mark.parametrize(("group", "calls"), [(1, 12), (4, 4)], ids=["singly", "in groups"])
@pytest.mark.parametrize("half", [False, True], ids=["empty cache", "half a cache"])
def test_a_plan_counts_what_a_run_then_asks(half: bool, group: int, calls: int, ask: Ask) -> None:
    with serving(answering) as endpoint:
        grouped = ("--set", f"group={group}")
        if half:
            assert ask(endpoint, *grouped, "--max-calls", str(calls // 2)).status == 3
            calls -= calls // 2
        endpoint.requests.clear()
        plan = json.loads(ask(endpoint, *grouped, "--plan").out)
        assert endpoint.requests == []
        done = json.loads(ask(endpoint, *grouped).out)
        assert plan["calls"] == len(endpoint.requests) == done["calls"]["calls"]
        for what in ("cached", "saved"):
            assert plan[what] == done["calls"][what]
        assert plan["calls"] == calls
        again = json.loads(ask(endpoint, *grouped, "--plan").out)
        assert (again["calls"], again["saved"]) == (0, 0)


def test_a_plan_shows_tokens_and_price(ask: Ask) -> None:
    prices = ("--set", "llm.prices={input: 1000000, output: 2000000}")
    short = ("--set", "llm.max_tokens=20", "--set", "llm.most_tokens=20")
    with serving(answering) as endpoint:
        plan = json.loads(ask(endpoint, *prices, "--plan").out)
        cut = json.loads(ask(endpoint, *short, "--plan").out)
        ask(endpoint)
        texts = [message["content"] for body in endpoint.requests for message in body["messages"]]
    prompts = sum(len(text) // 4 + 1 for text in texts)  # four characters are a token
    assert (plan["calls"], plan["prompt_tokens"], plan["completion_tokens"]) == (12, prompts, 720)
    assert plan["cost"] == prompts + 2 * 720
    assert (cut["prompt_tokens"], cut["completion_tokens"]) == (prompts, 240)


def test_a_group_is_one_request_and_judges_as_its_items_one_by_one(
    ask: Ask, tmp_path: Path
) -> None:
    with serving(answering) as endpoint:
        ask(endpoint, out="single")
        endpoint.requests.clear()
        assert ask(endpoint, "--set", "group=4", out="grouped").status == 0
    assert sorted(map(sentences_of, endpoint.requests)) == [
        [f"Fact {t} {s}." for s in (d, d + 2, d + 4)] for t in range(2) for d in range(2)
    ]
    assert judgments(tmp_path / "grouped") == judgments(tmp_path / "single")


@pytest.mark.parametrize("change", [-1, 1], ids=["short", "long"])
@pytest.mark.parametrize("stubborn", [False, True], ids=["once", "always"])
def test_a_list_of_the_wrong_length_is_asked_again_then_singly(
    change: int, stubborn: bool, ask: Ask, tmp_path: Path
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        grouped = "verdicts" in str(body["response_format"])
        if not grouped or (len(body["messages"]) > 2 and not stubborn):
            return answering(body, number)
        length = len(sentences_of(body)) + change
        return Answer(verdicts_of(["no_support"] * length))

    with serving(answering) as right:
        ask(right, out="single")
    with serving(script) as endpoint:
        done = ask(endpoint, "--set", "group=4", "--set", "llm.in_flight=2", out="grouped")
    assert done.status == 0
    assert judgments(tmp_path / "grouped") == judgments(tmp_path / "single")
    again = [body for body in endpoint.requests if len(body["messages"]) > 2]
    assert all("must have 3" in body["messages"][-1]["content"] for body in again)
    singly = [body for body in endpoint.requests if len(sentences_of(body)) == 1]
    assert len(singly) == (12 if stubborn else 0)


def test_items_of_one_document_follow_one_another(ask: Ask) -> None:
    with serving(answering) as endpoint:
        ask(endpoint, "--set", "llm.in_flight=1", "--max-runs", "1")
    documents = [re.findall(r"Document \d \d\.", text_of(body))[0] for body in endpoint.requests]
    changes = sum(one != two for one, two in pairwise(documents))
    assert (len(documents), changes) == (12, 3)
    assert all(text_of(b).startswith("[[ ## document ## ]]\nDocument") for b in endpoint.requests)


@pytest.mark.parametrize(
    ("bad", "arguments", "kind", "tries", "said"),
    [
        (Answer(status=400), (), "refused", 1, "HTTP 400"),
        (Answer(drop=True), ("--set", "llm.tries=1"), "transport", 1, "Disconnected"),
        (Answer("hm"), (), "parse", 3, "does not parse"),
        (Answer("hm", finish_reason="length"), ("--set", "llm.tries=2"), "cut", 2, "was cut"),
        (Answer(""), ("--set", "llm.tries=1"), "empty", 1, "is empty"),
        (None, ("--max-calls", "11"), "budget", 0, "11 calls"),
        (None, ("--offline",), "offline", 0, "not in the cache"),
    ],
    ids=["refused", "transport", "parse", "cut", "empty", "budget", "offline"],
)
def test_a_failure_is_a_record_and_the_next_run_asks_just_that_again(
    bad: Answer | None, arguments: tuple[str, ...], kind: str, tries: int, said: str,
    ask: Ask, tmp_path: Path,
) -> None:  # fmt: skip
    def script(body: dict[str, Any], number: int) -> Answer:
        last = "Fact 1 5." in str(body["messages"])
        return bad if bad is not None and last else answering(body, number)

    with serving(answering) as endpoint:
        endpoint.script = script
        if kind == "offline":
            ask(endpoint, "--max-calls", "11")
        done = ask(endpoint, *arguments)
        assert done.status == 3
        failed = [j for j in judgments(tmp_path / "out") if j["failure"]]
        assert {j["failure"]["kind"] for j in failed} == {kind}
        assert {j["failure"]["tries"] for j in failed} == {tries}
        assert all(said in j["failure"]["message"] for j in failed)
        assert {(j["run_id"], j["label"]) for j in failed} == {("a", None), ("b", None)}
        endpoint.requests.clear()
        endpoint.script = answering
        assert ask(endpoint).status == 0
        (asked,) = [sentences_of(body) for body in endpoint.requests]
    # Without a bad reply the one that is left is not always the last in the file.
    assert bad is None or asked == ["Fact 1 5."]


@pytest.mark.parametrize("status", [401, 404])
def test_what_no_item_survives_ends_the_run(status: int, ask: Ask, tmp_path: Path) -> None:
    with serving(lambda body, number: Answer(status=status)) as endpoint:
        done = ask(endpoint, "-q", "--set", "llm.in_flight=1")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert (done.err.count("\n"), str(status) in done.err) == (1, True)
    assert {path.name for path in (tmp_path / "out").iterdir()} <= {"x.log.part"}


@pytest.mark.parametrize("status", [401, 402])
def test_what_was_judged_when_the_asking_ends_is_written(
    status: int, ask: Ask, tmp_path: Path
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return answering(body, number) if number < 7 else Answer(status=status)

    with serving(script) as endpoint:
        done = ask(endpoint, "--set", "llm.in_flight=1")
        assert (done.status, len(endpoint.requests)) == (3, 8)
        assert "run the same command again to go on" in done.err
        judged = [j for j in judgments(tmp_path / "out") if not j["failure"]]
        assert len(judged) >= 7
        endpoint.requests.clear()
        endpoint.script = answering
        assert ask(endpoint).status == 0
        assert len(endpoint.requests) == 12 - 7


@pytest.mark.parametrize(("value", "asked"), [("always", True), ("never", False)])
def test_structured_can_be_set(value: str, asked: bool, ask: Ask) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body))

    with serving(script) as endpoint:
        assert ask(endpoint, "--set", f"llm.structured={value}").status == 0
    assert {"response_format" in body for body in endpoint.requests} == {asked}


def test_table_config_and_log_agree_with_what_the_endpoint_counted(
    ask: Ask, tmp_path: Path
) -> None:
    reported = [0, 0]

    def script(body: dict[str, Any], number: int) -> Answer:
        usage = (100 + number, 10 + number)
        reported[0], reported[1] = reported[0] + usage[0], reported[1] + usage[1]
        kinds = [Answer("hm"), Answer("", finish_reason="content_filter"), Answer("")]
        bad = kinds[number % 7] if number % 7 < len(kinds) else None
        return replace(bad or Answer(good(body)), usage=usage)

    with serving(script) as endpoint:
        done = ask(endpoint, "--set", "llm.in_flight=3")
    counted = json.loads(done.out)["calls"]
    assert [counted["prompt_tokens"], counted["completion_tokens"]] == reported
    assert counted["calls"] == len(endpoint.requests)
    config = yaml.safe_load((tmp_path / "out" / "x.config.yml").read_text())
    assert config["counts"]["model"]["prompt_tokens"] == reported[0]
    events = map(json.loads, (tmp_path / "out" / "x.log").read_text().splitlines())
    calls = [e for e in events if e["event"] == "MODEL_CALL" and not e["cached"]]
    assert sum(event["tokens"] for event in calls) == sum(reported)
    assert len(calls) == len(endpoint.requests)
