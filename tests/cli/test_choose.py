"""`judges choose`: what words, models and cascades cost and are worth, at a real endpoint."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import SAMPLES, Done, command
from tests.endpoint import Answer, Endpoint, Script, attestation, serving, text_of
from trecjudge.settings.strict_yaml import read_yaml

TOPICS, SENTENCES = 10, 6
WORDS = ("bridge", "tower", "river", "market", "castle", "garden", "museum", "station")
LABELS = ("no_support", "partial_support", "full_support")
Choose = Callable[..., Done]


def truth_of(number: int) -> str:
    """Return what people say of a sentence."""
    return LABELS[number % 3]


def knows(share: float) -> Script:
    """Return a script of a model that is right on about a share of the sentences."""

    def script(body: dict[str, Any], number: int) -> Answer:
        place, run = re.findall(r"fact (\d+) of run (\w)", text_of(body))[-1]
        is_right = hashlib.sha256(f"{place}{run}".encode()).digest()[0] < share * 256
        label = truth_of(int(place) + (not is_right))
        return Answer(attestation(body, label), usage=(100, 10))

    return script


@pytest.fixture
def choose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Choose:
    """Return `choose(endpoint, *arguments)`: compare judges on 120 labelled items of two runs."""
    labels = []
    for run in "ab":
        lines = []
        for t in range(TOPICS):
            said, documents = [], {}
            for n in range(SENTENCES):
                number, doc_id = t * SENTENCES + n, f"d{n}"
                word = WORDS[(t + n) % len(WORDS)]
                text = f"The old {word} of place {t} was opened, fact {number} of run {run}."
                shared = text.split()[: 2 + (number * 7) % 12]
                documents[doc_id] = {"text": f"{' '.join(shared)} and nothing else is known."}
                said.append({"text": text, "citations": [doc_id]})
                item = {"topic_id": str(t), "run_id": run, "sentence_index": n, "doc_id": doc_id}
                labels.append(json.dumps(item | {"label": truth_of(number)}))
            meta = {"team_id": "x", "run_id": run, "topic_id": str(t)}
            record = {"metadata": meta, "responses": said, "documents": documents}
            lines.append(json.dumps(record))
        (tmp_path / f"{run}.jsonl").write_text("\n".join(lines))
    (tmp_path / "labels.jsonl").write_text("\n".join(labels))

    def choose(endpoint: Endpoint, *arguments: str | Path) -> Done:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        runs = ("--rag-responses", tmp_path / "a.jsonl", tmp_path / "b.jsonl")
        given = ("--labels", tmp_path / "labels.jsonl", "--cache-dir", tmp_path / "cache")
        return command("judges", "choose", "citation", *runs, *given, "--use-env-llm", *arguments)

    return choose


PRICES = ("--set", "llm.prices={input: 10, output: 20}")


def test_the_curve_goes_from_words_to_the_model(choose: Choose) -> None:
    with serving(knows(1)) as endpoint:
        done = choose(endpoint, "--json", *PRICES)
        assert len(endpoint.requests) == 2 * TOPICS * SENTENCES
    found = json.loads(done.out)
    words, model, *cascades = found["options"]
    assert (words["name"], words["asked"], words["cost"]) == ("words", 0, 0)
    assert (model["name"], model["right"], model["asked"]) == ("model", 1, 1)
    assert model["cost"] == pytest.approx((100 * 10 + 10 * 20) / 1e6)
    shares = [one["asked"] for one in cascades]
    assert shares == sorted(shares)
    for one in cascades:
        assert one["cost"] == pytest.approx(one["asked"] * model["cost"], abs=1e-6)
        assert words["right"] <= one["right"] <= 1
        assert one["passed_n"] == round((1 - one["asked"]) * one["n"])
    best = [one for one in found["options"] if one["right"] == 1]
    assert found["chosen"] == min(best, key=lambda one: one["asked"])


def test_the_cheapest_that_keeps_what_is_wanted_is_a_workflow_that_costs_what_was_foretold(
    choose: Choose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(knows(1)) as endpoint:
        done = choose(endpoint, "--min", "right=0.6")
        found = json.loads(choose(endpoint, "--min", "right=0.6", "--json").out)
    assert done.status == 0
    chosen = found["chosen"]
    assert chosen["least"] >= 0.6
    assert 0 < chosen["asked"] < 1
    assert "right on 0.6: words, then model, right on" in done.out
    shown = done.out.split("is asked too:\n")[1]
    assert read_yaml(shown).value == found["workflow"]
    workflow = found["workflow"]
    workflow["voters"]["words"]["audit"] = 0
    (tmp_path / "w.yml").write_text(json.dumps(workflow | {"judge": "citation"}))
    runs = (tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--out-dir", tmp_path, "-q")
    with serving(knows(1), monkeypatch) as endpoint:
        given = ("--workflow", tmp_path / "w.yml", "--cache-dir", tmp_path / "other")
        assert command("judge", *runs, *given, "--use-env-llm").status == 0
        assert len(endpoint.requests) == round(chosen["calls"] * chosen["n"])


def test_within_a_budget_the_best_is_taken(choose: Choose) -> None:
    with serving(knows(1)) as endpoint:
        found = json.loads(choose(endpoint, "--json", "--max", "asked=0.45").out)
    within = [one for one in found["options"] if one["asked"] <= 0.45]
    assert found["chosen"] == max(within, key=lambda one: one["right"])


def test_where_nothing_keeps_what_is_wanted_it_exits_with_1(choose: Choose) -> None:
    with serving(knows(0)) as endpoint:
        done = choose(endpoint, "--min", "right=0.95")
    assert done.status == 1
    assert "no way to judge keeps right on 0.95: label more items, or want less" in done.out


def test_several_models_are_compared_with_their_votes(choose: Choose, tmp_path: Path) -> None:
    voters = {"a": {}, "b": {"llm": {"model": "other"}}, "c": {"llm": {"model": "third"}}}
    (tmp_path / "w.yml").write_text(json.dumps({"voters": voters}))
    with serving(knows(0.8)) as endpoint:
        found = json.loads(choose(endpoint, "--json", "--workflow", tmp_path / "w.yml").out)
        assert len(endpoint.requests) == 3 * 2 * TOPICS * SENTENCES
    names = list(dict.fromkeys(one["name"] for one in found["options"]))
    cascades = [f"words, then {name}" for name in "abc"]
    assert names == ["words", "a", "b", "c", "votes", *cascades]
    votes = next(one for one in found["options"] if one["name"] == "votes")
    assert (votes["calls"], votes["n"]) == (3, 120)


def test_a_plan_counts_what_would_be_asked(choose: Choose) -> None:
    with serving(knows(1)) as endpoint:
        plan = json.loads(choose(endpoint, "--plan", "--json", "--max", "labelled=5").out)
        assert not endpoint.requests
        choose(endpoint, "--max", "labelled=5")
        assert len(endpoint.requests) == plan["calls"] == 5 * SENTENCES


def test_without_a_model_there_is_nothing_to_choose() -> None:
    rag = SAMPLES / "rag"
    given = ("--rag-responses", rag / "runs", "--labels", rag / "labels.jsonl")
    done = command("judges", "choose", "citation", *given)
    assert done.status == 1
    assert "this compares a judge by words with a model: add --use-env-llm" in done.err
