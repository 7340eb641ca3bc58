"""Records that one object holds by column."""

from __future__ import annotations

import pytest

from tests.reading import Read

ANSWERS = [("Q?", "A."), ("P?", "B.")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"question": ["Q?", "P?"], "answer": ["A.", "B."], "n": 1}', id="lists"),
        pytest.param('{"answer": ["A.", "B."],\n "question": ["Q?", "P?"]}', id="on two lines"),
        pytest.param(
            '{"question": {"0": "Q?", "1": "P?"}, "answer": {"0": "A.", "1": "B."}}', id="by row"
        ),
        pytest.param(
            '{"columns": ["question", "answer"], "data": [["Q?", "A."], ["P?", "B."]]}', id="split"
        ),
        pytest.param(
            '{"schema": {"fields": []}, "data": [{"question": "Q?", "answer": "A."},'
            ' {"question": "P?", "answer": "B."}]}',
            id="table",
        ),
        pytest.param(
            '{"0": {"question": "Q?", "answer": "A."},\n "1": {"question": "P?", "answer": "B."}}',
            id="by number",
        ),
    ],
)
def test_columns_are_records(text: str, read: Read) -> None:
    assert [(topic.title, r.text) for topic, r in read(text).pairs] == ANSWERS


def test_records_by_id_have_these_ids(read: Read) -> None:
    found = read(
        '{"q1": {"question": "Q?", "answer": "A."}, "q2": {"input": "P?", "output": "B."}}'
    )
    assert found.answers == [("run", "q1"), ("run", "q2")]


def test_columns_of_unequal_lengths_are_not_read(read: Read) -> None:
    finding = read('{"question": ["Q?", "P?"], "answer": ["A."]}').findings[0]
    assert finding.message == "holds columns of unequal lengths: question 2, answer 1"


@pytest.mark.parametrize(
    "text",
    [
        '{"question": "Q?", "output": ["A.", "B."], "contexts": ["C."]}',
        '{"output": ["A.", "B."], "contexts": ["C.", "D."], "qid": "1"}',
        '{"input": {"content": "Q?"}, "output": {"content": "A."}}',
    ],
)
def test_one_record_is_no_columns(text: str, read: Read) -> None:
    assert read(text).responses[0].text == "A."
