"""The debug log leaves out what holds text of documents, where that is asked for."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest

from tests.fakes import item
from trecjudge.findings import Finding
from trecjudge.log import DebugLog
from trecjudge.records import ModelCall, Place, Usage

SECRET = "the words of a document"


def logged(document_text: bool) -> list[dict[str, Any]]:
    file = io.BytesIO()
    log = DebugLog(file, document_text)
    log.finding(Finding("instruction_like_text", Place("r.jsonl", 1), f"says {SECRET}", SECRET))
    log.finding(Finding("topic_unknown", Place("r.jsonl", 1), "answers topic 'x'", "x"))
    call = ModelCall("attest", [{"role": "user", "content": SECRET}], SECRET, Usage(), 1, SECRET)
    log.judged("CITATION", item(), [], [call])
    return [orjson.loads(line) for line in file.getvalue().splitlines()]


@pytest.mark.parametrize("document_text", [True, False])
def test_text_of_documents_is_in_the_log_or_nowhere(document_text: bool) -> None:
    events = logged(document_text)
    assert [e["event"] for e in events] == ["FINDING", "FINDING", "CITATION_INPUT", "MODEL_CALL"]
    assert (SECRET in orjson.dumps(events).decode()) is document_text
    assert events[1]["message"] == "answers topic 'x'"
