"""Traces as each tool writes them, and those that are broken, huge or hostile."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from tests.reading import Read, lines_of

Q, A, C = "How high is the tower?", "It has 148 steps.", "The tower has 148 steps."
KIND = "openinference.span.kind"
CHAIN = {KIND: "CHAIN", "input.value": Q, "output.value": A}
SEARCH = {KIND: "RETRIEVER", "retrieval.documents.0.document.content": C}
CHAT = {
    "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"content": Q}]}]),
    "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"content": A}]}]),
}


def span(span_id: str, parent: str | None, attributes: Any, **more: Any) -> dict[str, Any]:
    """Return a span as OpenTelemetry's exporters print it."""
    context = {"trace_id": "t", "span_id": span_id}
    return {"context": context, "parent_id": parent, "attributes": attributes, **more}


def flat(span_id: str, parent: str | None, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return a span as a row of Phoenix' data frame."""
    ids = {"context.trace_id": "t", "context.span_id": span_id, "parent_id": parent}
    return ids | {f"attributes.{key}": value for key, value in attributes.items()}


def event(name: str, **attributes: str) -> dict[str, Any]:
    """Return an event of a span; `__` in a name stands for a dot."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return {"name": name, "attributes": named}


def table(*rows: dict[str, Any]) -> str:
    """Return rows as CSV."""
    written = io.StringIO()
    writer = csv.DictWriter(written, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


FOUND = [{"document.content": C, "document.score": 0.5}]
ROWS = flat("1", None, CHAIN), flat("2", "1", {KIND: "RETRIEVER", "retrieval.documents": FOUND})
TRULENS = (
    {"record_attributes": {"ai.observability.record_root.input": Q,
     "ai.observability.record_root.output": A}, "trace": {"trace_id": "t", "span_id": "1"}},
    {"record_attributes": {"ai.observability.retrieval.retrieved_contexts": [C]},
     "record": {"parent_id": "1"}, "trace": {"trace_id": "t", "span_id": "2"}},
)  # fmt: skip
LANGFUSE = {"id": "t", "input": Q, "output": A, "observations": ["o"]}
TRACES = {
    "attributes as text": lines_of(
        span("1", None, json.dumps(CHAIN)), span("2", "1", json.dumps(SEARCH))
    ),
    "attributes as objects": lines_of(
        span("1", None, {"input": {"value": Q}, "output": {"value": A}}),
        span("2", "1", {"retrieval": {"documents": [{"document": {"content": C}}]}}),
    ),
    "Phoenix' rows": table(*ROWS),
    "Phoenix' columns": json.dumps({k: {"0": ROWS[0].get(k), "1": v} for k, v in ROWS[1].items()}
    | {k: {"0": v, "1": None} for k, v in ROWS[0].items() if k not in ROWS[1]}),
    "TruLens' events": lines_of(*TRULENS),
    "TruLens' table": table(*({k: json.dumps(v) for k, v in row.items()} for row in TRULENS)),
    "TruLens' record": json.dumps({"record_id": "r", "input": Q, "output": A, "events": TRULENS}),
    "a search by GenAI": lines_of(
        span("1", None, CHAT),
        span("2", "1", {"gen_ai.operation.name": "retrieval",
             "gen_ai.retrieval.documents": json.dumps([{"id": "d", "content": C}])}),
    ),
    "a tool of an agent": lines_of(
        span("1", None, {"gen_ai.operation.name": "invoke_agent", **CHAT}),
        span("2", "1", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": C}),
    ),
    "messages as events": lines_of(
        span("1", None, {}, events=[
            event("gen_ai.user.message", content=Q),
            event("gen_ai.choice", message=json.dumps({"role": "assistant", "content": A}))]),
        span("2", "1", SEARCH),
    ),
    "details as an event": lines_of(
        span("1", None, {}, events=[{"name": "gen_ai.operation.details", "attributes": CHAT}]),
        span("2", "1", SEARCH),
    ),
    "OpenLLMetry": lines_of(
        span("1", None, {"traceloop.entity.input": json.dumps({"args": [Q], "kwargs": {}}),
             "traceloop.entity.output": json.dumps(A)}),
        span("2", "1", {"db.system": "chroma"}, events=[
             event("db.query.result", db__query__result__document=C)]),
    ),
    "a task of OpenLLMetry": lines_of(
        span("1", None, {"traceloop.entity.input": json.dumps({"inputs": {"question": Q}}),
             "traceloop.entity.output": json.dumps({"outputs": A})}),
        span("2", "1", {"traceloop.entity.output": json.dumps([C])}, name="retrieve.task"),
    ),
    "MLflow's search": json.dumps([{"trace_id": "tr", "request": {"q": Q}, "response": A, "spans": [
        {"trace_id": "x", "span_id": "1", "parent_span_id": "0",
         "attributes": {"mlflow.spanType": '"RETRIEVER"', "mlflow.spanOutputs": json.dumps([C])}}
    ]}]),
    "Langfuse's observations on lines of their own": lines_of(
        LANGFUSE, {"id": "o", "traceId": "t", "type": "RETRIEVER", "parentObservationId": None,
                   "output": [C]},
    ),
    "a cycle": lines_of(span("1", "2", CHAIN), span("2", "1", SEARCH)),
    "its own parent": lines_of(span("1", "1", CHAIN), span("2", "1", SEARCH)),
    "an error": lines_of(
        span("1", None, CHAIN), span("2", "1", SEARCH),
        span("3", "1", {KIND: "RETRIEVER"}, status={"status_code": "ERROR"},
             events=[event("exception", exception__message="The search timed out.")]),
    ),
    "no span": lines_of(
        span("1", None, CHAIN), span("2", "1", SEARCH),
        {"trace_id": "t", "span_id": ["x"], "parent_id": {}, "attributes": [1], "events": [2]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", TRACES.values(), ids=TRACES)
def test_a_trace_of(text: str, read: Read) -> None:
    found = read(text, "mine.csv" if text[0] not in "[{" else "mine.jsonl")
    ((topic, response),) = found.pairs
    assert (topic.title, response.text) == (Q, A)
    assert [d.text for d in response.documents.values()] == [C]
    assert set(found.kinds) <= {"trace_unused"}


def test_evaluations_with_columns_of_paths(read: Read) -> None:
    for separator in "./":
        text = f"inputs{separator}question,outputs{separator}answer,outputs{separator}contexts\n"
        found = read(f'{text}{Q},{A},"[""{C}""]"\n', "mine.csv")
        ((topic, response),) = found.pairs
        assert (topic.title, response.text, found.kinds) == (Q, A, [])
        assert [d.text for d in response.documents.values()] == [C]


def test_what_was_ranked_again_comes_first(read: Read) -> None:
    first = {KIND: "RETRIEVER", "retrieval.documents": [{"id": "a", "text": "A."}]}
    again = {KIND: "RERANKER", "reranker.output_documents": [{"id": "b", "text": "B."}]}
    spans = span("1", None, CHAIN), span("2", "1", first), span("3", "1", again)
    assert read(lines_of(*spans)).response.retrieved == ("b", "a")


def test_two_searches_are_in_the_order_of_their_times(read: Read) -> None:
    def search(name: str, start: int) -> dict[str, Any]:
        documents = [{"id": name, "text": f"{name}."}]
        given = {KIND: "RETRIEVER", "retrieval.documents": documents}
        return span(name, "1", given, startTimeUnixNano=start)

    found = read(lines_of(span("1", None, CHAIN), search("late", 10), search("early", 9)))
    assert found.response.retrieved == ("early", "late")


def test_a_trace_of_ten_thousand_spans(read: Read) -> None:
    steps = (span(str(n), str(n - 1), {KIND: "CHAIN"}) for n in range(2, 10_000))
    found = read(lines_of(span("1", None, CHAIN), *steps, span("s", "9999", SEARCH)))
    assert [d.text for d in found.response.documents.values()] == [C]


def test_a_root_that_failed_gave_no_answer(read: Read) -> None:
    asked = {"input.value": Q}
    failed = span("1", None, asked, status={"status_code": "ERROR"}), span("2", "1", SEARCH)
    assert read(lines_of(*failed)).response.text == ""
    assert read(lines_of(span("1", None, asked), failed[1])).pairs == []


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        ({"retrieval.documents.0.document.id": "d"}, "['document.id']"),
        ({"output.value": json.dumps({"k": {"a": "One text.", "b": "Two texts."}})}, "k.a"),
    ],
    ids=["only an id", "no text for sure"],
)
def test_a_search_that_is_not_understood_is_unread(
    given: dict[str, str], keys: str, read: Read
) -> None:
    found = read(lines_of(span("1", None, CHAIN), span("2", "1", {KIND: "RETRIEVER", **given})))
    assert [d.complete for d in found.response.documents.values()] == [False]
    assert keys in "".join(f.message for f in found.findings if f.kind == "document_not_read")


def test_the_id_of_a_question_is_that_of_the_trace_where_it_has_no_other(read: Read) -> None:
    trace = span("1", None, {"output.value": A}), span("2", "1", SEARCH)
    assert read(lines_of(*trace)).response.topic_id == "t"
    named = span("1", None, {**CHAIN, "metadata": json.dumps({"question_id": "q7"})})
    assert read(lines_of(named)).response.topic_id == "q7"


def test_what_is_not_used_is_said_once(read: Read) -> None:
    more = {"llm.model_name": "m", "llm.token_count.total": 9}
    found = read(lines_of(span("1", None, CHAIN | more, start_time="1"), span("2", "1", SEARCH)))
    said = [finding.message for finding in found.findings if finding.kind == "trace_unused"]
    assert said == ["has traces that also say models, times, tokens"]
