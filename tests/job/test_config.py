"""The config of a job: the workflow that ran, from which the job can be run again."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commandline import ROOT, SAMPLES, command, sample

WORKFLOW = """
judge: citation
settings: {partial: 0.25}
leaderboard: {sort_by: SENTENCE_SUPPORT}
gate: {review_unless: CITATION_SUPPORT >= 0.1}
variants: {hard: {partial: 0.0}}
sweeps: {partial: {partial: [0.5, 1.0]}}
"""


def config(path: Path) -> dict[str, Any]:
    """Return what a config says of the workflow."""
    found: dict[str, Any] = yaml.safe_load(path.read_text())["workflow"]
    return found


@pytest.mark.parametrize(
    ("flags", "suffix", "chosen", "partial"),
    [
        pytest.param((), "", {}, 0.25, id="as it is"),
        pytest.param(("--variant", "hard"), "hard", {"variant": "hard"}, 0.0, id="variant"),
        pytest.param(
            ("--sweep", "partial"),
            "partial-0.5",
            {"sweep": "partial", "point": "partial-0.5"},
            0.5,
            id="point of a sweep",
        ),
        pytest.param(("--set", "partial=0.1"), "", {}, 0.1, id="set"),
    ],
)
def test_the_workflow_that_ran(
    flags: tuple[str, ...], suffix: str, chosen: dict[str, str], partial: float, tmp_path: Path
) -> None:
    (tmp_path / "w.yml").write_text(WORKFLOW)
    given = ("--workflow", tmp_path / "w.yml", "-q")
    assert sample("rag", tmp_path, *given, *flags).status == 0
    (path,) = tmp_path.glob(f"x*{suffix}.config.yml")
    found = config(path)
    ran = found.pop("ran")
    digest = hashlib.sha256(WORKFLOW.encode()).hexdigest()
    assert found == {"file": str(tmp_path / "w.yml"), "sha256": digest, **chosen}
    assert (ran["judge"], ran["settings"]["partial"]) == ("citation", partial)
    assert ran["leaderboard"] == {"sort_by": "SENTENCE_SUPPORT"}
    assert ran["gate"] == {"review_unless": "CITATION_SUPPORT >= 0.1"}
    again = tmp_path / "again"
    assert sample("rag", again, "--workflow", path, "-q").status == 0
    for name in ("leaderboard.txt", "judgments.jsonl", "review.jsonl"):
        first = path.with_name(path.name.replace("config.yml", name))
        assert (again / f"x.{name}").read_bytes() == first.read_bytes()


@pytest.mark.parametrize(
    ("flags", "judge"),
    [
        pytest.param(("--judge", "support"), "support", id="chosen by a flag"),
        pytest.param(("--judge", "support,length"), ["length", "support"], id="two"),
        pytest.param((), "citation", id="none chosen"),
    ],
)
def test_without_a_workflow_the_judge_is_the_one_that_ran(
    flags: tuple[str, ...], judge: str | list[str], tmp_path: Path
) -> None:
    assert sample("rag", tmp_path, *flags, "-q").status == 0
    found = config(tmp_path / "x.config.yml")
    assert (found["file"], found["sha256"], found["ran"]["judge"]) == (None, None, judge)
    again = sample("rag", tmp_path / "again", "--workflow", tmp_path / "x.config.yml", "-q")
    assert again.status == 0, again.err
    written = (tmp_path / "again" / "x.leaderboard.txt").read_bytes()
    assert written == (tmp_path / "x.leaderboard.txt").read_bytes()


NO_MODEL = "warning: no model is asked without --use-env-llm: "


@pytest.mark.parametrize(
    ("workflow", "flags", "idle"),
    [
        pytest.param("prompts: {attest: 'Is {sentence} so?'}", (), "prompts has", id="prompt"),
        pytest.param("llm: {seed: 1}", (), "llm has", id="llm"),
        pytest.param("", ("--set", "llm.seed=1"), "llm.seed has", id="set"),
        pytest.param(
            "llm: {seed: 1}\nprompts: {attest: 'Is {sentence} so?'}",
            ("--set", "llm.tries=2"),
            "prompts, llm, llm.tries have",
            id="all in one line",
        ),
        pytest.param("variants: {v: {llm.seed: 1}}", ("--variant", "v"), "llm.seed has", id="v"),
        pytest.param(
            "sweeps: {s: {llm.seed: [1, 2]}}", ("--sweep", "s"), "llm.seed has", id="once a sweep"
        ),
        pytest.param("variants: {v: {llm.seed: 1}}", (), "", id="a variant that is not chosen"),
        pytest.param("settings: {partial: 0.5}", (), "", id="nothing of a model"),
    ],
)
def test_settings_of_a_model_that_nobody_asks(
    workflow: str, flags: tuple[str, ...], idle: str, tmp_path: Path
) -> None:
    (tmp_path / "w.yml").write_text(f"judge: citation\n{workflow}\n")
    done = sample("rag", tmp_path / "out", "--workflow", tmp_path / "w.yml", *flags)
    said = [line for line in done.err.splitlines() if line.startswith(NO_MODEL)]
    assert said == ([f"{NO_MODEL}{idle} no effect"] if idle else [])


def test_a_shipped_workflow_is_for_both_ways(tmp_path: Path) -> None:
    runs = ("--rag-responses", SAMPLES / "rag" / "runs", "--out-dir", tmp_path)
    assert NO_MODEL not in command(*runs, "--workflow", "citation").err
    done = command(*runs, "--workflow", "citation", "--set", "llm.seed=1")
    assert f"{NO_MODEL}llm.seed has no effect" in done.err


@pytest.mark.parametrize("path", ["workflows/citation.yml", "docs/../workflows/citation.yml"])
def test_so_it_is_however_its_path_is_written(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    done = sample("rag", tmp_path, "--workflow", path)
    assert (done.status, NO_MODEL in done.err) == (0, False)
