"""DRAGUN 2025 reports."""

from __future__ import annotations

from tests.reading import Read

RECORD = (
    '{"metadata": {"team_id": "t", "run_id": "kit", "topic_id": "msmarco_v2.1_doc_04_420132660",'
    ' "type": "automatic", "use_starter_kit": 1}, "responses": [{"text": "The source is a travel'
    ' site.", "citations": ["msmarco_v2.1_doc_1#0_2", "msmarco_v2.1_doc_1#1_3"]}]}'
)


def test_a_record_in_a_file_without_extension(read: Read) -> None:
    found = read(RECORD, "kit")
    assert found.answers == [("kit", "msmarco_v2.1_doc_04_420132660")]
    assert found.cited == ["msmarco_v2.1_doc_1#0_2", "msmarco_v2.1_doc_1#1_3"]
    assert found.kinds == ["documents_not_given"]
