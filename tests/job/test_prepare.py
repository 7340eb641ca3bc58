"""A judge that is shown all responses before the first: in a job, with its topics and its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commandline import SAMPLES, Done, command

JUDGE = '''
from dataclasses import dataclass, field
from trecjudge import Item, LeaderboardSpec, MeasureSpec, ModelError, judgment_of

def share(response, judgments):
    return judgments[0].value

@dataclass(frozen=True)
class Longest:
    """The share of all responses that are shorter."""

    fault: str = ""
    sizes: list[int] = field(default_factory=list, init=False)
    measures = LeaderboardSpec((MeasureSpec("SHARE", share),))

    async def prepare(self, responses):
        if self.fault:
            raise ModelError(self.fault)
        assert not responses.model.available
        found = [len(response.text) for _, response in responses]
        assert found == [len(response.text) for _, response in responses]
        self.sizes[:] = found
        answered = {topic.topic_id for topic, _ in responses}
        responses.notify(f"{len(found)} responses, {len(responses.topics)} topics")
        responses.beside.with_suffix(".seen").write_text(",".join(sorted(answered)))

    def pool(self, topic, response):
        yield Item(topic, response.run_id, response.text)

    async def judge(self, item, model):
        shorter = sum(size < len(item.text) for size in self.sizes)
        return judgment_of(item, label="share", value=shorter / len(self.sizes))
'''


def judged(folder: Path, monkeypatch: pytest.MonkeyPatch, *flags: str | Path) -> Done:
    """Judge the sample runs by a judge of the working folder, under the name `x`."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    (folder / "longest_of_all.py").write_text(JUDGE)
    data = SAMPLES / "ragtime"
    given = ["--rag-responses", data / "runs", "--rag-topics", data / "topics.jsonl"]
    chosen = ["--judge", "longest_of_all:Longest", "--out-dir", folder / "out", "--name", "x"]
    return command(*chosen, *given, *flags)


def test_it_is_shown_what_will_be_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = judged(tmp_path, monkeypatch)
    assert (done.status, "9 responses, 3 topics" in done.err) == (0, True)
    assert (tmp_path / "out" / "x.seen").read_text() == "501,502,503"
    done = judged(tmp_path, monkeypatch, "--run", "careful", "--topic", "502")
    assert (done.status, "1 responses, 1 topics" in done.err) == (0, True)
    assert "careful\t502\tSHARE\t0.000000" in (tmp_path / "out" / "x.leaderboard.txt").read_text()


def test_findings_are_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    once = command(
        *("--judge", "length", "--rag-responses", SAMPLES / "ragtime" / "runs"),
        *("--rag-topics", SAMPLES / "ragtime" / "topics.jsonl", "--out-dir", tmp_path / "own"),
    )
    done = judged(tmp_path, monkeypatch)
    assert done.err.count("documents_not_given") == once.err.count("documents_not_given")
    assert "7 x documents_not_given" in done.out


def test_an_error_that_the_user_can_put_right_ends_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = judged(tmp_path, monkeypatch, "--set", "fault=no room")
    assert (done.status, done.err.splitlines()[-1]) == (1, "error: no room")
