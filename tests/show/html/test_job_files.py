"""What a report takes from a job's files, and the texts in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.show.html.test_blocks import unpacked
from trecjudge.errors import InputError
from trecjudge.inputs.packed import PackedRows
from trecjudge.results.config import RecordedInputs
from trecjudge.show.html.blocks import Blocks
from trecjudge.show.html.job import (
    Texts,
    read_log,
    read_texts,
    topics_for_page,
)

Write = Callable[..., Path]


def test_a_log_gives_the_events_that_are_asked_for(write: Write) -> None:
    events: list[dict[str, Any]] = []
    log = write(
        '{"event":"FINDING","n":1}\n{"event":"OTHER","n":2}\n{"event":"FINDING","n":3}\n'
        '{"event":"FINDING","n":4',  # of a job that broke off
        "x.log",
    )
    assert read_log(log, {"FINDING": events.append})
    assert [event["n"] for event in events] == [1, 3]
    assert not read_log(log.parent / "none.log", {"FINDING": events.append})


def test_a_packed_log_is_read_and_one_that_is_cut_is_an_error(write: Write) -> None:
    events: list[dict[str, Any]] = []
    packed = zstandard.compress(b'{"event":"FINDING","n":1}\n{"event":"FINDING","n":2}\n')
    log = write(packed, "x.log.zst")
    for path in (log, log.with_suffix("")):
        assert read_log(path, {"FINDING": events.append})
    assert [event["n"] for event in events] == [1, 2, 1, 2]
    log.write_bytes(packed[:-4])
    with pytest.raises(InputError, match=r"x\.log\.zst: cannot be read.*; it is cut or damaged: "):
        read_log(log, {"FINDING": events.append})


def run(name: str, text: str, topic: str = "t1") -> str:
    """Return a line of a run whose document `d` has this text."""
    return json.dumps(
        {
            "metadata": {"team_id": "x", "run_id": name, "topic_id": topic},
            "responses": [{"text": "S.", "citations": ["d", "e"]}],
            "documents": {"d": {"title": "T", "text": text}, "e": "", "u": "never cited"},
        }
    )


def texts_of(
    inputs: RecordedInputs, wanted: Mapping[tuple[str, str], list[str]], strict: bool = False
) -> tuple[Texts, dict[str, Any]]:
    blocks, ids = Blocks(["t1", "t2"]), PackedRows()
    for group, named_in_it in wanted.items():
        ids.put(group, named_in_it)
    texts = read_texts(inputs, lambda run_id: blocks, ids, strict)
    return texts, {name: unpacked(block) for name, block in blocks.pack().items()}


def places(texts: Texts) -> dict[Any, dict[str, int]]:
    return {group: dict(texts.places.rows(group)) for group in texts.places}


def test_a_document_stands_once_in_its_topic(write: Write) -> None:
    runs = (write(run("a", "One."), "a.jsonl"), write(run("b", "One."), "b.jsonl"))
    texts, blocks = texts_of(RecordedInputs(runs=runs), {("a", "t1"): ["d"], ("b", "t1"): ["d"]})
    assert places(texts) == {("a", "t1"): {"d": 0}, ("b", "t1"): {"d": 0}}
    assert [(d["id"], d["text"]) for d in blocks["documents-0"]] == [("d", "T\nOne.")]


def test_runs_that_carry_different_texts_keep_their_own(write: Write) -> None:
    runs = (write(run("a", "One."), "a.jsonl"), write(run("b", "Two."), "b.jsonl"))
    texts, blocks = texts_of(RecordedInputs(runs=runs), {("a", "t1"): ["d"], ("b", "t1"): ["d"]})
    assert [places(texts)[r, "t1"]["d"] for r in ("a", "b")] == [0, 1]
    assert [d["text"] for d in blocks["documents-0"]] == ["T\nOne.", "T\nTwo."]


def test_only_what_is_wanted_and_has_text(write: Write) -> None:
    lines = f"{run('a', 'One.')}\n{run('a', 'One.', 't2')}\n{run('a', 'One.', 't3')}\n"
    wanted = {("a", "t1"): ["d", "e", "nowhere"], ("a", "t3"): ["d"]}
    texts, blocks = texts_of(RecordedInputs(runs=(write(lines, "a.jsonl"),)), wanted)
    assert places(texts)["a", "t1"] == {"d": 0}
    assert list(blocks) == ["documents-0"]
    path = write(lines, "a.jsonl")
    found = {
        place: texts.response_at(place) for place in (f"{path}:2", f"{path}:9", f"{path}", "b:2")
    }
    assert [*found.values()] == [("a", "t2"), None, None, None]


def test_documents_given_beside_the_runs(write: Write) -> None:
    beside = write('{"docid": "e", "text": "Beside."}', "documents.jsonl")
    inputs = RecordedInputs(runs=(write(run("a", "One."), "a.jsonl"),), documents=(beside,))
    _, blocks = texts_of(inputs, {("a", "t1"): ["d", "e"]})
    assert [d["text"] for d in blocks["documents-0"]] == ["T\nOne.", "Beside."]


@pytest.mark.parametrize(("own", "text"), [(False, "Beside."), (True, "T\nOne.")])
def test_the_text_is_the_one_that_was_judged(own: bool, text: str, write: Write) -> None:
    beside = write('{"docid": "d", "text": "Beside."}', "documents.jsonl")
    runs = (write(run("a", "One."), "a.jsonl"),)
    inputs = RecordedInputs(runs=runs, documents=(beside,), own_documents=own)
    _, blocks = texts_of(inputs, {("a", "t1"): ["d"]})
    assert [d["text"] for d in blocks["documents-0"]] == [text]


def test_text_that_is_to_stay_out_stays_out(write: Write) -> None:
    inputs = RecordedInputs(runs=(write(run("a", "One."), "a.jsonl"),), document_text=False)
    texts, blocks = texts_of(inputs, {("a", "t1"): ["d"]})
    assert (places(texts), blocks) == ({}, {})


def test_inputs_that_are_gone_are_noted_or_refused(tmp_path: Path) -> None:
    gone = RecordedInputs(topics=tmp_path / "topics.jsonl")
    texts, _ = texts_of(gone, {})
    (note,) = texts.missing
    assert "no such topic file; give --rag-topics, --rag-responses, --documents" in note
    with pytest.raises(InputError, match="no such topic file"):
        texts_of(gone, {}, strict=True)


def test_a_topic_is_named_as_far_as_it_is_known(write: Write) -> None:
    topics = write('{"request_id": "t1", "title": "Trams", "background": "B"}', "t.jsonl")
    texts, _ = texts_of(RecordedInputs(topics=topics), {})
    known, unknown = topics_for_page(texts.topics, ["t1", "t9"])
    assert (known["title"], known["background"]) == ("Trams", "B")
    assert unknown == {"id": "t9", "title": "", "problem": "", "background": "", "body": ""}
