"""`gate` as a pipeline runs it: a job against itself, and against one with worse answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commandline import SAMPLES, command, judge, sample
from trecjudge.judging.judge import judge_names

TOLD = ("autojudge",)
"""Judges that cannot run without being told whose code to run."""
NUGGETS = [
    {"text": "The tram opened in 2021", "importance": "vital"},
    {"text": "The line has seven stops", "importance": "okay"},
]
NEED_A_BANK = ("argue", "nuggets", "rubric")


@pytest.fixture(scope="module", params=["rag", "ragtime", "dragun", "pipeline"])
def everything(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a job of every judge that can judge a sample offline."""
    out = tmp_path_factory.mktemp(request.param)
    names = [name for name in judge_names() if name not in TOLD]
    if request.param == "pipeline":
        names = [name for name in names if name not in NEED_A_BANK]
        done = judge(SAMPLES / "pipeline", out, "--judge", ",".join(names), "-q")
    else:
        topics = (SAMPLES / request.param / "topics.jsonl").read_text().splitlines()
        ids = [
            next(one[key] for key in ("docid", "topic_id", "id") if key in one)
            for one in map(json.loads, topics)
        ]
        banks = [{"qid": topic_id, "query": "trams", "nuggets": NUGGETS} for topic_id in ids]
        bank = out / "bank.jsonl"
        bank.write_text("".join(json.dumps(one) + "\n" for one in banks))
        done = sample(request.param, out, "--judge", ",".join(names), "--nuggets", bank, "-q")
    assert done.status == 0, done.err
    return out / "x"


def test_a_job_passes_against_itself(everything: Path) -> None:
    drop = ("gate", everything, "--baseline", everything, "--max-drop")
    done = command(*drop, "0.05")
    assert done.status == 0, done.out
    lines = Path(f"{everything}.leaderboard.jsonl").read_text().splitlines()
    measures = dict.fromkeys(json.loads(line)["measure"] for line in lines)
    done = command(*drop, *(f"{measure}=0" for measure in measures))
    assert done.status == 0, done.out


FACTS = (
    "The ferry of Ostermere opened in 18{0:02d}.",
    "The mill of Dunmarrow was sold in 19{0:02d}.",
    "The tower of Skarrow has {0} steps.",
)
WRONG = "Visitors pay nine crowns for the guided walk on Sundays."


def answers(i: int, change: str) -> list[str]:
    """Return the sentences of an answer; of a fifth of them changed."""
    own = [fact.format(i % 90 + 10) for fact in FACTS]
    if i % 5 or not change:
        return own
    changed = {
        "one sentence": [own[0], WRONG, own[2]],
        "silence": ["I don't know."],
    }
    return changed[change]


def made(folder: Path, name: str, kind: str, change: str) -> Path:
    """Judge 200 answers, of which a change makes 40 worse; return the job."""
    runs = folder / name
    runs.mkdir()
    with (runs / "r.jsonl").open("w") as file:
        for i in range(200):
            right, texts = " ".join(answers(i, "")), answers(i, change)
            pipeline = {"topic_id": f"{i}", "question": "What of it?", "answer": " ".join(texts)}
            cited = {
                "metadata": {"team_id": "t", "run_id": "r", "topic_id": f"{i}"},
                "responses": [{"text": text, "citations": ["d"]} for text in texts],
                "documents": {"d": {"text": right}},
            }
            record = pipeline | {"contexts": [right]} if kind == "grounding" else cited
            file.write(json.dumps(record) + "\n")
    options = ("--judge", kind, "--name", name, "--log", "none", "-q")
    done = command("--rag-responses", runs, "--out-dir", folder / "out", *options)
    assert done.status == 0, done.err
    return folder / "out" / name


@pytest.mark.parametrize("kind", ["grounding", "citation", "support"])
def test_forty_worse_answers_of_two_hundred_do_not_pass(kind: str, tmp_path: Path) -> None:
    old = made(tmp_path, "old", kind, "")
    for change in ("one sentence", "silence"):
        new, xml = made(tmp_path, change.replace(" ", "-"), kind, change), tmp_path / "gate.xml"
        done = command("gate", new, "--baseline", old, "--max-drop", "0.05", "--junit", xml)
        assert (done.status, done.out.splitlines()[-1]) == (1, "gate: 0 of 1 rules kept"), change
        assert xml.read_text().count('name="topic ') == 40
    done = command("gate", old, "--baseline", new, "--max-drop", "0.05")
    assert done.status == 0, done.out
