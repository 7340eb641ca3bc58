"""Prompts of a workflow in a whole job: as they are asked, in the log and in the config."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest
import yaml

from tests.commandline import Done, command, judge
from tests.endpoint import Answer, Script, serving, text_of
from trecjudge.judges.citation.program import Attest

TOPICS = {"topic_id": "1", "title": "Kettles", "problem_statement": "Why do they whistle?"}
RUN = {
    "metadata": {"run_id": "r", "topic_id": "1"},
    "responses": [
        {"text": text, "citations": {"d": 1.0}} for text in ("One.", "Two.", "Three.")
    ],
    "documents": {"d": {"text": "Steam does it."}},
}  # fmt: skip
DEMO = {"document": "D", "sentence": "S", "reasoning": "R", "evidence": "", "label": "no_support"}


class Placed(Attest):
    """Is the sentence so, where it stands?"""

    topic: str = dspy.InputField()
    narrative: str = dspy.InputField()
    response: str = dspy.InputField()
    before: str = dspy.InputField()
    after: str = dspy.InputField()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a run, its topics and a compiled program."""
    (tmp_path / "run.jsonl").write_text(json.dumps(RUN) + "\n")
    (tmp_path / "topics.jsonl").write_text(json.dumps(TOPICS) + "\n")
    module = dspy.ChainOfThought(Attest.with_instructions("Compiled: is it so?"))
    module.predict.demos = [dspy.Example(**DEMO)]
    module.save(str(tmp_path / "attest.json"))
    return tmp_path


def asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, reply: Script, workflow: dict[str, Any]
) -> tuple[list[dict[str, Any]], Done]:
    """Judge the run by a workflow; return the requests, in order of their text, and the end."""
    (folder / "w.yml").write_text(yaml.safe_dump({"judge": "citation"} | workflow))
    monkeypatch.setenv("TRECJUDGE_CACHE", str(folder / "cache"))
    with serving(reply, monkeypatch) as endpoint:
        done = judge(
            folder / "run.jsonl", folder / "out", "--workflow", folder / "w.yml", "--use-env-llm",
            topics=folder / "topics.jsonl",
        )  # fmt: skip
    return sorted(endpoint.requests, key=lambda body: str(body["messages"][-1])), done


def labels(folder: Path) -> list[str]:
    """Return the labels of the job."""
    lines = (folder / "out/x.judgments.jsonl").read_text().splitlines()
    return [found["label"] for line in lines if "label" in (found := json.loads(line))]


def always(text: str) -> Script:
    """Return a script of one reply."""
    return lambda body, number: Answer(text)


def test_a_compiled_program_is_asked_singly_logged_and_recorded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = '{"reasoning": "As it says.", "evidence": "Steam", "label": "partial_support"}'
    workflow = {"settings": {"group": 8}, "prompts": {"attest": "attest.json"}}
    bodies, done = asked(folder, monkeypatch, always(reply), workflow)
    assert done.status == 0, done.err
    assert "attest_group is asked one by one: attest.json has demonstrations" in done.err
    assert len(bodies) == 3
    assert [m["role"] for m in bodies[0]["messages"]] == ["system", "user", "assistant", "user"]
    assert "reasoning" in bodies[0]["response_format"]["json_schema"]["schema"]["required"]
    assert labels(folder) == ["partial_support"] * 3
    events = [json.loads(line) for line in (folder / "out/x.log").read_text().splitlines()]
    calls = [event for event in events if event["event"] == "MODEL_CALL"]
    assert {json.dumps(c["messages"]) for c in calls} == {
        json.dumps(body["messages"]) for body in bodies
    }
    assert all("As it says." in call["reply"] for call in calls)
    config = yaml.safe_load((folder / "out/x.config.yml").read_text())["model"]
    assert config["prompts"]["attest"]["from"] == "attest.json"
    assert "Compiled" in config["prompts"]["attest"]["messages"][0]["content"]
    assert list(config["prompts_sha256"]) == ["attest"]


def test_a_named_prompt_reaches_the_grouped_question(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [{"number": n, "evidence": "", "label": "YES" if n == 2 else "NO"} for n in (1, 2, 3)]
    workflow = {"settings": {"group": 8}, "prompts": {"attest": "argue"}}
    bodies, done = asked(folder, monkeypatch, always(json.dumps({"verdicts": said})), workflow)
    assert (done.status, len(bodies)) == (0, 1)
    assert "Answer YES" in bodies[0]["messages"][0]["content"]
    assert labels(folder) == ["no_support", "full_support", "no_support"]


def test_a_prompt_gets_what_its_item_has(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reply = '{"evidence": "", "label": "no_support"}'
    workflow = {"settings": {"group": 2}, "prompts": {"attest": f"{__name__}:Placed"}}
    bodies, done = asked(folder, monkeypatch, always(reply), workflow)
    assert (done.status, len(bodies)) == (0, 3)
    (second,) = (text for body in bodies if "ence ## ]]\nTwo." in (text := text_of(body)))
    for name, value in {
        "topic": "Kettles", "narrative": "Why do they whistle?", "response": "One. Two. Three.",
        "before": "One.", "after": "Three.",
    }.items():  # fmt: skip
        assert f"[[ ## {name} ## ]]\n{value}\n" in second
    assert second.startswith("[[ ## document ## ]]\nSteam does it.\n")


def test_an_adapter_of_tags(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reply = "<evidence>Steam does it.</evidence><label>full_support</label>"
    bodies, done = asked(folder, monkeypatch, always(reply), {"llm": {"adapter": "xml"}})
    assert (done.status, len(bodies)) == (0, 3)
    assert all("response_format" not in body for body in bodies)
    assert labels(folder) == ["full_support"] * 3


MODULE = """
import dspy
from trecjudge.judges.citation.program import Attest

class Thought(dspy.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = dspy.Predict("sentence -> claim"), dspy.ChainOfThought(Attest)

    async def aforward(self, document, sentence):
        claim = (await self.first.acall(sentence=sentence)).claim
        return await self.last.acall(document=document, sentence=claim)

class Broken(Thought):
    async def aforward(self, document, sentence):
        return {}["label"]
"""


def test_a_module_is_asked_singly_logged_and_recorded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "thoughtful.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(folder))
    reply = '{"claim": "C", "reasoning": "R", "evidence": "Steam", "label": "partial_support"}'
    workflow = {"settings": {"group": 8}, "prompts": {"attest": "thoughtful:Thought"}}
    _, done = asked(folder, monkeypatch, always(reply), workflow)
    assert (done.status, labels(folder)) == (0, ["partial_support"] * 3), done.err
    assert "attest_group is asked one by one: thoughtful:Thought is for a single" in done.err
    events = [json.loads(line) for line in (folder / "out/x.log").read_text().splitlines()]
    calls = [event["program"] for event in events if event["event"] == "MODEL_CALL"]
    assert calls == ["claim", "reasoning_evidence_label"] * 3
    config = yaml.safe_load((folder / "out/x.config.yml").read_text())["model"]
    assert config["prompts"]["attest"]["from"] == "thoughtful:Thought"
    assert list(config["prompts"]["attest"]["predictors"]) == ["first", "last.predict"]
    assert "attest" in config["prompts_sha256"]


def test_a_bug_of_a_module_has_its_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "failing.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(folder)
    _, done = asked(folder, monkeypatch, always(""), {"prompts": {"attest": "failing:Broken"}})
    assert done.status == 3
    assert "KeyError: 'label' (failing.py:16)" in (folder / "out/x.log").read_text()


@pytest.mark.parametrize(
    ("prompt", "message"),
    [("atest.json", "no such file"), ("argu", "did you mean 'argue'"), ("Is it so?", "a field")],
)
def test_a_prompt_that_is_none_ends_the_job_before_a_call(
    prompt: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies, done = asked(folder, monkeypatch, always(""), {"prompts": {"attest": prompt}})
    assert (done.status, bodies) == (1, [])
    assert "prompts.attest: " in done.err and message in done.err


def test_prompts_are_listed_and_shown() -> None:
    listed = command("judges", "prompts", "--program", "attest", "--json")
    found = {one["name"]: one for one in json.loads(listed.out)["prompts"]}
    assert set(found) == {"own", "alce", "argue", "strict", "trec_rag25", "v0.9"}
    assert found["argue"]["labels"] == {"label": {"YES": "full_support", "NO": "no_support"}}
    assert found["own"]["tokens_estimated"] < 290
    shown = command("judges", "prompts", "show", "trec_rag25", "--program", "attest").out
    assert found["trec_rag25"]["sha256"] in shown and "2504.15205" in shown
    assert "{document}" in shown and "attest_group" not in shown
    assert command("judges", "prompts", "show", "argu").status == 1
    assert "unknown program 'x'" in command("judges", "prompts", "--program", "x").err
