"""RAGTIME 2025 and 2026."""

from __future__ import annotations

import pytest

from tests.reading import Read
from trecjudge.records import Citation

RECORD = (
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
def test_a_record(citations: str, wanted: list[tuple[str, float | None]], read: Read) -> None:
    found = read(RECORD % citations)
    ((topic, response),) = found.pairs
    assert (topic.topic_id, topic.title) == ("1001", "canals")
    assert (response.run_id, response.team_id) == ("r", "t")
    assert found.citations == [Citation(doc_id, doc_id, score) for doc_id, score in wanted]


def test_a_record_without_references(read: Read) -> None:
    text = (RECORD % '["u-1_0"]').replace('"references": ["u-1_0", "u-2_1"],', "")
    assert (read(text).cited, read(text).kinds) == (["u-1_0"], ["documents_not_given"])
