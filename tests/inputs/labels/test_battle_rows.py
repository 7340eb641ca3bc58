"""Battles of people and of other tools, as labels: each form, and what is said of bad rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command
from trecjudge.findings import Finding
from trecjudge.inputs.labels import read_labels
from trecjudge.inputs.labels.battle_rows import outcome_of, read_battle, sides_of
from trecjudge.records import Place

OWN = {"topic_id": "1", "run_a": "p", "run_b": "q"}
ARENA = {"question_id": 81, "model_a": "q", "model_b": "p"}
FORMS = [
    pytest.param(OWN | {"winner": "run_a"}, "win", id="our own words"),
    pytest.param(OWN | {"winner": "q"}, "loss", id="the winner by name"),
    pytest.param(OWN | {"winner": "A"}, "win", id="a letter"),
    pytest.param(ARENA | {"winner": "model_a"}, "loss", id="arena-rank, sides turned"),
    pytest.param(ARENA | {"winner": "both_bad"}, "tie", id="arena-rank, both bad"),
    pytest.param(ARENA | {"winner": "tie (bothbad)", "judge": "arena_user_9"}, "tie", id="arena"),
    pytest.param(ARENA | {"winner": "tie (inconsistent)", "turn": 1}, "tie", id="MT-Bench"),
    pytest.param(
        {"question_id": 8, "model_1": "p", "model_2": "q", "g1_winner": "model_1"}
        | {"g2_winner": "model_1", "judge": ["gpt-4", "pair-v2"]},
        "win",
        id="MT-Bench's own judge",
    ),
    pytest.param(
        {"question_id": 8, "model_1": "p", "model_2": "q", "g1_winner": "model_1"}
        | {"g2_winner": "model_2"},
        "tie",
        id="another winner in the other order",
    ),
    pytest.param({"qid": "1", "agent_a": "p", "agent_b": "q", "answer": "C"}, "tie", id="RAGElo"),
    pytest.param(
        ARENA | {"winner_model_a": "1", "winner_model_b": "0", "winner_tie": "0"},
        "loss",
        id="a column for each outcome",
    ),
]


@pytest.mark.parametrize(("record", "label"), FORMS)
def test_forms(record: dict[str, Any], label: str) -> None:
    sides = sides_of(record)
    assert sides is not None
    ((key, found),) = read_battle(record, sides, Place("x"), pytest.fail)
    assert (key[1], key[3]) == ("p", "q")
    assert found == label


def test_a_later_turn_is_another_topic() -> None:
    record = ARENA | {"winner": "model_a", "turn": 2}
    ((key, _),) = read_battle(record, ("model_a", "model_b"), Place("x"), pytest.fail)
    assert key[0] == "81_2"


@pytest.mark.parametrize(
    "record",
    [
        OWN | {"winner": "who knows"},
        OWN | {"winner": ""},
        OWN | {"winner": "a", "run_b": "p"},
        {"run_a": "p", "run_b": "q", "winner": "a"},
        OWN | {"g1_winner": "error", "g2_winner": "run_a"},
    ],
    ids=["no outcome", "empty", "against itself", "no topic", "an error"],
)
def test_what_is_no_battle_is_said_with_its_place(record: dict[str, Any]) -> None:
    found: list[Finding] = []
    assert list(read_battle(record, ("run_a", "run_b"), Place("v.csv", 7), found.append)) == []
    assert str(found[0].place) == "v.csv:7"
    assert "run_a, run_b, winner" in found[0].message


def test_other_records_are_no_battles() -> None:
    assert sides_of({"topic_id": "1", "run_id": "p", "label": "yes"}) is None
    assert sides_of({"model_a": "p", "model_b": "q"}) is None
    assert outcome_of({"winner_model_a": 0, "winner_tie": 0}, ("model_a", "model_b")) is None


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_files_of_several_people(kind: str, tmp_path: Path) -> None:
    names = ["question_id", "model_a", "model_b", "winner", "judge"]
    rows = [
        ["1", "p", "q", "model_a", "anna"],
        ["1", "q", "p", "model_b", "ben"],
        ["1", "p", "q", "tie", "cleo"],
        ["2", "p", "q", "both_bad", "anna"],
    ]
    path, mark = tmp_path / f"votes.{kind}", "\t" if kind == "tsv" else ","
    if kind == "jsonl":
        text = "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows)
    else:
        text = "\n".join(mark.join(row) for row in [names, *rows])
    path.write_text(text)
    labels = read_labels(path, pytest.fail)
    assert dict(labels) == {("1", "p", None, "q"): "win", ("2", "p", None, "q"): "tie"}
    assert sorted(labels.people) == ["anna", "ben", "cleo"]
    assert labels.several == 1


def test_a_judge_agrees_with_people_by_battle(tmp_path: Path) -> None:
    """Offline battles of three runs beside people who say the same but for one tie."""
    for run, said in (
        ("p", "The bridge opened in 1932."),
        ("q", "The bridge opened in 1933."),
        ("r", "Whales sing."),
    ):
        record = {
            "metadata": {"team_id": "t", "run_id": run, "topic_id": "1"},
            "responses": [{"text": said, "citations": ["d"]}],
            "documents": {"d": {"text": "The bridge was opened in 1932, after nine years."}},
        }
        (tmp_path / "runs").mkdir(exist_ok=True)
        (tmp_path / f"runs/{run}.jsonl").write_text(json.dumps(record))
    out = tmp_path / "out"
    done = command("judge", tmp_path / "runs", "--judge", "battle", "--out-dir", out, "--name", "x")
    assert done.status == 0, done.err
    votes = "topic_id,run_a,run_b,winner\n1,p,q,p\n1,r,p,p\n1,r,q,tie\n"
    (tmp_path / "votes.csv").write_text(votes)
    done = command("labels", "agree", out / "x", "--labels", tmp_path / "votes.csv", "--json")
    found = json.loads(done.out)
    figures = {one["figure"]: one["pooled"] for one in found["figures"]}
    assert found["items"] == 3
    assert figures["accuracy_without_ties"] == 1.0
    assert figures["tau_of_boards"] is not None
    given = ("--judgments-from", tmp_path / "votes.csv", "--out-dir", out, "--name", "y")
    done = command("judge", tmp_path / "runs", "--judge", "battle", *given)
    assert done.status == 0, done.err
    assert "p\tall\tWIN_RATE\t1.000000" in (out / "y.leaderboard.txt").read_text()
    given = ("--labels", tmp_path / "votes.csv", "--out-dir", out, "--name", "z")
    done = command("judge", tmp_path / "runs", "--judge", "battle", *given)
    assert done.status == 0, done.err
