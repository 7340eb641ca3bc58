"""The AutoJudge round trip."""

from __future__ import annotations

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


def test_references_are_ignored(read: Read) -> None:
    found = read((RECORD % (SENTENCES, SENTENCES)).replace('{"d": 0.5}', '["other", 0]'))
    assert [c.doc_id for c in found.citations] == ["other", None]
    assert found.kinds == ["citation_out_of_range", "document_missing"]


def test_a_response_without_sentences_is_empty(read: Read) -> None:
    found = read(RECORD % ("[]", "[]"))
    assert (found.response.sentences, found.kinds) == ((), ["response_empty"])
