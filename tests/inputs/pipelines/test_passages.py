"""Tables with a row for each passage."""

from __future__ import annotations

import pytest

from tests.reading import Read

HEAD = "query_id,query,query_run,passage_id,passage,generated_answer\n"


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        pytest.param(HEAD + "q,Q?,1,[1],C.,A [1][2].\nq,Q?,1,[2],D.,\n", "r.csv", id="CSV"),
        pytest.param(HEAD + "q,Q?,1,[2],D.,\nq,Q?,1,[1],C.,A [1][2].\n", "r.csv", id="numbered"),
        pytest.param(HEAD + "q,Q?,1,[3],D.,\nq,Q?,1,[1],C.,A [1][3].\n,,,,,\n", "r.csv", id="gap"),
        pytest.param("qid\tcontext\tanswer\nq\tC.\tA [1][2].\nq\tD.\tA [1][2].", "r", id="twice"),
        pytest.param("qid,answer,chunk\nq,A [1][2].,\nq,,C.\nq,,D.\n", "r.csv", id="answer first"),
        pytest.param(
            '{"qid": "q", "passage": "D.", "rank": 2}\n{"qid": "p", "passage": "E."}\n'
            '{"qid": "q", "passage": "C.", "rank": 1, "answer": "A [1][2]."}',
            "r.jsonl",
            id="apart, by rank",
        ),
    ],
)
def test_the_rows_of_one_question_are_one_response(rows: str, name: str, read: Read) -> None:
    response = read(rows, name).responses[0]
    cited = [response.documents[c.doc_id or ""].text for c in response.sentences[0].citations]
    assert (response.topic_id, response.text, cited) == ("q", "A.", ["C.", "D."])


def test_samples_of_a_question_are_apart(read: Read) -> None:
    rows = "q,Q?,1,a,C.,A.\nq,Q?,1,b,D.,\nq,Q?,2,a,C.,B.\np,P?,1,a,C.,A.\n"
    found = read(HEAD + rows, "r.csv")
    assert [(r.topic_id, r.sample, len(r.references)) for r in found.responses] == [
        ("q", "", 2),
        ("q~2", "2", 1),
        ("p", "", 1),
    ]


def test_rows_that_each_have_an_answer_of_their_own_are_responses(read: Read) -> None:
    found = read("qid,context,answer\nq,C.,A.\nq,D.,B.\n", "r.csv")
    assert [(r.text, len(r.documents)) for r in found.responses] == [("A.", 1), ("B.", 1)]
    assert found.kinds == ["response_duplicate"]
