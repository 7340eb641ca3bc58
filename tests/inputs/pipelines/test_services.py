"""Answers with their citations beside them, as services give them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.reading import Read
from trecjudge.inputs.formats.registry import format_named
from trecjudge.inputs.pipelines.reading import records_in

CONTEXTS = ', "contexts": [{"id": "a", "text": "A."}, {"id": "b", "text": "B."}]'
TEXT = "Né à Åre. It is new."
FIRST, SECOND = "Né à Åre.", "It is new."


def spans_of(answer: str) -> tuple[str, list[tuple[str, Any]]]:
    """Return the text of an answer, and what of it cites what."""
    (record,) = records_in(json.loads(f'{{"question": "Q?", {answer}}}'))
    found = format_named("qa").draft(record)
    cited = [
        (
            found.sentences[s.start : s.end],
            *(found.references[c] if isinstance(c, int) else c for c in s.cited),
        )
        for s in found.spans or ()
    ]
    return found.sentences, cited


BLOCKS = (
    '[{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Né à Åre.", "citations":'
    ' [{"type": "char_location", "cited_text": "B", "document_index": 1, "start_char_index": 0,'
    ' "end_char_index": 1}]}, {"type": "text", "text": " It is new."}]'
)
MARKED = (
    '"answer": [{"type": "output_text", "text": "Né à Åre. ([x](http://x)) It is new.【1†f】",'
    ' "annotations": [{"type": "url_citation", "start_index": 10, "end_index": 25, "url":'
    ' "http://x"}, {"type": "file_citation", "start_index": 36, "end_index": 41, "file_id": "b"}]}]'
)
IN_TEXT = "".join(
    (
        f'"answer": "{TEXT}", "citations": [{{"start": 0, "end": 9, "document_ids": ["a"]}},',
        ' {"start": 10, "end": 20, "text": "It is new.", "sources": [{"id": "b"}]}]',
    )
)
IN_BYTES = (
    f'"response": {{"candidates": [{{"content": {{"parts": [{{"text": "{TEXT}"}}]}},'
    ' "groundingMetadata": {"groundingChunks": [{"web": {"uri": "http://x", "title": "b"}},'
    ' {"retrievedContext": {"text": "A."}}], "groundingSupports": [{"segment": {"endIndex": 12},'
    ' "groundingChunkIndices": [1]}]}}]}'
)
VERTEX = (
    f'"response": {{"answer": {{"answerText": "{TEXT}", "citations": [{{"endIndex": "12",'
    ' "sources": [{"referenceId": "0"}]}], "references": [{"chunkInfo": {"content": "A."}}]}}'
)
PART = (
    f'"output": {{"text": "{TEXT}"}}, "citations": [{{"generatedResponsePart":'
    ' {"textResponsePart": {"text": "It is new.", "span": {"start": 10, "end": 19}}},'
    ' "retrievedReferences": [{"content": {"text": "B."}, "location": {"s3Location": {"uri": "s3://b"}}}]}]'
)


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        pytest.param(f'"answer": {BLOCKS}{CONTEXTS}', [(FIRST, "b")], id="Anthropic"),
        pytest.param(IN_TEXT + CONTEXTS, [(FIRST, "a"), (SECOND, "b")], id="Cohere"),
        pytest.param(
            MARKED + CONTEXTS, [(".", "http://x"), (".", "b")], id="OpenAI's marks are cut"
        ),
        pytest.param(IN_BYTES, [(FIRST, "context-e53657178cb6")], id="Gemini counts bytes"),
        pytest.param(VERTEX, [(FIRST, "context-e53657178cb6")], id="Vertex AI Search"),
        pytest.param(PART, [(SECOND, "context-be651d5a8e97")], id="Bedrock counts the last one"),
        pytest.param(f'"answer": "{TEXT}", "citations": []{CONTEXTS}', [], id="nothing is cited"),
    ],
)
def test_what_a_service_cites(answer: str, cited: list[tuple[str, str]]) -> None:
    assert spans_of(answer) == (TEXT, cited)


PAGE = '"type": "url_citation", "start_index": 0, "end_index": 4'


@pytest.mark.parametrize(
    ("context", "citation", "cited"),
    [
        pytest.param('"url": "http://a/c"', f'{PAGE}, "url": "https://a/c?utm_source=x"', "a"),
        pytest.param('"uri": "http://a"', f'"url_citation": {{{PAGE}, "url": "http://a"}}', "a"),
        pytest.param(
            '"metadata": {"source": "x/a.txt"}', f'{PAGE}, "file_id": "f", "filename": "a.txt"', "a"
        ),
        pytest.param('"file_id": "f"', f'{PAGE}, "file_id": "f"', "a"),
        pytest.param(
            '"source": "x/b.txt"', f'{PAGE}, "filename": "b.txt"', "b.txt", id="chunks of one file"
        ),
        pytest.param(
            '"title": "t"', '"start": 0, "end": 4, "document_ids": ["doc_1"]', "a", id="counted"
        ),
        pytest.param(
            '"url": "http://a"', f'{PAGE}, "url": "http://a/b"', "http://a/b", id="of none"
        ),
    ],
)
def test_a_citation_by_an_address_or_a_file(
    context: str, citation: str, cited: str, read: Read
) -> None:
    other = '{"id": "b", "source": "x/b.txt", "text": "B."}'
    part = f'{{"type": "text", "text": "A is.", "annotations": [{{{citation}}}]}}'
    contexts = f'[{other}, {{"id": "a", {context}, "text": "A."}}]'
    found = read(f'{{"question": "Q?", "contexts": {contexts}, "answer": [{part}]}}')
    assert found.cited == [cited]


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        pytest.param(
            f'"answer": {BLOCKS}'.replace('"cited_text": "B"', '"cited_text": "Quoted."'),
            ["Quoted."],
            id="what is quoted is carried",
        ),
        pytest.param(
            '"answer": "It is [1].", "citations": ["http://b", "http://a"], "search_results":'
            ' [{"url": "http://a", "snippet": "A."}, {"url": "http://b", "snippet": "B."}]',
            ["B.", "A."],
            id="addresses beside an answer are what its marks count",
        ),
        pytest.param(
            '"answer": "It is [1].", "citations": ["http://b"]',
            [],
            id="addresses say nothing of what was retrieved",
        ),
    ],
)
def test_what_a_service_carries(answer: str, texts: list[str], read: Read) -> None:
    response = read(f'{{"question": "Q?", {answer}}}').response
    assert [document.text for document in response.documents.values()] == texts
    assert response.documents_given == bool(texts)
