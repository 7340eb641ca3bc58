"""A bug in a judge's or a measure's code: few items are paid for, and one line says where it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.jobs import GOOD, RECORD
from tests.commandline import command
from tests.endpoint import Answer, Endpoint, attestation, in_a_thread, running

JUDGE = """
from dataclasses import dataclass
from trecjudge import Item, LeaderboardSpec, MeasureSpec, judgment_of

@dataclass(frozen=True)
class Tone:
    '''How friendly is it?'''
    measures = LeaderboardSpec((MeasureSpec("TONE", lambda response, judgments: 1.0),))

    def pool(self, topic, response):
        for s in response.sentences:
            yield Item(topic, response.run_id, s.text, s.index)

    async def judge(self, item, model):
        return judgment_of(item, label=item.tone)
"""
MEASURE = """
def broken(response, judgments):
    return judgments[0].tone
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a run of 40 responses on different sentences, where we are."""
    monkeypatch.chdir(tmp_path)
    lines = (
        RECORD.format(run="r", topic=n, sentences=GOOD.replace("gap", f"gap {n}"))
        for n in range(40)
    )
    (tmp_path / "r.jsonl").write_text("\n".join(lines))
    return tmp_path


def test_a_bug_in_a_judge_is_one_line(folder: Path) -> None:
    (folder / "tone_judge.py").write_text(JUDGE)
    done = command("--rag-responses", "r.jsonl", "--judge", "tone_judge:Tone", "-q")
    (line,) = done.err.splitlines()
    assert done.status == 3
    assert line.startswith("error: default: judge tone_judge:Tone has a bug, 5 times in a row:")
    assert "AttributeError: 'Item' object has no attribute 'tone' (tone_judge.py:15)" in line
    judgments = (folder / "out" / "default.judgments.jsonl").read_text()
    assert (judgments.count('"kind":"bug"'), judgments.count('"kind":"stopped"')) == (5, 35)


@pytest.mark.parametrize("use_model", [True, False], ids=["model", "offline"])
def test_a_bug_in_a_measure_stops_before_all_is_paid_for(
    use_model: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "tone_measures" if use_model else "tone_measures_offline"
    (folder / f"{module}.py").write_text(MEASURE)
    (folder / "w.yml").write_text(f"judge: citation\nmeasures: [{module}:broken]\n")

    def answered(body: dict[str, object], number: int) -> Answer:
        return Answer(attestation(body))

    with in_a_thread(running(answered)) as endpoint:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        flags = ("--use-env-llm", "--set", "llm.in_flight=2") if use_model else ()
        done = command("--rag-responses", "r.jsonl", "--workflow", "w.yml", *flags, "-q")
        assert _few(endpoint)
    (line,) = done.err.splitlines()
    assert done.status == 1
    assert line.startswith("error: measure BROKEN on run 'r', topic '0': AttributeError:")
    assert f"({module}.py:3); judging stopped: what was judged before is in out" in line
    last = (folder / "out" / "default.judgments.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["record"] == "end"


def _few(endpoint: Endpoint) -> bool:
    return len(endpoint.requests) <= 12
