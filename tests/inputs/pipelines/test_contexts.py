"""Contexts in the shapes that retrievers and data sets give them."""

from __future__ import annotations

import json

import pytest

from trecjudge.inputs.pipelines.contexts import read_contexts

A, B = "Trams ran in May.", "The quay was closed."


@pytest.mark.parametrize(
    "contexts",
    [
        pytest.param('[{"content": {"text": "$A"}}, {"content": {"text": "$B"}}]', id="Bedrock"),
        pytest.param('[{"data": {"snippet": "$A"}}, {"data": {"text": "$B"}}]', id="Cohere"),
        pytest.param(
            '[{"entity": {"text": "$A"}}, {"properties": {"x": 1, "text": "$B"}}]', id="DB"
        ),
        pytest.param(
            '[{"kwargs": {"page_content": "$A"}}, {"page_content": "$B"}]', id="LangChain"
        ),
        pytest.param(
            '[{"node": {"text_resource": {"text": "$A"}}}, {"node": {"text": "$B"}}]',
            id="LlamaIndex",
        ),
        pytest.param('[{"content": "", "raw_content": "$A"}, {"content": "$B"}]', id="Tavily"),
        pytest.param('[{"paragraph_text": "$A"}, {"excerpt": "$B"}]', id="MuSiQue"),
        pytest.param('[["T", ["$A"]], ["U", ["$B"]]]', id="HotpotQA"),
        pytest.param('{"title": ["T", "U"], "sentences": [["$A"], ["$B"]]}', id="its columns"),
        pytest.param('{"ids": [["x1", "x2"]], "documents": [["$A", "$B"]]}', id="Chroma"),
        pytest.param('{"documents": [["$A", "$B"]]}', id="only its documents"),
        pytest.param('{"matches": 2, "results": [{"text": "$A"}, {"text": "$B"}]}', id="a reply"),
        pytest.param('{"1": "$A", "2": "$B"}', id="by number"),
        pytest.param('{"d1": {"text": "$A"}, "d2": {"content": "$B"}}', id="by id"),
        pytest.param('[["d1", "$A"], ["d2", "$B"]]', id="pairs"),
        pytest.param('[["$A", 0.9], [{"page_content": "$B"}, 0.7]]', id="with scores"),
        pytest.param('[["$A"], ["$B"]]', id="a list for each search"),
        pytest.param('[{"query": "q", "results": ["$A", "$B"]}]', id="an object for each search"),
        pytest.param("\"['$A' '$B']\"", id="an array printed"),
        pytest.param('[{"id": "x", "utterance": "$A"}, {"id": "y", "utterance": "$B"}]', id="any"),
    ],
)
def test_texts_of(contexts: str) -> None:
    found = read_contexts(json.loads(contexts.replace("$A", A).replace("$B", B)))
    assert [d.text for d in found.documents] == [A, B]
    assert all(d.complete for d in found.documents)


@pytest.mark.parametrize(
    ("contexts", "wanted"),
    [
        pytest.param([A, 5.5, {"k": 1}, ""], [True, False, True, True], id="entries"),
        pytest.param([{"a": "Two words", "b": "Or three."}], [False], id="of no known name"),
        pytest.param(5, [False], id="a number"),
        pytest.param({"k": {"n": 1}}, [False], id="an object of no texts"),
        pytest.param("['A b.' 'C d.', 'E f.']", [False], id="a list that is not surely split"),
        pytest.param([], [], id="none"),
    ],
)
def test_what_is_not_surely_read_is_not_complete(contexts: object, wanted: list[bool]) -> None:
    assert [d.complete for d in read_contexts(contexts).documents] == wanted


def test_ids_by_themselves_are_documents_of_others() -> None:
    found = read_contexts(["doc-1", "doc-2"]).documents
    assert [(d.doc_id, d.text, d.own) for d in found] == [
        ("doc-1", "", False),
        ("doc-2", "", False),
    ]
