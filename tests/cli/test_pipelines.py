"""Answers of pipelines, from the command line and from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import trecjudge
from tests.commandline import SAMPLES, command

OWN = '{"ask": {"text": "Q?"}, "out": "The ferry is new.", "hits": ["The ferry is new."]}\n'
KEYS = "question=ask.text,answer=out,contexts=hits"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a record under names of its own."""
    (tmp_path / "mine.jsonl").write_text(OWN)
    return tmp_path / "mine.jsonl"


def judged(*words: str | Path) -> str:
    done = command(*words, "--out-dir", "out")
    assert done.status == 0, done.err
    return done.out.splitlines()[0]


@pytest.mark.parametrize(
    ("more", "judge"),
    [
        ((), "grounding"),
        (("--also", "length"), "grounding, length"),
        (("--judge", "attribution"), "attribution"),
        (("--workflow", "citation"), "citation"),
    ],
    ids=["by default", "beside another", "as asked", "as the workflow says"],
)
def test_the_judge_of_a_pipeline(
    more: tuple[str, ...], judge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = judged("--rag-responses", SAMPLES / "pipeline", *more)
    assert first.startswith(f"default: judge {judge}, ") or f"judges {judge}, " in first


def test_runs_of_a_track_are_judged_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = SAMPLES / "rag" / "runs"
    done = command("--rag-responses", runs, "--out-dir", "out")
    assert "judge citation, " in done.out


def test_keys_hold_for_the_job_its_config_and_its_report(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own.parent)
    judged("--rag-responses", own, "--keys", KEYS)
    assert "keys:\n    question: ask.text\n" in Path("out/default.config.yml").read_text()
    assert command("report", "out/default").status == 0
    assert (
        "texts of topics or documents are missing"
        not in Path("out/default.report.html").read_text()
    )
    assert command("check", own, "--keys", KEYS).status == 0


def test_keys_from_python(own: Path) -> None:
    by_name = trecjudge.judge(
        own, keys={"question": "ask.text", "answer": "out", "contexts": "hits"}
    )
    assert (by_name.unjudged, trecjudge.judge(own, keys=KEYS).unjudged) == (0, 0)


def test_records_of_a_pipeline_from_python() -> None:
    records = [{"question": "Q?", "answer": "The ferry is new.", "contexts": ["The ferry is new."]}]
    labels = {row.label for row in trecjudge.judge(records).judgments()}
    assert "supported" in labels


def test_keys_that_are_none_are_said() -> None:
    done = command("--rag-responses", SAMPLES / "pipeline", "--keys", "answr=x")
    assert done.status == 1
    assert done.err.startswith("error: --keys 'answr=x': unknown part 'answr'; did you mean")
