"""Records inside one object: columns, conversations."""

from __future__ import annotations

import pytest

from tests.reading import Read
from trecjudge.records import Topic

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


def test_one_record_is_no_columns(read: Read) -> None:
    cases = [
        '{"question": "Q?", "output": ["A.", "B."], "contexts": ["C."]}',
        '{"output": ["A.", "B."], "contexts": ["C.", "D."], "qid": "1"}',
        '{"input": {"content": "Q?"}, "output": {"content": "A."}}',
    ]
    wrong = [text for text in cases if read(text).responses[0].text != "A."]
    assert not wrong


TURNS = (
    '{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."},'
    ' {"role": "user", "content": "When?"}, {"role": "tool", "content": "In May, D."},'
    ' {"role": "assistant", "content": "Let me see."}, {"role": "assistant", "content": "In May."},'
    ' {"role": "user", "content": "Sure?"}'
)
CHAT = f'{{"topic_id": "q", "messages": [{TURNS}, {{"role": "assistant", "content": "Yes."}}]}}'
SAID = "user: Hello\nassistant: Hi."


def test_every_answer_is_a_response_with_what_was_said_before(read: Read) -> None:
    pairs = read(CHAT).pairs
    assert [(t.topic_id, t.title, r.text) for t, r in pairs] == [
        ("q", "Hello", "Hi."),
        ("q#2", "When?", "In May."),
        ("q#3", "Sure?", "Yes."),
    ]
    assert [(t.background, r.background) for t, r in pairs][1] == (SAID, SAID)
    assert [[d.text for d in r.documents.values()] for _, r in pairs] == [
        [],
        ["In May, D."],
        ["In May, D."],
    ]


def test_later_answers_are_on_topics_of_their_own(read: Read) -> None:
    topics = {"q": Topic("q", title="A greeting")}
    found = read(CHAT, topics=topics, known=topics)
    assert [t.title for t, _ in found.pairs] == ["A greeting", "When?", "Sure?"]
    assert "topic_unknown" not in found.kinds


def test_chats_that_begin_alike_are_not_of_one_topic(read: Read) -> None:
    one = CHAT.replace('"topic_id": "q", ', "")
    found = read(f"{one}\n{one.replace('When?', 'Where?')}")
    ids = [topic.topic_id for topic, _ in found.pairs]
    assert (len(ids), len(set(ids)), ids[1][-2:]) == (5, 5, "#2")


@pytest.mark.parametrize(
    ("record", "topic"),
    [
        (f'{{"input": [{TURNS}], "topic_id": "q", "answer": "Yes."}}', ("q", "Sure?")),
        (f'{{"messages": [{TURNS}], "question": "Why?", "answer": "Yes."}}', ("", "Why?")),
    ],
    ids=["the question is the last turn", "the question stands beside"],
)
def test_what_a_system_was_given_is_no_answer_of_it(
    record: str, topic: tuple[str, str], read: Read
) -> None:
    ((found, response),) = read(record).pairs
    assert (found.title, response.text) == (topic[1], "Yes.")
    assert response.background.startswith(SAID) and found.topic_id.startswith(topic[0])


def test_contexts_of_the_record_count_for_each_answer(read: Read) -> None:
    found = read(CHAT.replace('"topic_id"', '"contexts": ["C."], "topic_id"'))
    assert [len(r.documents) for r in found.responses] == [1, 1, 1]


def test_an_answer_that_is_blank_is_a_response(read: Read) -> None:
    found = read(CHAT.replace("Hi.", " ").replace("Yes.", ""))
    assert [r.has_text for r in found.responses] == [False, True, False]
