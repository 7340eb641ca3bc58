"""Conversations, of which every turn is a topic."""

from __future__ import annotations

import json

import pytest

from tests.reading import Write
from trecjudge.findings import Finding
from trecjudge.inputs.topics import read_topics
from trecjudge.records import Topic

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


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CONVERSATION % TURNS % (1, 2), id="turns counted"),
        pytest.param(CONVERSATION % TURNS % ('"1-1_1"', '"1-1_2"'), id="turns by their whole id"),
        pytest.param(
            (CONVERSATION % TURNS % (1, 2))
            .replace('"responses"', '"turns"')
            .replace("user_utterance", "utterance")
            .replace(
                '["I live by the bay.", "I am 40."]', '{"1": "I live by the bay.", "2": "I am 40."}'
            ),
            id="iKAT 2023 and 2024",
        ),
    ],
)
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
