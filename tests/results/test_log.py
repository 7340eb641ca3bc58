"""The debug log leaves out what holds text of documents, where that is asked for."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest

from tests.fakes import item, judgment
from trecjudge.findings import Finding
from trecjudge.records import Failure, Item, ModelCall, Place, Topic, Usage
from trecjudge.results.log import DebugLog

SECRET = "the words of a document"


def logged(document_text: bool) -> list[dict[str, Any]]:
    file = io.BytesIO()
    log = DebugLog(file, document_text)
    log.finding(Finding("instruction_like_text", Place("r.jsonl", 1), f"says {SECRET}", SECRET))
    log.finding(Finding("topic_unknown", Place("r.jsonl", 1), "answers topic 'x'", "x"))
    call = ModelCall("attest", [{"role": "user", "content": SECRET}], SECRET, Usage(), 1, SECRET)
    log.log_judgments("citation", item(), [], [call])
    return [orjson.loads(line) for line in file.getvalue().splitlines()]


@pytest.mark.parametrize("document_text", [True, False])
def test_text_of_documents_is_in_the_log_or_nowhere(document_text: bool) -> None:
    events = logged(document_text)
    assert [e["event"] for e in events] == ["FINDING", "FINDING", "CITATION_INPUT", "MODEL_CALL"]
    assert (SECRET in orjson.dumps(events).decode()) is document_text
    assert events[1]["message"] == "answers topic 'x'"


def test_every_event_of_an_item_says_of_which_run_topic_and_judge_it_is() -> None:
    file = io.BytesIO()
    call = ModelCall("attest", [], "", Usage(), 1, "")
    calls = [ModelCall("attest", [], "", Usage(), 2, "", earlier=(call,))]
    failed = judgment(None, citation="d", doc_id="d", failure=Failure("parse", "no label"))
    log = DebugLog(file)
    log.log_judgments("citation", item(exists=None), [failed, judgment("full_support")], calls)
    log.event("session_end", runs=1)
    *events, end = map(orjson.loads, file.getvalue().splitlines())
    names = [e["event"].removeprefix("CITATION_") for e in events]
    assert names == ["INPUT", "MODEL_CALL", "MODEL_CALL", "OUTPUT", "FAILURE", "OUTPUT"]
    bound = {"run_id": "r", "topic_id": "t1", "judge": "citation", "sentence_index": 0}
    bound |= {"citation_id": "d", "citation_exists": None}
    for event in events:
        assert dict(list(event.items())[2:8]) == bound
    assert list(end) == ["event", "timestamp", "runs"]


def test_what_is_bound_for_one_item_is_not_in_the_next() -> None:
    file = io.BytesIO()
    log = DebugLog(file)
    log.log_judgments("citation", item(), [], [])
    log.log_judgments("length", Item(Topic("t2"), "s", "A claim."), [], [])
    log.finding(Finding("topic_unknown", Place("r.jsonl", 1), "answers topic 'x'", "x"))
    _, second, finding = map(orjson.loads, file.getvalue().splitlines())
    of_an_item = ["run_id", "topic_id", "judge", "sentence_index", "text"]
    assert list(second) == ["event", "timestamp", *of_an_item]
    assert (second["run_id"], second["topic_id"], second["judge"]) == ("s", "t2", "length")
    assert "judge" not in finding


def test_a_lean_log_leaves_out_what_the_judgments_have() -> None:
    file = io.BytesIO()
    log = DebugLog(file, lean=True)
    call = ModelCall("attest", [], "", Usage(), 1, "")
    failed = judgment(None, citation="d", doc_id="d", failure=Failure("document", "not there"))
    decided = [judgment("full_support")]
    log.log_judgments("citation", item(), decided, [])
    log.log_judgments("citation", item(), [*decided, failed], [])
    log.log_judgments("citation", item(), decided, [call])
    log.log_judgments("citation", item(), decided, [], group=2, shared=[call])
    log.log_judgments("citation", item(), [failed], [], trace="Traceback")
    log.of_audit.log_judgments("citation", item(), decided, [])
    log.finding(Finding("topic_unknown", Place("r.jsonl", 1), "answers topic 'x'", "x"))
    log.event("session_end", runs=1)
    names = [orjson.loads(line)["event"] for line in file.getvalue().splitlines()]
    assert [name.removeprefix("CITATION_") for name in names] == [
        "FAILURE",  # of an item that no model was asked about
        *("INPUT", "MODEL_CALL", "OUTPUT"),
        *("INPUT", "OUTPUT"),  # its call stands with another item of its group
        *("INPUT", "OUTPUT", "FAILURE", "BUG"),
        *("INPUT", "OUTPUT"),  # of an audit: no file has its judgments
        "FINDING",
        "session_end",
    ]


def test_a_judge_of_a_module_is_named_in_full_and_its_events_for_short() -> None:
    file = io.BytesIO()
    DebugLog(file, True).log_judgments("mine.own:Citation", item(), [], [])
    (event,) = map(orjson.loads, file.getvalue().splitlines())
    assert (event["judge"], event["event"]) == ("mine.own:Citation", "CITATION_INPUT")
