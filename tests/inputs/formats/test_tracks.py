"""The run formats of the tracks, read from records as they write them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.reading import Read
from trecjudge.records import Citation

AUTOJUDGE_RECORD = (
    '{"is_ragtime": true, "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1",'
    ' "request_id": "1", "narrative_id": "1"}, "responses": %s, "answer": %s,'
    ' "references": ["other"], "documents": {"d": {"id": "d", "text": "D."}}}'
)
SENTENCES = '[{"text": "S.", "citations": {"d": 0.5}}]'


@pytest.mark.parametrize(
    ("first", "second"), [(SENTENCES, SENTENCES), (SENTENCES, "null"), ("null", SENTENCES)]
)
def test_a_record_of_autojudge(first: str, second: str, read: Read) -> None:
    found = read(AUTOJUDGE_RECORD % (first, second))
    assert (found.answers, found.kinds) == ([("r", "1")], [])
    assert found.citations == [Citation("d", "d", 0.5)]


def test_integers_resolve_by_references(read: Read) -> None:
    cited = SENTENCES.replace('{"d": 0.5}', '["d", 0, 1]')
    found = read(AUTOJUDGE_RECORD % (cited, cited))
    assert [c.doc_id for c in found.citations] == ["d", "other", None]
    assert found.kinds == ["citation_out_of_range", "document_missing"]


def test_a_run_and_what_is_written_of_it_are_one(read: Read) -> None:
    sentences = '[{"citations": [0], "text": "A kettle whistles."}]'
    rest = '"references": ["k-1", "k-2"], "documents": {"k-1": {"id": "k-1", "text": "K."}}}'
    ids = '"metadata": {"team_id": "t", "run_id": "r", "narrative_id": "1"%s}'
    submitted = read(f'{{{ids % ""}, "answer": {sentences}, {rest}')
    rewritten = read(
        f'{{"is_ragtime": true, {ids % (", " + chr(34) + "request_id" + chr(34) + ": 1")},'
        f' "responses": {sentences}, "answer": {sentences}, {rest}'
    )
    # It does not say of which track it is, and so not what its references are.
    assert rewritten.response == replace(submitted.response, retrieved=None)
    assert (rewritten.cited, rewritten.kinds, submitted.kinds) == (["k-1"], [], [])


@pytest.mark.parametrize("references", ['["other"]', "[]", "null"])
def test_ids_of_digits_are_ids_where_references_list_none(references: str, read: Read) -> None:
    text = (AUTOJUDGE_RECORD % (SENTENCES, SENTENCES)).replace('"d"', '"22802756"')
    found = read(text.replace('["other"]', references))
    assert found.cited == ["22802756"]


@pytest.mark.parametrize(
    ("responses", "answer", "texts", "message"),
    [
        pytest.param(
            '["A.", "B."]', '["A.", "C."]', ["A.", "B."], "2 on; `responses` counts", id="text"
        ),
        pytest.param(
            '["A.", "B."]', '["A."]', ["A.", "B."], "2 on; `responses` counts", id="fewer"
        ),
        pytest.param(
            '[{"text": "A.", "citations": {"d": 1}}]',
            '[{"text": "A.", "citations": ["other"]}]',
            ["A."],
            "1 on; `responses` counts",
            id="citations",
        ),
        pytest.param("[]", '["A."]', ["A."], "1 on; `answer` counts", id="one is empty"),
        pytest.param('["A."]', "[]", ["A."], "1 on; `responses` counts", id="the other is empty"),
        pytest.param('["A.", "B."]', '"A. C."', ["A.", "B."], "`responses` counts", id="one text"),
    ],
)
def test_sentences_that_contradict_each_other(
    responses: str, answer: str, texts: list[str], message: str, read: Read
) -> None:
    found = read(AUTOJUDGE_RECORD % (responses, answer))
    assert [sentence.text for sentence in found.response.sentences] == texts
    assert found.kinds.count("answer_differs") == 1
    assert message in str(next(f for f in found.findings if f.kind == "answer_differs"))


@pytest.mark.parametrize(
    ("responses", "answer"),
    [
        pytest.param(
            '[{"text": "A.", "citations": [0]}]',
            '[{"text": " A.", "citations": {"other": 1.0}}]',
            id="by index and by id",
        ),
        pytest.param('[{"text": "A.", "citations": ["d"]}, "B."]', '"A. B."', id="one text"),
        pytest.param('[{"text": "A.", "citations": [0]}]', '"A [1]."', id="markers"),
    ],
)
def test_sentences_that_say_the_same(responses: str, answer: str, read: Read) -> None:
    assert "answer_differs" not in read(AUTOJUDGE_RECORD % (responses, answer)).kinds


def test_a_response_without_sentences_is_empty(read: Read) -> None:
    found = read(AUTOJUDGE_RECORD % ("[]", "[]"))
    assert (found.response.sentences, found.kinds) == ((), ["response_empty"])


DRAGUN_RECORD = (
    '{"metadata": {"team_id": "t", "run_id": "kit", "topic_id": "msmarco_v2.1_doc_04_420132660",'
    ' "type": "automatic", "use_starter_kit": 1}, "responses": [{"text": "The source is a travel'
    ' site.", "citations": ["msmarco_v2.1_doc_1#0_2", "msmarco_v2.1_doc_1#1_3"]}]}'
)


def test_a_record_in_a_file_without_extension(read: Read) -> None:
    found = read(DRAGUN_RECORD, "kit")
    assert found.answers == [("kit", "msmarco_v2.1_doc_04_420132660")]
    assert found.cited == ["msmarco_v2.1_doc_1#0_2", "msmarco_v2.1_doc_1#1_3"]
    assert found.kinds == ["documents_not_given"]


RAG24_RECORD = (
    '{"run_id": "base", "topic_id": "2024-1", "topic": "why moss", "references": ["d1#0", "d2#0"],'
    ' "response_length": 4, "answer": [{"text": "Moss is green.", "citations": [1, 0]},'
    ' {"text": "Yes.", "citations": []}]}'
)


def test_a_record_of_rag24(read: Read) -> None:
    found = read(RAG24_RECORD)
    ((topic, response),) = found.pairs
    assert (topic.topic_id, topic.title) == ("2024-1", "why moss")
    assert (response.run_id, response.team_id, response.references) == (
        "base",
        "",
        ("d1#0", "d2#0"),
    )
    assert response.text == "Moss is green. Yes."
    assert (found.cited, found.kinds) == (["d2#0", "d1#0"], ["documents_not_given"])


def test_a_topic_that_is_no_text_is_no_title(read: Read) -> None:
    assert read(RAG24_RECORD.replace('"why moss"', "7")).pairs[0][0].title == ""


RAG25_RECORD = (
    '{"metadata": {"team_id": "t", "run_id": "r", "type": "automatic", "narrative_id": 1,'
    ' "narrative": "why moss"}, "references": ["d1#0", "d2#0"],'
    ' "answer": [{"text": "Moss is green.", "citations": %s}]}'
)


@pytest.mark.parametrize(
    ("citations", "wanted"),
    [
        pytest.param("[1, 0]", ["d2#0", "d1#0"], id="by index"),
        pytest.param('["d2#0", "d1#0"]', ["d2#0", "d1#0"], id="by id"),
        pytest.param('[0, "d2#0"]', ["d1#0", "d2#0"], id="mixed"),
        pytest.param("[]", [], id="none"),
    ],
)
def test_a_record_of_rag25(citations: str, wanted: list[str], read: Read) -> None:
    found = read(RAG25_RECORD % citations)
    ((topic, response),) = found.pairs
    assert (topic.topic_id, topic.title) == ("1", "why moss")
    assert (response.run_id, response.team_id, found.cited) == ("r", "t", wanted)
    assert found.kinds == ["documents_not_given"] * bool(wanted)


def test_integer_references_are_ids_and_integer_citations_are_indexes(read: Read) -> None:
    text = (RAG25_RECORD % "[0]").replace('["d1#0", "d2#0"]', "[1, 0]")
    assert read(text).cited == ["1"]


RAGTIME_RECORD = (
    '{"metadata": {"team_id": "t", "run_id": "r", "topic_id": "1001", "task": "english",'
    ' "title": "canals"}, "references": ["u-1_0", "u-2_1"],'
    ' "responses": [{"text": "Canals leak.", "citations": %s}]}'
)


@pytest.mark.parametrize(
    ("citations", "wanted"),
    [
        pytest.param('{"u-2_1": 0.5, "u-1_0": 1}', [("u-2_1", 0.5), ("u-1_0", 1.0)], id="dict"),
        pytest.param('["u-2_1", "u-1_0"]', [("u-2_1", None), ("u-1_0", None)], id="list"),
        pytest.param("{}", [], id="empty dict"),
        pytest.param("null", [], id="null"),
    ],
)
def test_a_record_of_ragtime(
    citations: str, wanted: list[tuple[str, float | None]], read: Read
) -> None:
    found = read(RAGTIME_RECORD % citations)
    ((topic, response),) = found.pairs
    assert (topic.topic_id, topic.title) == ("1001", "canals")
    assert (response.run_id, response.team_id) == ("r", "t")
    assert found.citations == [Citation(doc_id, doc_id, score) for doc_id, score in wanted]


def test_a_record_without_references(read: Read) -> None:
    text = (RAGTIME_RECORD % '["u-1_0"]').replace('"references": ["u-1_0", "u-2_1"],', "")
    assert (read(text).cited, read(text).kinds) == (["u-1_0"], ["documents_not_given"])
