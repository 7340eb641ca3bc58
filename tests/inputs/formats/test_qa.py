"""Records of RAG pipelines, in the shape in which each tool writes them."""

from __future__ import annotations

import json

import pytest

from tests.reading import Read, Write
from trecjudge.inputs.formats.registry import format_of
from trecjudge.inputs.topics.reading import read_topics

QUESTION = "When did the ferry Perch enter service?"
ASKED = "when-did-the-ferry-perch-ab9181ff"
CONTEXT = "The ferry Perch entered service on 3 May 2022."
MADE = "context-9a7498029acc"
CHAT = (
    '{"messages": [{"role": "user", "content": "$Q"}, {"role": "assistant", "content": null,'
    ' "tool_calls": [{"id": "c", "type": "function"}]}, {"role": "tool", "content": TOOL},'
    ' {"role": "assistant", "content": "In May 2022."}]}'
)
SHAPES = [
    pytest.param(
        '{"user_input": "$Q", "response": "In May 2022.", "retrieved_contexts": ["$C"],'
        ' "reference": "3 May"}',
        id="RAGAS",
    ),
    pytest.param(
        '{"question": "$Q", "answer": "In May 2022.", "contexts": ["$C"], "ground_truth": "3 May"}',
        id="RAGAS 0.1",
    ),
    pytest.param(
        '{"question": "$Q", "answer": "In May 2022.", "contexts": ["$C"], "metadata": {"k": 4}}',
        id="metadata of a pipeline",
    ),
    pytest.param(
        '[{"input": "$Q", "actual_output": "In May 2022.", "expected_output": "3 May",'
        ' "retrieval_context": ["$C"], "context": null, "name": null}]',
        id="DeepEval",
    ),
    pytest.param(
        '{"testFile": null, "testCases": [{"name": "t", "input": "$Q", "actualOutput":'
        ' "In May 2022.", "retrievalContext": ["$C"], "success": true}]}',
        id="a test run of DeepEval",
    ),
    pytest.param(
        '{"input": "$Q", "context": [{"page_content": "$C", "metadata": {"source": "f.md"}}],'
        ' "answer": "In May 2022."}',
        id="LangChain's create_retrieval_chain",
    ),
    pytest.param(
        '{"query": "$Q", "result": "In May 2022.", "source_documents": [{"page_content": "$C",'
        ' "metadata": {"source": "f.md", "page": 1}, "type": "Document"}]}',
        id="LangChain's RetrievalQA",
    ),
    pytest.param(
        '{"evalId": "e", "results": {"version": 3, "results": [{"vars": {"query": "$Q",'
        ' "context": "$C"}, "provider": {"id": "", "label": ""}, "response": {"output":'
        ' "In May 2022."}, "success": true}], "stats": {}}, "config": {}}',
        id="promptfoo",
    ),
    pytest.param(
        '{"results": {"results": [{"vars": {"topic": "$Q", "context": ["$C"]}, "response":'
        ' {"output": "In May 2022."}}]}}',
        id="promptfoo with a variable of another name",
    ),
    pytest.param(CHAT.replace("TOOL", '"$C"'), id="chat with a tool's text"),
    pytest.param(CHAT.replace("TOOL", '"[{\\"text\\": \\"$C\\"}]"'), id="chat with a tool's list"),
    pytest.param(
        CHAT.replace("TOOL", '"{\\"results\\": [{\\"content\\": \\"$C\\"}]}"'),
        id="chat with a tool's object",
    ),
    pytest.param(
        '{"response": {"response": "In May 2022.", "source_nodes": []}, "query": "$Q",'
        ' "source_nodes": [{"node": {"text": "$C"}, "score": 0.5}]}',
        id="LlamaIndex's source nodes",
    ),
    pytest.param(
        'question,answer,contexts\r\n"$Q",In May 2022.,"[\'$C\']"\r\n',
        id="CSV with a list as Python writes it",
    ),
    pytest.param(
        'id,user_input,response,retrieved_contexts,reference\n7,"$Q",In May 2022.,"[""$C""]",nan\n',
        id="CSV with a list as JSON",
    ),
]


@pytest.mark.parametrize("text", SHAPES)
def test_a_record_of(text: str, read: Read) -> None:
    text = text.replace("$Q", QUESTION).replace("$C", CONTEXT)
    found = read(text, "mine.csv" if text[0] not in "{[" else "mine.jsonl")
    ((topic, response),) = found.pairs
    assert (response.run_id, topic.topic_id, topic.title) == ("mine", ASKED, QUESTION)
    assert response.text == "In May 2022."
    assert [d.text for d in response.documents.values()] == [CONTEXT]
    assert (response.references, found.kinds) == ((MADE,), [])


def test_ids_that_are_there_are_kept(read: Read) -> None:
    found = read(
        '{"task_id": "t<::>2", "input": [{"speaker": "user", "text": "Ferries?"}, {"speaker":'
        ' "agent", "text": "Several."}, {"speaker": "user", "text": "Perch?"}], "contexts":'
        ' [{"document_id": "d-1", "score": 18.7, "text": "Perch.", "title": "T"}], "predictions":'
        ' [{"text": "In May."}], "run_id": "mine"}'
    )
    ((topic, response),) = found.pairs
    assert (topic.topic_id, topic.title, response.run_id) == ("t<::>2", "Perch?", "mine")
    assert response.documents["d-1"].full_text == "T\nPerch."


def test_what_a_system_says_of_itself_is_kept(read: Read) -> None:
    sources = '[{"text": "A.", "similarity": 0.8}]'
    found = read(f'{{"question": "Q?", "answer": "A.", "grounded": true, "sources": {sources}}}')
    assert found.response.said == {"grounded": True, "contexts": [{"similarity": 0.8}]}


def test_predictions_are_joined_with_examples_by_their_number(read: Read, write: Write) -> None:
    examples = '{"examples": [{"query": "When?", "reference_answer": "2022"}, {"query": "Who?"}]}'
    found = read(
        '{"predictions": [{"response": "In May.", "contexts": ["C."]},'
        ' {"response": "Nobody knows.", "contexts": []}]}',
        topics=read_topics(write(examples, "examples.json"), print),
    )
    assert [(t.title, r.text) for t, r in found.pairs] == [
        ("When?", "In May."),
        ("Who?", "Nobody knows."),
    ]


MARKERS = {
    "numbers": ("In May [1]. Eighty cars [2].", [["a"], ["b"]], "In May. Eighty cars."),
    "from 0": ("In May [0]. Eighty cars [1].", [["a"], ["b"]], "In May. Eighty cars."),
    "an id": ("In May [b].", [["b"]], "In May."),
    "none": ("In May.", [[]], "In May."),
}


@pytest.mark.parametrize(("answer", "cited", "text"), MARKERS.values(), ids=MARKERS)
def test_markers_are_citations_of_contexts(
    answer: str, cited: list[list[str]], text: str, read: Read
) -> None:
    contexts = '[{"id": "a", "text": "A."}, {"id": "b", "text": "B."}]'
    found = read(f'{{"question": "Q?", "answer": "{answer}", "contexts": {contexts}}}')
    assert [[c.doc_id for c in s.citations] for s in found.response.sentences] == cited
    assert found.response.text == text


@pytest.mark.parametrize(
    ("contexts", "documents"),
    [
        pytest.param('["A.", "A.", "B."]', ["A.", "B."], id="a text twice is one document"),
        pytest.param('[["A."], ["B."]]', ["A.", "B."], id="a list for each search"),
        pytest.param('"A."', ["A."], id="one text"),
        pytest.param('{"text": "A."}', ["A."], id="one object"),
        pytest.param(
            '[{"id": "x", "text": "A."}, {"id": "x", "text": "B."}]', ["A.\n\nB."], id="two chunks"
        ),
        pytest.param('["A.", null, 7]', ["A.", "", ""], id="what is no text holds its place"),
        pytest.param("[]", [], id="nothing was retrieved"),
    ],
)
def test_contexts(contexts: str, documents: list[str], read: Read) -> None:
    found = read(f'{{"question": "Q?", "answer": "Yes.", "contexts": {contexts}}}')
    assert [d.text for d in found.response.documents.values()] == documents
    assert found.response.documents_given


def test_without_contexts_nobody_knows_what_was_retrieved(read: Read) -> None:
    found = read('{"question": "Q?", "answer": "Yes."}')
    assert (found.response.documents_given, found.kinds) == (False, [])


@pytest.mark.parametrize("answer", ["null", '""', '" "'])
def test_an_answer_that_is_empty_is_a_response_without_text(answer: str, read: Read) -> None:
    found = read(f'{{"input": "Q?", "actual_output": {answer}, "retrieval_context": ["A."]}}')
    assert (found.response.has_text, found.kinds) == (False, ["response_empty"])


@pytest.mark.parametrize(
    "contexts",
    [
        '"contexts": null, "knowledge": "A."',
        '"metadata": {"retriever_resources": [{"position": 1, "content": "A."}]}',
        '"reference": {"chunks": [{"id": "c", "content": "A."}], "total": 1}',
    ],
    ids=["null beside", "Dify", "RAGFlow"],
)
def test_contexts_are_found(contexts: str, read: Read) -> None:
    found = read(f'{{"question": "Q?", "answer": "Yes.", {contexts}}}').response
    assert [d.text for d in found.documents.values()] == ["A."]


@pytest.mark.parametrize(
    ("record", "name"),
    [
        ({"topic_id": "1", "topic": "T", "references": ["d"], "answer": "In May."}, "rag24"),
        ({"topic_id": "1", "run_id": "r", "answer": [{"text": "S."}], "documents": {}}, "rag24"),
        ({"metadata": {"topic_id": "1"}, "answer": "In May.", "documents": ["A."]}, "rag25"),
        ({"narrative_id": 1, "narrative": "N", "query": "Q", "answer": "In May."}, "rag25"),
        ({"is_ragtime": True, "responses": [], "answer": "A", "query": "Q"}, "autojudge"),
        ({"turn_id": "1_2", "responses": [], "input": "Q"}, "ikat25"),
    ],
    ids=["references", "sentences", "metadata", "narrative", "round trip", "turn"],
)
def test_runs_of_the_tracks_stay_theirs(record: dict[str, object], name: str) -> None:
    found = format_of(record)
    assert found is not None
    assert name == found[0].NAME


SENTENCES = [{"text": "S.", "citations": [0]}, {"text": "T.", "citations": [1]}]
ASKED_OF = {"question": "Q?", "contexts": ["A.", "B."]}


@pytest.mark.parametrize(
    ("record", "name", "topic_id"),
    [
        ({**ASKED_OF, "answer": SENTENCES}, "qa", "q-9fe05e41"),
        ({**ASKED_OF, "answer": SENTENCES, "topic_id": "1"}, "rag24", "1"),
        ({"docs": ["A.", "B."], "answer": SENTENCES, "metadata": {"topic_id": "1"}}, "rag25", "1"),
        ({**ASKED_OF, "answer": "S [1]. T [2].", "references": ["gold"]}, "qa", "q-9fe05e41"),
        ({**ASKED_OF, "answer": "S [1]. T [2].", "metadata": {"topic_id": "1"}}, "qa", "1"),
    ],
    ids=["sentences", "with a topic", "of a track", "gold", "metadata"],
)
def test_contexts_count_whoever_wrote_the_record(
    record: dict[str, object], name: str, topic_id: str, read: Read
) -> None:
    found = read(json.dumps(record)).response
    cited = [found.documents[c.doc_id or ""].text for s in found.sentences for c in s.citations]
    assert (cited, found.topic_asked) == (["A.", "B."], topic_id)
    assert (claimed := format_of(record)) and name == claimed[0].NAME


@pytest.mark.parametrize(
    "record",
    [
        {"input": "Q?", "expected_output": "A."},
        {"query": "Q?", "reference_answer": "A.", "reference_contexts": ["C."]},
        {"id": "1", "question": "Q?", "documents": ["A."]},
        {"id": "1", "text": "A."},
        {"messages": [{"role": "user", "content": "Q?"}]},
    ],
    ids=["a golden", "an example", "a topic", "a document", "a question only"],
)
def test_what_nobody_answered_is_no_response(record: dict[str, object]) -> None:
    assert format_of(record) is None


def test_one_question_is_one_topic_however_it_is_laid_out(read: Read) -> None:
    found = read(
        '{"question": "Who  built IT?", "answer": "A."}\n{"query": "who built it?", "answer": "B."}'
    )
    assert len({response.topic_asked for response in found.responses}) == 1
    assert found.kinds == ["response_duplicate"]
