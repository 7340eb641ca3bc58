"""Kinds of findings of the reader that the rules of a track are about."""

from __future__ import annotations

LOST = frozenset(
    {
        "bad_utf8",
        "file_not_a_run",
        "file_unreadable",
        "file_without_responses",
        "line_not_json",
        "record_not_an_object",
        "record_too_large",
        "record_unknown_shape",
    }
)
"""Findings on lines and files that gave no record."""
OF_A_RECORD = frozenset(
    {
        "answer_differs",
        "citation_score_unusable",
        "citations_misnamed",
        "document_differs",
        "document_empty",
        "document_missing",
        "document_varies",
        "documents_beside",
        "documents_withheld",
        "markers_read",
        "citation_not_read",
        "own_document_empty",
        "response_empty",
        "response_not_a_list",
        "sentence_unusable",
        "topic_id_conflict",
        "topic_id_missing",
    }
)
"""Findings of the reader that rules are about; all other violations the checker finds itself."""
