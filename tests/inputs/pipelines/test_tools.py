"""Records and traces, in the shape in which each tool writes them."""

from __future__ import annotations

import json

import pytest

from tests.reading import Read
from trecjudge.inputs.formats.registry import format_named
from trecjudge.inputs.pipelines.reading import records_in

Q, C = "When did the ferry Perch enter service?", "The ferry Perch entered service on 3 May 2022."
USER = '{"role": "user", "content": "$Q"}'
AI = '{"role": "assistant", "content": "$A"}'
FOUND = '[{"page_content": "$C", "metadata": {}}]'
SPAN = '"trace_id": "t", "parent_id": "1", "span_id"'
OPEN = '"retrieval.documents.0.document.content": "$C"'
RECORDS = {
    "LangSmith with child runs": '{"id": "r", "trace_id": "r", "run_type": "chain", "inputs": {"q":'
    ' "$Q"}, "outputs": {"output": "$A"}, "child_runs": [{"id": "c", "trace_id": "r",'
    f' "parent_run_id": "r", "run_type": "retriever", "outputs": {{"documents": {FOUND}}}}}]}}',
    "LangGraph": '{"id": "r", "trace_id": "r", "run_type": "chain", "inputs": {"messages":'
    ' [$USER]}, "outputs": {"messages": [{"type": "human", "data": {"content": "$Q"}},'
    ' {"type": "tool", "data": {"content": "$C"}}, {"type": "ai", "data": {"content": "$A"}}]}}',
    "messages by LangChain's dumps": '{"messages": ['
    '{"lc": 1, "type": "constructor", "id": ["m", "HumanMessage"], "kwargs": {"content": "$Q"}},'
    ' {"lc": 1, "type": "constructor", "id": ["m", "ToolMessage"], "kwargs": {"content": "$C"}},'
    ' {"lc": 1, "type": "constructor", "id": ["m", "AIMessage"], "kwargs": {"content": "$A"}}]}',
    "texts by LangChain's dumps": '{"input": "$Q", "answer": "{\\"lc\\": 1, \\"type\\":'
    ' \\"constructor\\", \\"id\\": [\\"AIMessage\\"], \\"kwargs\\": {\\"content\\": \\"$A\\"}}",'
    ' "context": {"docs": [{"lc": 1, "type": "constructor", "id": ["Document"], "kwargs":'
    ' {"page_content": "$C"}}]}}',
    "a state of LangGraph": '{"values": {"messages": [{"type": "human", "content": "$Q"},'
    ' {"type": "tool", "content": "$C"}, {"type": "ai", "content": "$A"}]}, "next": []}',
    "messages of a whole file": '[{"type": "human", "data": {"content": "$Q"}}, {"type": "tool",'
    ' "data": {"content": "$C"}}, {"type": "ai", "data": {"content": "$A"}}]',
    "an object of a tool": '{"messages": [$USER, {"role": "tool", "content": {"k": {"t": "$C"}}},'
    " $AI]}",
    "promptfoo's output": '{"vars": {"question": "$Q"}, "response": {"output": {"answer": "$A",'
    ' "context": ["$C"]}}}',
    "Langfuse": '{"id": "t", "input": {"messages": [$USER]}, "output": $AI, "observations": ['
    '{"id": "o", "traceId": "t", "type": "RETRIEVER", "parentObservationId": null, "output":'
    f" {FOUND}}}]}}",
    "MLflow 2": '{"info": {}, "data": {"spans": [{"context": {"span_id": "1", "trace_id": "t"},'
    ' "parent_id": null, "attributes": {"mlflow.spanInputs": "{\\"q\\": \\"$Q\\", \\"k\\": 3}",'
    ' "mlflow.spanOutputs": "{\\"choices\\": [{\\"message\\": {\\"content\\": \\"$A\\"}}]}"}},'
    ' {"context": {"span_id": "2", "trace_id": "t"}, "parent_id": "1", "attributes":'
    ' {"mlflow.spanType": "\\"RETRIEVER\\"", "mlflow.spanOutputs": "[\\"$C\\"]"}}]}}',
    "MLflow's search": f'{{"trace_id": "t", "request": {{"q": "$Q"}}, "response": "$A", "spans":'
    f' [{{{SPAN}: "2", "span_type": "RETRIEVER", "outputs": {FOUND}}}]}}',
    "OpenTelemetry": '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t", "spanId": "1",'
    ' "attributes": [{"key": "input.value", "value": {"stringValue": "$Q"}}, {"key":'
    ' "output.value", "value": {"stringValue": "$A"}}]}, {"traceId": "t", "spanId": "2",'
    ' "parentSpanId": "1", "attributes": [{"key": "retrieval.documents.0.document.content",'
    ' "value": {"stringValue": "$C"}}]}]}]}]}',
    "a root without output": f'{{"data": [{{{SPAN}: "1", "parent_id": null}}, {{{SPAN}: "2",'
    ' "attributes": {"llm.input_messages.0.message.role": "user",'
    ' "llm.input_messages.0.message.content": "$Q", "llm.output_messages.0.message.role":'
    ' "assistant", "llm.output_messages.0.message.content": "$A"}},'
    f' {{{SPAN}: "3", "attributes": {{{OPEN}}}}}]}}',
    "spans on lines": f'{{{SPAN}: "2", "attributes": {{{OPEN}}}}}\n{{{SPAN}: "1", "parent_id":'
    ' null, "attributes.input.value": "$Q", "attributes.output.value": "$A"}',
    "TruLens' spans": f'{{"data": [{{{SPAN}: "1", "parent_id": "", "record_attributes":'
    ' {"ai.observability.record_root.input": "$Q", "ai.observability.record_root.output": "$A"}},'
    f' {{{SPAN}: "2", "record_attributes": {{"ai.observability.retrieval.retrieved_contexts":'
    ' ["$C"]}}]}',
    "Azure": '{"rows": [{"inputs.query": "$Q", "inputs.response": "$A", "inputs.context": "$C",'
    ' "outputs.groundedness.groundedness": 5.0}], "metrics": {}}',
    "Azure's conversations": '{"rows": [{"inputs.conversation": {"messages": [$USER, {"role":'
    ' "assistant", "content": "$A", "context": {"citations": [{"id": "f", "content": "$C"}]}}]}}]}',
    "inspect_ai": '{"eval": {"model": "m"}, "samples": [{"id": 1, "input": "$Q", "messages":'
    ' [{"role": "user", "content": "Use this: $Q"}, {"role": "assistant", "content": "",'
    ' "tool_calls": [{}]}, {"role": "tool", "content": "$C"}, $AI], "output": {"choices":'
    ' [{"message": $AI}], "completion": "$A"}, "metadata": {"sources": ["f.pdf"]}}]}',
    "lm-evaluation-harness": '{"doc_id": 0, "doc": {"question": "$Q", "context": "$C", "answer":'
    ' "Gold."}, "arguments": {"gen_args_0": {"arg_0": "Q: $Q"}}, "resps": [["$A"]],'
    ' "filtered_resps": ["$A"]}',
    "Haystack": '{"retriever": {"documents": []}, "answer_builder": {"answers": [{"data": "$A",'
    ' "query": "$Q", "documents": [{"content": "$C", "meta": {}}]}]}}',
    "Haystack's to_dict": '{"type": "haystack.GeneratedAnswer", "init_parameters": {"data": "$A",'
    ' "query": "$Q", "documents": [{"content": "$C"}]}}',
    "Vertex": '{"request": {"contents": [{"role": "user", "parts": [{"text": "$Q"}]}]}, "response":'
    ' {"candidates": [{"content": {"role": "model", "parts": [{"text": "In May "}, {"text":'
    ' "2022."}]}, "groundingMetadata": {"groundingChunks": [{"retrievedContext": {"text": "$C"}}]}'
    "}]}}",
    "Bedrock": '{"input": {"text": "$Q"}, "output": {"text": "$A"}, "citations":'
    ' [{"generatedResponsePart": {"textResponsePart": {"text": "$A", "span": {"start": 0, "end":'
    ' 11}}}, "retrievedReferences": [{"content": {"text": "$C"}}]}]}',
    "Bedrock's evaluations": '{"conversationTurns": [{"inputRecord": {"prompt": {"content":'
    ' [{"text": "$Q"}]}}, "output": {"text": "$A", "retrievedPassages":'
    ' {"retrievalResults": ["$C"]}}}]}',
    "Perplexity": '{"messages": [$USER], "choices": [{"message": $AI}], "citations":'
    ' ["https://a"], "search_results": [{"url": "https://a", "snippet": "$C"}]}',
    "OpenAI's Responses": '{"input": "$Q", "output": [{"type": "reasoning", "summary": []},'
    ' {"type": "file_search_call", "results": [{"file_id": "", "text": "$C"}]}, {"type": "message",'
    ' "role": "assistant", "content": [{"type": "output_text", "text": "$A"}]}]}',
    "Phoenix' experiments": '{"input": {"question": "$Q"}, "output": {"answer": "$A", "contexts":'
    ' ["$C"]}, "expected": {"answer": "Gold."}}',
    "Anthropic's tools": '{"messages": [$USER, {"role": "assistant", "content":'
    ' [{"type": "tool_use", "id": "1"}]}, {"role": "user", "content":'
    ' [{"type": "tool_result", "content": [{"type": "text", "text": "$C"}]}]}, $AI]}',
    "Anthropic's documents": '{"messages": [{"role": "user", "content": [{"type": "document",'
    ' "source": {"type": "text", "data": "$C"}}, {"type": "text", "text": "$Q"}]}, $AI]}',
    "Bedrock's tools": '{"messages": [{"role": "user", "content": [{"text": "$Q"}]}, {"role":'
    ' "user", "content": [{"toolResult": {"toolUseId": "1", "content":'
    ' [{"json": {"docs": ["$C"]}}]}}]}, $AI]}',
    "Gemini's functions": '{"contents": [$USER, {"role": "user", "parts": [{"functionResponse":'
    ' {"name": "f", "response": {"result": "$C"}}}]}, $AI]}',
    "Cohere's tools": '{"messages": [$USER, {"role": "tool", "content": [{"type": "document",'
    ' "document": {"id": "d", "data": "{\\"text\\": \\"$C\\"}"}}]}, $AI]}',
    "OpenAI's functions": '{"input": [$USER, {"type": "function_call_output", "call_id": "1",'
    ' "output": "$C"}], "output": [$AI]}',
    "OpenAI's file search": '{"question": "$Q", "response": {"output": [{"type":'
    ' "file_search_call", "results": [{"file_id": "f", "content": [{"type": "text",'
    ' "text": "$C"}]}]}, $AI]}}',
    "Azure's context of a message": '{"conversation": {"messages": [$USER, {"role": "assistant",'
    ' "content": "$A", "context": "$C"}]}}',
    "Langfuse without observations": '{"id": "t", "input": "$Q", "output": "$A", "metadata":'
    ' {"contexts": ["$C"], "chunks": 1}}',
    "a span that is named": '{"id": "t", "input": "$Q", "output": "$A", "observations": ['
    '{"id": "o", "traceId": "t", "type": "SPAN", "name": "retrieval", "output": ["$C"],'
    ' "parentObservationId": null}]}',
    "Databricks": '{"request": "$Q", "response": "$A", "retrieved_context": [{"doc_uri": "a.md",'
    ' "content": "$C"}]}',
    "Cohere 1": '{"message": "$Q", "response": {"text": "$A", "documents": [{"id": "d", "snippet":'
    ' "$C"}]}}',
    "ShareGPT": '{"conversations": [{"from": "human", "value": "$Q"}, {"from": "gpt", "value":'
    ' "$A"}], "contexts": ["$C"]}',
    "DeepEval's turns": '{"test_results": [{"turns": [$USER, {"role": "assistant", "content": "$A",'
    ' "retrieval_context": ["$C"]}]}]}',
}


@pytest.mark.parametrize("text", RECORDS.values(), ids=RECORDS)
def test_a_record_of(text: str, read: Read) -> None:
    for name, value in (("USER", USER), ("AI", AI), ("Q", Q), ("A", "In May 2022."), ("C", C)):
        text = text.replace(f"${name}", value)
    found = read(text, "mine.jsonl")
    ((topic, response),) = found.pairs
    assert (response.run_id, topic.title, response.text) == ("mine", Q, "In May 2022.")
    assert [d.text for d in response.documents.values()] == [C]
    assert found.kinds == []


def test_a_document_in_a_file_has_a_text_that_nobody_knows(read: Read) -> None:
    part = '{"type": "document", "source": {"type": "base64", "data": "JVBE"}}'
    text = '{"type": "text", "text": "$Q"}'
    found = read(
        f'{{"messages": [{{"role": "user", "content": [{part}, {text}]}}, {AI}]}}', "mine.jsonl"
    )
    assert [d.complete for d in found.response.documents.values()] == [False]


def test_what_was_retrieved_is_in_the_order_of_the_search(read: Read) -> None:
    found = read(
        '{"trace_id": "t", "span_id": "2", "parent_id": "1", "type": "RETRIEVER", "output":'
        ' [{"id": "b", "text": "B."}, {"id": "a", "text": "A."}]}\n{"trace_id": "t", "span_id":'
        ' "1", "inputs": "Q?", "outputs": {"answer": "A.", "sources": ["f.pdf"]}}'
    )
    assert found.response.retrieved == found.response.references == ("b", "a")


def test_an_answer_that_is_traced_again_has_the_same_contexts(read: Read) -> None:
    root = '{"trace_id": "%s", "span_id": "1", "inputs": "Q?", "outputs": "A."}\n'
    search = (
        '{"trace_id": "t", "span_id": "2", "parent_id": "1", "type": "RETRIEVER", "output": "A"}'
    )
    assert read(root % "t" + root % "u" + search).kinds == ["response_duplicate"]


@pytest.mark.parametrize(
    "record",
    [
        '{"question": "Q?", "context": "C.", "answers": {"text": ["Gold."]}}',
        '{"question": "Q?", "choices": [{"label": "A", "text": "Yes."}], "context": "C."}',
        '{"question": "Q?", "answers": ["Gold."], "ctxs": ["C."]}',
        '{"doc": {"question": "Q?", "answer": "Gold."}, "filtered_resps": [[-1.5, false]]}',
        '{"trace_id": "t", "span_id": "2", "parent_id": "1", "retrieval.documents": ["C."]}',
    ],
    ids=["SQuAD", "a choice", "DPR", "likelihoods", "a search without an answer"],
)
def test_what_holds_no_answer_is_no_response(record: str, read: Read) -> None:
    assert read(record, "mine.jsonl").kinds == ["record_unknown_shape", "file_without_responses"]


@pytest.mark.parametrize(
    ("record", "key"),
    [
        ('{"question": "Q?", "answer": {"k": {"v": "Yes."}}, "contexts": ["C."]}', "answer.k.v"),
        ('{"topic_id": "1", "answer": {"k": "Yes."}, "references": []}', "answer.k"),
        (f'{{"messages": [{USER}, {{"role": "assistant", "content": {{"k": "Yes, so."}}}}]}}', "k"),
        (f'{{"messages": [{USER}, {{"role": "assistant", "body": "Yes, so."}}]}}', "answer.body"),
    ],
    ids=["an object", "an object in a track's record", "a content", "a message"],
)
def test_an_answer_that_is_not_understood_is_not_empty(record: str, key: str, read: Read) -> None:
    found = read(record, "mine.jsonl")
    assert found.kinds == ["record_unknown_shape", "file_without_responses"]
    assert key in found.findings[0].message


@pytest.mark.parametrize(
    "answer",
    [
        '{"text": ""}',
        '{"role": "assistant", "content": null}',
        '{"role": "assistant", "content": [{"type": "tool_use", "input": {"q": "Two words"}}]}',
    ],
)
def test_an_answer_that_is_empty_is_a_response(answer: str, read: Read) -> None:
    found = read(f'{{"question": "Q?", "answer": {answer}, "contexts": ["C."]}}', "mine.jsonl")
    assert (found.response.text, found.kinds) == ("", ["response_empty"])


def test_the_result_of_a_tool_that_is_not_understood_is_unread(read: Read) -> None:
    tool = '{"role": "tool", "payload": {"a": "One text.", "b": "Two texts."}}'
    found = read(f'{{"messages": [{USER}, {tool}, {AI}]}}', "mine.jsonl")
    assert [d.complete for d in found.response.documents.values()] == [False]
    assert "its keys are ['payload.a', 'payload.b']" in found.findings[0].message


@pytest.mark.parametrize(
    "answers",
    [
        '"choices": [{"message": {"content": "A."}}, {"message": {"content": "B."}}]',
        '"resps": [["A.", "B."]]',
        '"predictions": [{"generated_text": "A."}, {"generated_text": "B."}]',
        '"response": {"choices": [{"message": {"content": "A."}}, {"message": {"content": "B."}}]}',
        '"output": {"candidates": [{"content": {"parts": [{"text": "A."}]}}, {"content": "B."}]}',
        '"outputs": ["A.", "B."]',
        '"outputs": [{"index": 0, "text": "A."}, {"index": 1, "text": "B."}]',
        '"choices": [{"text": "A.", "index": 0}, {"text": "B.", "finish_reason": "stop"}]',
        '"outputs": {"generations": [[{"text": "A.", "type": "Generation"}, {"text": "B."}]]}',
        '"answers": ["A.", "B."]',
    ],
)
def test_each_of_several_answers_is_a_sample(answers: str) -> None:
    found = list(records_in(json.loads(f'{{"question": "Q?", {answers}}}')))
    assert [(format_named("qa").draft(r).sentences, r["sample"]) for r in found] == [
        ("A.", "1"),
        ("B.", "2"),
    ]


def test_a_record_may_name_its_trace(read: Read) -> None:
    record = (
        '{"trace_id": "t", "span_id": "1", "question": "Q?", "answer": "A.", "contexts": ["A."]}'
    )
    assert read(record).response.text == "A."
