"""TREC RAG 2024."""

from __future__ import annotations

from tests.reading import Read

RECORD = (
    '{"run_id": "base", "topic_id": "2024-1", "topic": "why moss", "references": ["d1#0", "d2#0"],'
    ' "response_length": 4, "answer": [{"text": "Moss is green.", "citations": [1, 0]},'
    ' {"text": "Yes.", "citations": []}]}'
)


def test_a_record(read: Read) -> None:
    found = read(RECORD)
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
    assert read(RECORD.replace('"why moss"', "7")).pairs[0][0].title == ""
