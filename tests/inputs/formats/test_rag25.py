"""TREC RAG 2025 and 2026."""

from __future__ import annotations

import pytest

from tests.reading import Read

RECORD = (
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
def test_a_record(citations: str, wanted: list[str], read: Read) -> None:
    found = read(RECORD % citations)
    ((topic, response),) = found.pairs
    assert (topic.topic_id, topic.title) == ("1", "why moss")
    assert (response.run_id, response.team_id, found.cited) == ("r", "t", wanted)
    assert found.kinds == ["documents_not_given"] * bool(wanted)


def test_integer_references_are_ids_and_integer_citations_are_indexes(read: Read) -> None:
    text = (RECORD % "[0]").replace('["d1#0", "d2#0"]', "[1, 0]")
    assert read(text).cited == ["1"]
