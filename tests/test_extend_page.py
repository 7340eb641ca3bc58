"""What the page on extending shows, from an empty folder: with a model, installed, a checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import ROOT, SAMPLES, command
from tests.endpoint import Answer, attestation, serving, text_of
from tests.examples import BLOCK, arguments
from tests.test_packaging import BUILD, environment

PAGE = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")


def written(folder: Path) -> Path:
    """Write the files of the page into a folder that is otherwise empty."""
    for kind, name, text in BLOCK.findall(PAGE):
        if kind == "file":
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    (folder / "sample_data").symlink_to(SAMPLES)
    return folder


def commands(how: str) -> list[list[str]]:
    """Return the arguments of the commands that are to be run in this way."""
    return [
        arguments(text) for kind, name, text in BLOCK.findall(PAGE) if (kind, name) == ("run", how)
    ]


CLAIMS = ["Steam whistles.", "Steam is blue."]


def answered(body: dict[str, Any], number: int) -> Answer:
    """Answer a question about tone, those of a module and a signature, and one about support."""
    instructions = json.dumps(body["messages"][0])
    for said, reply in {
        "List what the sentence states": {"reasoning": "two", "claims": CLAIMS},
        "what the claim says": {"answer": "NO" if "is blue" in text_of(body) else "YES"},
        "what the sentence says": {"answer": "YES"},
    }.items():
        if said in instructions:
            return Answer(json.dumps(reply))
    if "friendly" not in instructions:
        return Answer(attestation(body))
    label = "friendly" if "helps you" in json.dumps(body["messages"][-1]) else "rude"
    if "response_format" in body:
        return Answer(json.dumps({"reason": "so", "label": label}))
    fields = {"reason": "so", "label": label, "completed": ""}
    return Answer("\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items()))


def test_with_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written(tmp_path))
    with serving(answered, monkeypatch) as endpoint:
        for words in commands("model"):
            done = command(*words)
            assert (done.status, done.err) == (0, "")
        asked = [json.dumps(body["messages"]) for body in endpoint.requests]
    assert any("Decide how friendly the sentence is" in text for text in asked)
    assert any("proves the `sentence`, word for word" in text for text in asked)
    events = [json.loads(line) for line in (tmp_path / "out" / "checked.log").open()]
    calls = [event for event in events if event["event"] == "MODEL_CALL"]
    assert [call["program"] for call in calls] == ["reasoning_claims", "Says", "Says"]
    assert all(call["tokens"] == 15 and call["judge"] == "checked:CheckedJudge" for call in calls)
    assert "(( ## answer ## ]] YES" in calls[1]["messages"][-1]["content"]
    checked = (tmp_path / "out" / "checked.leaderboard.txt").read_text()
    assert checked.endswith("kettle\tall\tFIRST_CHECKED\t0.500000\n")
    verdict = (tmp_path / "out" / "verdict.leaderboard.txt").read_text()
    assert "kettle\tall\tCITATION_SUPPORT\t1.000000\n" in verdict
    assert '"label":"partial_support"' in (tmp_path / "out" / "module.judgments.jsonl").read_text()
    rows = (tmp_path / "out" / "asked.leaderboard.txt").read_text().splitlines()
    assert rows[1::2] == ["cold\tall\tFRIENDLINESS\t0.000000", "warm\tall\tFRIENDLINESS\t0.500000"]


def test_a_judge_of_modules_is_planned_within_a_budget_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(written(tmp_path))
    monkeypatch.setenv("TRECJUDGE_CACHE", str(tmp_path / "cache"))
    (words,) = (words for words in commands("model") if "checked:CheckedJudge" in words)
    with serving(answered, monkeypatch) as endpoint:
        plan = command(*words, "--plan", "--json")
        assert (json.loads(plan.out)["calls"], endpoint.requests) == (1, [])
        assert "at least 1 calls to make" in command(*words, "--plan").out
        (other,) = (words for words in commands("model") if "module.yml" in words)
        assert "at least 2 calls to make" in command(*other, "--plan").out
        assert command(*words, "--max-calls", "2").status == 3
        assert len(endpoint.requests) == 2
        events = map(json.loads, (tmp_path / "out" / "checked.log").open())
        failures = [event for event in events if event["event"] == "FAILURE"]
        assert [(e["kind"], e["program"]) for e in failures] == [("budget", "Says")]
        assert command(*words, "--report").status == 0
        assert len(endpoint.requests) == 3
        assert (tmp_path / "out" / "checked.report.html").stat().st_size > 0
    written_out = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert "sk-secret" not in written_out


@pytest.mark.slow("docs/extend.md", "trecjudge/settings", "trecjudge/judging/judge.py", "setup.py")
def test_as_a_package(tmp_path: Path) -> None:
    folder = written(tmp_path)
    package, wheels = folder / "tone_package", folder / "wheels"
    wheels.mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", BUILD.format("wheel"), str(wheels)],
        cwd=package,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    python, _ = environment(folder / "env", wheels.glob("*.whl"))
    (words,) = commands("installed")
    subprocess.run([python, ROOT / "run_judge.py", *words], cwd=folder, check=True)
    rows = (folder / "out" / "calm.leaderboard.txt").read_text()
    assert "warm\tall\tCALM\t1.000000\n" in rows


def test_a_format_and_a_collection_in_a_checkout(tmp_path: Path) -> None:
    for name in ("trecjudge", "judges", "workflows"):
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    shutil.copy(ROOT / "run_judge.py", tmp_path)
    written(tmp_path)
    given = {**os.environ, "PYTHONPATH": str(tmp_path)}
    (words,) = commands("checkout")
    subprocess.run([sys.executable, "run_judge.py", *words], cwd=tmp_path, env=given, check=True)
    assert "flat\t1\t" in (tmp_path / "out" / "flat.leaderboard.txt").read_text()
    (words,) = commands("advised")
    ran = subprocess.run(
        [sys.executable, "run_judge.py", *words],
        cwd=tmp_path,
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 3
    said = next(line for line in ran.stderr.splitlines() if line.startswith("warning: --documents"))
    assert f"```\n{said}\n```" in PAGE
