"""`stability`: flip rates and biases of judges, offline and at a real endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import dspy
import pytest

from tests.commandline import SAMPLES, Done, command
from tests.endpoint import Answer, Endpoint, attestation, serving, text_of
from trecjudge.evaluation.gaming import WAYS

FULL, NONE = "full_support", "no_support"
TOPICS, SENTENCES = 8, 3
Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return `run(endpoint, *arguments)`: test the citation judge on eight topics."""
    lines = []
    for t in range(TOPICS):
        said = [{"text": f"Fact {t} {n}.", "citations": ["d"]} for n in range(SENTENCES)]
        meta = {"team_id": "x", "run_id": "a", "topic_id": str(t)}
        documents = {"d": {"text": f"Document {t}."}}
        lines.append(json.dumps({"metadata": meta, "responses": said, "documents": documents}))
    (tmp_path / "a.jsonl").write_text("\n".join(lines))

    def run(endpoint: Endpoint, *arguments: str) -> Done:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        given = ("--rag-responses", tmp_path / "a.jsonl", "--cache-dir", tmp_path / "cache")
        return command("judges", "stability", *given, "--use-env-llm", *arguments)

    return run


def likes_length(body: dict[str, Any], number: int) -> Answer:
    """Answer that a sentence is supported where something stands behind its first full stop."""
    long = re.search(r"Fact \d+ \d+\. \w", text_of(body))
    return Answer(attestation(body, FULL if long else NONE))


def test_a_judge_that_prefers_length_is_told(run: Run) -> None:
    with serving(likes_length) as endpoint:
        done = run(endpoint, "--json", "--samples", "2")
        sent = len(endpoint.requests)
        plain = run(endpoint, "--samples", "2")
        assert len(endpoint.requests) == sent  # all of it is in the cache
    assert done.status == 0
    (found,) = [json.loads(done.out)]
    assert found["calls"]["calls"] == sent
    biased = {s["change"] for s in found["shifts"] if s["bias"]}
    assert biased == {"padded", "repeated"}
    assert {f["kind"]: f["rate"] for f in found["flips"] if f["rate"]} == {
        "padded": 1.0,
        "repeated": 1.0,
    }
    assert (
        "bias of length: with each sentence said twice, CITATION_SUPPORT moves by +1.000: the judge"
        " favours length" in " ".join(plain.out.split())
    )


def test_samples_that_differ_have_a_flip_rate(run: Run) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        # Samples are asked one pass after the other: the last one differs on one topic.
        odd = number >= (2 + 1) * TOPICS * SENTENCES and "Fact 3" in text_of(body)
        return Answer(attestation(body, NONE if odd else FULL))

    with serving(script) as endpoint:
        done = run(endpoint, "--json", "--samples", "3", "--change", "none")
        assert len(endpoint.requests) == 4 * TOPICS * SENTENCES
        assert {body["temperature"] for body in endpoint.requests} == {0.0, 1.0}
    (flips,) = json.loads(done.out)["flips"]
    assert flips == {"kind": "samples (3)", "items": 24, "flips": 3, "rate": 0.125}


def test_groups_are_asked_in_reverse_order(run: Run) -> None:
    """A model that says yes to the first of a list only is caught."""

    def script(body: dict[str, Any], number: int) -> Answer:
        count = len(re.findall(r"Fact \d+ \d+\.", text_of(body)))
        labels = [FULL, *[NONE] * (count - 1)]
        verdicts = [{"number": n, "evidence": "", "label": x} for n, x in enumerate(labels, 1)]
        return Answer(json.dumps({"verdicts": verdicts}))

    with serving(script) as endpoint:
        done = run(endpoint, "--json", "--samples", "0", "--change", "none", "--set", "group=3")
        assert len(endpoint.requests) == 2 * TOPICS
    (flips,) = json.loads(done.out)["flips"]
    assert flips == {"kind": "order", "items": 24, "flips": 16, "rate": 0.6667}


def test_a_plan_counts_what_would_be_asked(run: Run) -> None:
    with serving(likes_length) as endpoint:
        plan = json.loads(run(endpoint, "--plan", "--json").out)
        assert not endpoint.requests
        run(endpoint)
        assert len(endpoint.requests) == plan["calls"]
        again = json.loads(run(endpoint, "--plan", "--json").out)
    assert (again["items"], again["calls"]) == (TOPICS * SENTENCES, 0)


def test_a_budget_holds(run: Run) -> None:
    with serving(likes_length) as endpoint:
        assert run(endpoint, "--max-calls", "10").status == 3
        assert len(endpoint.requests) == 10


def test_the_offline_judge_is_tested_without_a_model() -> None:
    folder = SAMPLES / "rag"
    given = ("--rag-responses", folder / "runs", "--documents", folder / "documents.jsonl")
    done = command("judges", "stability", *given, "--responses", "5")
    assert done.status == 0
    assert "not tested: samples: no model is asked" in done.out
    assert "tested on 5 responses" in done.out


def test_an_unknown_change_is_refused() -> None:
    done = command(
        "judges", "stability", "--rag-responses", SAMPLES / "rag/runs", "--change", "bolt"
    )
    assert done.status == 1
    assert "did you mean 'bold'?" in done.err


def test_games_are_played_where_they_are_asked_for() -> None:
    folder = SAMPLES / "rag"
    given = ("--rag-responses", folder / "runs", "--documents", folder / "documents.jsonl")
    done = command(
        "judges", "stability", *given, "--judge", "citation", "--change", "game", "--json"
    )
    assert done.status == 0
    found = json.loads(done.out)
    assert (found["flips"], found["shifts"]) == ([], [])
    assert [game["way"] for game in found["games"]] == [way.name for way in WAYS]
    copy = found["games"][0]
    assert (copy["way"], copy["changed"]) == ("game:copy", 9)
    (support,) = [m for m in copy["measures"] if m["measure"] == "CITATION_SUPPORT"]
    assert support["after"] == 1.0
    assert support["lift"] == pytest.approx(1.0 - support["before"], abs=1e-4)
    played = [game for game in found["games"] if game["changed"]]
    unplayed = [game["way"] for game in found["games"] if not game["changed"]]
    assert all(game["measures"] for game in played)
    for way in unplayed:
        assert f"{way}: the rule changes no response" in found["not_tested"]


def test_without_being_asked_for_no_game_is_played() -> None:
    folder = SAMPLES / "rag"
    given = ("--rag-responses", folder / "runs", "--documents", folder / "documents.jsonl")
    found = json.loads(command("judges", "stability", *given, "--json").out)
    assert found["games"] == []
    assert {shift["kind"] for shift in found["shifts"]} == {"position", "length", "style"}


def test_games_are_sorted_by_lift_with_an_interval(run: Run) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body, FULL if "false that" in text_of(body) else NONE))

    with serving(script) as endpoint:
        changes = ("game:title", "bold", "game:frame-false", "game:frame-false")
        done = run(endpoint, "--samples", "0", "--change", *changes)
        again = json.loads(run(endpoint, "--samples", "0", "--change", *changes, "--json").out)
    assert [game["way"] for game in again["games"]] == ["game:title", "game:frame-false"]
    assert again["games"][0]["changed"] == 0  # its topics have no title
    lifts = {one["measure"]: one["lift"] for one in again["games"][1]["measures"]}
    assert lifts["CITATION_SUPPORT"] == 1.0
    assert "not tested: game:title: the rule changes no response" in done.out
    assert re.search(r"frame-false +8 +CITATION_SUPPORT +0\.000 +1\.000 +\+1\.000", done.out)


class Verdict(dspy.Signature):
    """Does the document say it?"""

    document: str = dspy.InputField()
    sentence: str = dspy.InputField()
    answer: Literal["YES", "NO"] = dspy.OutputField()


LABELS = {"answer": {"YES": FULL, "NO": NONE}}


@pytest.mark.parametrize("kind", ["signature", "module"])
def test_a_prompt_with_labels_of_its_own_is_tested(kind: str, run: Run, tmp_path: Path) -> None:
    named = f"{__name__}:{'Verdict' if kind == 'signature' else 'THOUGHT'}"
    workflow = {"judge": "citation", "prompts": {"attest": {kind: named, "labels": LABELS}}}
    (tmp_path / "w.yml").write_text(json.dumps(workflow))
    said = Answer('{"reasoning": "So.", "answer": "YES"}')
    with serving(lambda body, number: said) as endpoint:
        given = ("--workflow", str(tmp_path / "w.yml"), "--samples", "2", "--change", "none")
        done = run(endpoint, "--json", *given)
        assert len(endpoint.requests) == 3 * TOPICS * SENTENCES
    found = json.loads(done.out)
    assert (done.status, found["unjudged"], found["flips"][0]["rate"]) == (0, 0, 0.0)


THOUGHT = dspy.ChainOfThought(Verdict)
