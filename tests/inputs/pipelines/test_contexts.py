"""Contexts of any shape as documents; and cells as Python, pandas and numpy print them."""

from __future__ import annotations

import json
import time

import pytest

from trecjudge.inputs.pipelines.contexts import Unsplit, cell_value, read_contexts

A, B = "Trams ran in May.", "The quay was closed."
SHAPES = {
    "Bedrock": '[{"content": {"text": "$A"}}, {"content": {"text": "$B"}}]',
    "Cohere": '[{"data": {"snippet": "$A"}}, {"data": {"text": "$B"}}]',
    "Milvus, Weaviate": '[{"entity": {"text": "$A"}}, {"properties": {"content": "$B"}}]',
    "LangChain": '[{"kwargs": {"page_content": "$A"}}, {"page_content": "$B"}]',
    "LlamaIndex": '[{"node": {"text_resource": {"text": "$A"}}}, {"node": {"text": "$B"}}]',
    "Tavily": '[{"content": "", "raw_content": "$A"}, {"content": "$B"}]',
    "MuSiQue": '[{"paragraph_text": "$A"}, {"excerpt": "$B"}]',
    "HotpotQA": '[["T", ["$A"]], ["U", ["$B"]]]',
    "its columns": '{"title": ["T", "U"], "sentences": [["$A"], ["$B"]]}',
    "Chroma": '{"ids": [["x1", "x2"]], "documents": [["$A", "$B"]]}',
    "only documents": '{"documents": [["$A", "$B"]]}',
    "a reply": '{"matches": 2, "results": [{"text": "$A"}, {"text": "$B"}]}',
    "a reply of any name": '{"matches": [{"id": "1", "metadata": {"text": "$A"}}, {"text": "$B"}]}',
    "by number": '{"1": "$A", "2": "$B"}',
    "by id": '{"d1": {"text": "$A"}, "d2": {"content": "$B"}}',
    "pairs": '[["d1", "$A"], ["d2", "$B"]]',
    "with scores": '[["$A", 0.9], [{"page_content": "$B"}, 0.7]]',
    "whole scores": '[["$A", 3], ["$B", 2]]',
    "scores first": '[[0.9, "$A"], [0.7, "$B"]]',
    "ids and scores": '[["d1", "$A", 0.9], ["d2", "$B", 1]]',
    "ids and titles": '[["d1", "T", "$A"], ["d2", "U", "$B"]]',
    "by rank": '[{"rank": 2, "text": "$B"}, {"rank": 1, "text": "$A"}]',
    "by index": '[{"index": "1", "text": "$B"}, {"index": "0", "text": "$A"}]',
    "a list for each search": '[["$A"], [{"query": "q", "results": ["$B"]}]]',
    "a printed array": "\"['$A' '$B']\"",
    "any name": '[{"id": "x", "utterance": "$A"}, {"id": "y", "utterance": "$B"}]',
}


@pytest.mark.parametrize("contexts", SHAPES.values(), ids=SHAPES)
def test_texts_of(contexts: str) -> None:
    found = read_contexts(json.loads(contexts.replace("$A", A).replace("$B", B)))
    assert [(d.text, d.complete) for d in found.documents] == [(A, True), (B, True)]


@pytest.mark.parametrize(
    ("contexts", "wanted"),
    [
        pytest.param('["A.", 5.5, {"k": 1}, ""]', [True, False, False, True], id="a number"),
        pytest.param('[{"id": "d", "score": 0.2}, {"text": ""}]', [False, True], id="only an id"),
        pytest.param('[{"url": "https://a.b"}, {"text": null}]', [False, True], id="an address"),
        pytest.param('[{"a": "Two words", "b": "Or three."}]', [False], id="no known name"),
        pytest.param('{"k": {"n": 1}}', [False], id="an object of no texts"),
    ],
)
def test_what_is_not_surely_read_is_not_complete(contexts: str, wanted: list[bool]) -> None:
    assert [d.complete for d in read_contexts(json.loads(contexts)).documents] == wanted


def test_ids_by_themselves_are_documents_of_others() -> None:
    found = read_contexts(["doc-1", 2]).documents
    assert [(d.doc_id, d.text, d.own) for d in found] == [("doc-1", "", False), ("2", "", False)]


@pytest.mark.parametrize(
    ("context", "complete"),
    [
        ('{"content": "Kettles were inve..."}', False),
        ('"Kettles… [truncated]"', False),
        ('"Kettles boil, [+312 chars]"', False),
        ('"Kettles, pots, pans, etc..."', True),
        ('"Kettles boil."', True),
    ],
)
def test_a_text_that_breaks_off_is_cut(context: str, complete: bool) -> None:
    (document,) = read_contexts(json.loads(f"[{context}]")).documents
    assert document.complete is complete


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        pytest.param("""['a' 'b\\n'\n "it's"]""", ["a", "b\n", "it's"], id="numpy"),
        pytest.param("array(['a', 'b'],\n      dtype=object)", ["a", "b"], id="numpy's repr"),
        pytest.param("[array(['a', 'b'], dtype=object)]", [["a", "b"]], id="in a list"),
        pytest.param("[['a' 'b']\n ['c' 'd']]", [["a", "b"], ["c", "d"]], id="two dimensions"),
        pytest.param("[{'text': 'a'} {'text': 'b'}]", [{"text": "a"}, {"text": "b"}], id="objects"),
        pytest.param("['a', nan]", ["a", None], id="nan in Python's list"),
        pytest.param('["a", NaN]', ["a", None], id="NaN in JSON"),
        pytest.param("[see below]", "[see below]", id="a text in brackets"),
    ],
)
def test_cell_value(cell: str, wanted: object) -> None:
    assert cell_value(cell) == wanted
    assert not isinstance(cell_value(cell), Unsplit)


@pytest.mark.parametrize("cell", ["['a' 'b', 'c']", "['a''b']", "['a' ... 'z']", "['It's' 'b']"])
def test_what_is_not_surely_split_stays_one_text(cell: str) -> None:
    assert isinstance(cell_value(cell), Unsplit)


@pytest.mark.parametrize("character", list("['\",(\\ \na."))
def test_a_long_cell_is_read_at_once(character: str) -> None:
    start = time.process_time()
    cell_value("['" + character * 1_000_000)
    assert time.process_time() - start < 1
