"""Signs of writing for the judge: from a job to its lines, its report, a gate and what it shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command, judge

DOCUMENT = (
    "Steam leaves the spout of a kettle through two metal plates and makes a whistle there. "
    "The first whistling kettle was sold by a small shop in London before the war began."
)
SALAD = "Whistle kettle shop steam plates London spout metal war."
PADDED = DOCUMENT.split(". ")[0] + " as everybody knows."
HONEST = "Kettles sing because vapour has to squeeze between pieces of tin."


def record(run_id: str, topic_id: str, *texts: str) -> dict[str, Any]:
    return {
        "metadata": {"team_id": "t", "run_id": run_id, "topic_id": topic_id},
        "responses": [{"text": text, "citations": ["k"]} for text in texts],
        "documents": {"k": {"text": DOCUMENT}},
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a job on three runs: an honest one and two that are written for the judge."""
    path = tmp_path_factory.mktemp("signs")
    (path / "runs").mkdir()
    for run_id, text in (("honest", HONEST), ("salad", SALAD), ("padded", PADDED)):
        records = [record(run_id, topic, text, HONEST) for topic in ("1", "2")]
        lines = "".join(f"{json.dumps(one)}\n" for one in records)
        (path / "runs" / f"{run_id}.jsonl").write_text(lines)
    done = judge(path / "runs", path / "out", "--judge", "citation", "--report")
    (path / "said").write_text(done.out)
    return path


NOTES = [
    "note: scattered: many sentences have the words of a document, in another order than there"
    " (runs: salad 50 %)",
    "note: repeated: many sentences repeat earlier ones, or themselves (runs: honest 50 %)",
]


def notes(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("note: ") and "(runs:" in line]


def test_runs_are_named_below_the_table(folder: Path) -> None:
    assert notes((folder / "said").read_text())[:2] == NOTES
    assert notes(command("job", "rescore", folder / "out" / "x").out)[:2] == NOTES


@pytest.mark.parametrize("jobs", ["2", "1"])
def test_workers_count_the_same(folder: Path, tmp_path: Path, jobs: str) -> None:
    done = judge(folder / "runs", tmp_path, "--judge", "citation", "--workers", jobs)
    assert notes(done.out)[:2] == NOTES
    name = "x.leaderboard.jsonl"
    assert (tmp_path / name).read_bytes() == (folder / "out" / name).read_bytes()


def test_counts_are_in_the_statistics(folder: Path) -> None:
    lines = (folder / "out" / "x.leaderboard.jsonl").read_text().splitlines()
    found = {one["run_id"]: one["signs"] for one in map(json.loads, lines)}
    assert found["salad"]["scattered"] == {"sentences": 2, "of": 4}
    assert found["padded"]["near_copied"] == {"sentences": 2, "of": 4}
    assert found["honest"]["scattered"] == {"sentences": 0, "of": 4}


def test_sentences_are_marked(folder: Path) -> None:
    shown = command("show", folder / "out" / "x", "--run", "padded").out
    assert "nearly copied: a sentence of a document with changes, or pieces of one" in shown
    page = (folder / "out" / "x.report.html").read_text()
    assert 'data-key="scattered"' in page
    assert 'data-key="near_copied"' not in page  # half of the sentences is not enough


def test_a_gate_bounds_each_sign(folder: Path, tmp_path: Path) -> None:
    junit = tmp_path / "gate.xml"
    rules = ("--max", "scattered=0.3", "near_copied=0.4", "copied=0", "--junit", junit)
    done = command("gate", folder / "out" / "x", *rules)
    assert done.status == 1
    assert done.out.splitlines() == [
        "padded: near_copied is 0.5, must be at most 0.4",
        "salad: scattered is 0.5, must be at most 0.3",
        "gate: 7 of 9 rules kept",
    ]
    assert junit.read_text().count("<failure") == 2


def test_what_is_not_known_does_not_pass_a_gate(folder: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_bytes((folder / "out" / "x.leaderboard.txt").read_bytes())
    done = command("gate", plain, "--max", "scattered=0.3")
    assert done.status != 0 and "scattered" in done.err
    done = command("gate", folder / "out" / "x", "--max", "irrelevant=0.3")
    assert done.status != 0 and "irrelevant" in done.err
