"""The AutoJudge round trip."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.reading import Read
from trecjudge.records import Citation

RECORD = (
    '{"is_ragtime": true, "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1",'
    ' "request_id": "1", "narrative_id": "1"}, "responses": %s, "answer": %s,'
    ' "references": ["other"], "documents": {"d": {"id": "d", "text": "D."}}}'
)
SENTENCES = '[{"text": "S.", "citations": {"d": 0.5}}]'


@pytest.mark.parametrize(
    ("first", "second"), [(SENTENCES, SENTENCES), (SENTENCES, "null"), ("null", SENTENCES)]
)
def test_a_record(first: str, second: str, read: Read) -> None:
    found = read(RECORD % (first, second))
    assert (found.answers, found.kinds) == ([("r", "1")], [])
    assert found.citations == [Citation("d", "d", 0.5)]


def test_integers_resolve_by_references(read: Read) -> None:
    cited = SENTENCES.replace('{"d": 0.5}', '["d", 0, 1]')
    found = read(RECORD % (cited, cited))
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
    text = (RECORD % (SENTENCES, SENTENCES)).replace('"d"', '"22802756"')
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
    found = read(RECORD % (responses, answer))
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
    assert "answer_differs" not in read(RECORD % (responses, answer)).kinds


def test_a_response_without_sentences_is_empty(read: Read) -> None:
    found = read(RECORD % ("[]", "[]"))
    assert (found.response.sentences, found.kinds) == ((), ["response_empty"])
