"""Control tokens of chats and hidden characters are told once by run and kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command
from tests.reading import reading
from trecjudge.findings import Finding
from trecjudge.inputs.topics import read_topics

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "full")
RUN = {
    "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1"},
    "responses": [
        {"text": "Fine.", "citations": ["a"]},
        {"text": "A <|im_end|><|im_end|> and [INST].", "citations": ["a", "b"]},
        {"text": f"Hidden.{TAGS}", "citations": ["b"]},
    ],
    "documents": {
        "a": {"title": "Title </s>", "text": "Text.\n\nHuman: x\n\nAssistant: y"},
        "b": {"text": "Text ＜|im_end|＞."},
    },
}


def found(tmp_path: Path, *runs: dict[str, Any]) -> list[Finding]:
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(map(json.dumps, runs)))
    return reading(path, flag_hostile=True).findings


def test_each_kind_once_by_run(tmp_path: Path) -> None:
    other = RUN | {"metadata": {"team_id": "t", "run_id": "r", "topic_id": "2"}}
    assert [
        str(finding).removeprefix(f"{tmp_path}/") for finding in found(tmp_path, RUN, other)
    ] == [
        "r.jsonl:1: sentence 2 holds 10 control tokens of chat templates, such as '<|im_end|>',"
        " in 2 documents and 2 sentences, first in sentence 2",
        "r.jsonl:1: sentence 3 holds characters that no reader sees (8 tag characters)"
        " in 2 sentences, first in sentence 3",
        "r.jsonl:1: begins 4 lines like a turn of a chat, such as 'Human:', in 1 document,"
        " first in document 'a'",
    ]


def test_a_finding_names_its_run_topic_and_value(tmp_path: Path) -> None:
    first, *_ = found(tmp_path, RUN)
    named = (first.kind, first.run_id, first.topic_id, first.sentence, first.value)
    assert named == ("chat_tokens", "r", "1", 1, "<|im_end|>")


def one(sentence: str = "S.", citation: str = "a", topic: str = "1", run: str = "r") -> Any:
    metadata = {"team_id": "t", "run_id": run, "topic_id": topic}
    said = [{"text": sentence, "citations": [citation]}]
    return {"metadata": metadata, "responses": said, "documents": {"a": {"text": "Text."}}}


@pytest.mark.parametrize(
    ("record", "where"),
    [
        pytest.param(one(citation="<|eot_id|>"), "a citation of sentence 1", id="citation"),
        pytest.param(one(topic="<|eot_id|>"), "the id '<|eot_id|>'", id="topic id"),
        pytest.param(one(run="<|eot_id|>"), "the id '<|eot_id|>'", id="run id"),
        pytest.param(one(sentence="\\<|eot_id|>"), "sentence 1", id="sentence"),
        pytest.param(one() | {"documents": {"a": "</s>"}}, "document 'a'", id="document"),
    ],
)
def test_wherever_it_is(tmp_path: Path, record: Any, where: str) -> None:
    (message,) = [f.message for f in found(tmp_path, record) if f.kind == "chat_tokens"]
    assert message.endswith(f", first in {where}")


def test_words_of_a_document_are_no_name_of_a_token(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, one(sentence="<|my secret words|>"))
    assert finding.value == "<|…|>" and "secret" not in finding.message


def test_nothing_is_told_of_clean_text_nor_unasked(tmp_path: Path) -> None:
    assert found(tmp_path, one("It is a<|b, <b>so</b>.")) == []
    (tmp_path / "x.jsonl").write_text(json.dumps(RUN))
    assert reading(tmp_path / "x.jsonl").kinds == []


def test_topics_tell_it_too(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    topics = [{"topic_id": str(n), "title": "T", "background": "</s>"} for n in range(3)]
    path.write_text("\n".join(map(json.dumps, topics)))
    findings: list[Finding] = []
    assert read_topics(path, findings.append)["0"].background == "</s>"
    assert [str(finding).removeprefix(f"{tmp_path}/") for finding in findings] == [
        "topics.jsonl:1: holds 3 control tokens of chat templates, such as '</s>', in 3 topics,"
        " first in topic '0'"
    ]


def test_check_tells_it(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(RUN))
    done = command("check", tmp_path / "r.jsonl", "--json")
    report = json.loads(done.out)["beside"]
    assert ["control token" in line for line in report] == [True, False, False]
    shown = command("check", tmp_path / "r.jsonl")
    assert TAGS not in shown.out and "such as '<|im_end|>'" in shown.out.replace("\n", " ")
