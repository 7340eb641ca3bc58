"""A topic as a record has it, and the turns of a conversation."""

from __future__ import annotations

import json

import pytest

from tests.reading import Write
from trecjudge.findings import Finding
from trecjudge.inputs.topics import read_topics
from trecjudge.inputs.topics.record import name_fields, name_of, topic_of
from trecjudge.records import Topic


def test_a_name_is_written_in_many_ways() -> None:
    expected = {
        "topic_id": "topic_id",
        "Query ID": "query_id",
        "queryId": "query_id",
        "_id": "_id",
        "Problem-Statement": "problem_statement",
    }
    assert {key: name_of(key) for key in expected} == expected


@pytest.mark.parametrize(
    "key",
    [
        "topic_id",
        "request_id",
        "narrative_id",
        "query_id",
        "qid",
        "id",
        "_id",
        "number",
        "num",
        "docid",
        "turn_id",
    ],
)
def test_every_name_of_an_id(key: str) -> None:
    assert topic_of({key: 7, "title": "moss"}) == (Topic("7", "moss"), ())


@pytest.mark.parametrize(
    "key",
    ["title", "query", "topic", "question", "text", "description", "narrative", "user_utterance"],
)
def test_a_text_by_itself_is_the_title(key: str) -> None:
    assert topic_of({"qid": "7", key: "why moss"}) == (Topic("7", "why moss"), ())


def test_every_text_has_a_place() -> None:
    cases = {
        "description and narrative": (
            '{"text": "T?", "description": "D.", "narrative": "N."}',
            Topic("7", "T?", "D.\n\nN."),
        ),
        "a query beside a title": (
            '{"title": "T", "narrative": "N.", "problem_statement": "P.", "query": "Q?"}',
            Topic("7", "T", "P.\n\nQ?\n\nN."),
        ),
        "BioGen": (
            '{"topic": "T", "question": "Q?", "narrative": "N.", "context": ""}',
            Topic("7", "T", "Q?\n\nN."),
        ),
        "a prompt": ('{"topic": "T", "prompt": "Q?"}', Topic("7", "Q?", "T")),
        "nothing twice": ('{"title": "T", "query": " t\\n"}', Topic("7", "T")),
        "article, body, background": (
            '{"title": "T", "article": "A.", "body": "B.", "background": "C."}',
            Topic("7", "T", background="C.", body="A.\n\nB."),
        ),
        "a list of texts": (
            '{"title": "T", "background": ["One.", "Two."]}',
            Topic("7", "T", background="One.\nTwo."),
        ),
        "without a title": ('{"problem_statement": "P."}', Topic("7", "", "P.")),
    }
    wrong = {
        name: found
        for name, (record, wanted) in cases.items()
        if (found := topic_of({"id": "7", **json.loads(record)})) != (wanted, ())
    }
    assert not wrong


@pytest.mark.parametrize(
    ("record", "unused"),
    [
        pytest.param('{"title": "T", "hint": "Undated is no use."}', ("hint",), id="text"),
        pytest.param('{"title": "T", "parts": [{"text": "And when?"}]}', ("parts",), id="inside"),
        pytest.param('{"title": "T", "hinweis": "für"}', ("hinweis",), id="one word, not ASCII"),
        pytest.param('{"title": "T", "lang": "eng", "split": ["a", "b"]}', (), id="labels"),
        pytest.param('{"lang": "eng"}', ("lang",), id="labels and nothing else"),
        pytest.param('{"body": "One of it.\\nTwo.", "top": "one  of it."}', (), id="a part again"),
    ],
)
def test_text_that_is_not_in_the_topic_is_named(record: str, unused: tuple[str, ...]) -> None:
    found = topic_of({"id": "7", **json.loads(record)})
    assert found is not None
    assert found[1] == unused


def test_of_two_keys_of_one_name_the_first_with_something_counts() -> None:
    assert name_fields({"Title": "", "title": "moss", "TITLE": "fern"}) == {"title": "moss"}


TURNS = """\
  {"turn_id": %s, "user_utterance": "Which ferry is fast?", "response": "The Perch.",
   "resolved_utterance": "Which ferry is fast?", "citations": ["d1"]},
  {"turn_id": %s, "user_utterance": "And slow?", "resolved_utterance": "Which ferry is slow?",
   "response": "The Carp.", "relevant_ptkbs": ["I live by the bay."]}"""
CONVERSATION = (
    '[\n{"number": "1-1", "title": "Ferries", "ptkb": ["I live by the bay.", "I am 40."],'
    ' "responses": [%s]}\n]'
)
FIRST = Topic("1-1_1", "Which ferry is fast?", background="Ferries\n\nI live by the bay.\nI am 40.")
SECOND = Topic(
    "1-1_2",
    "And slow?",
    "Which ferry is slow?",
    "Ferries\n\n— Which ferry is fast?\n— The Perch.\n\nI live by the bay.\nI am 40.",
)


TEXTS = {
    "turns counted": CONVERSATION % TURNS % (1, 2),
    "turns by their whole id": CONVERSATION % TURNS % ('"1-1_1"', '"1-1_2"'),
    "iKAT 2023 and 2024": (CONVERSATION % TURNS % (1, 2))
    .replace('"responses"', '"turns"')
    .replace("user_utterance", "utterance")
    .replace('["I live by the bay.", "I am 40."]', '{"1": "I live by the bay.", "2": "I am 40."}'),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_turn_is_a_topic_with_the_turns_before_it(text: str, write: Write) -> None:
    findings: list[Finding] = []
    found = read_topics(write(text), findings.append)
    assert (list(found.values()), findings) == ([FIRST, SECOND], [])


def test_a_turn_without_an_id_is_reported(write: Write) -> None:
    findings: list[Finding] = []
    text = (CONVERSATION % TURNS % (1, "null")).replace("\n", " ")
    assert list(read_topics(write(text), findings.append)) == ["1-1_1"]
    assert [finding.kind for finding in findings] == ["topic_unreadable"]


def test_a_conversation_without_number_has_turns_by_their_own_ids(write: Write) -> None:
    record = json.loads(CONVERSATION % TURNS % ('"a_1"', '"a_2"'))[0]
    del record["number"]
    assert list(read_topics(write(json.dumps(record)), lambda finding: None)) == ["a_1", "a_2"]
