"""Where one citation of one sentence is from: a line of `NAME.provenance.jsonl` beside a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProvenanceLine:
    """Where one citation of one sentence is from.

    `sentence_index` counts from 0, as in judgments. `start` and `end` are offsets of `quote` in the
    title and text of the document. `document_digest` is the sha256 of that text when it was read;
    `document_version` is the document's own, where it has one. `time` is UTC, ISO 8601, no
    text where the line names none.
    """

    run_id: str
    topic_id: str
    sentence_index: int
    doc_id: str
    start: int
    end: int
    quote: str
    score: float
    rank: int
    retriever: str
    document_version: str
    document_digest: str
    index: str
    index_version: str
    time: str
