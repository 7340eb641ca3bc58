"""BioGen 2025 task B: `responses` that cite PubMed ids, as text or as integers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from trecjudge.inputs.formats.citations import written_citations
from trecjudge.inputs.formats.draft import Draft, from_metadata, metadata_of
from trecjudge.inputs.sources.values import as_id

PMID = re.compile(r"[1-9]\d{4,8}", re.ASCII)
"""PubMed ids; shorter ones were assigned before 1976, and could be indices."""

NAME = "biogen25"
DATASET = "rag"
SUMMARY = "BioGen 2025 task B: `responses` with lists or dicts of PubMed ids, text or integers"


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    if "responses" not in record or "answer" in record or record.get("references"):
        return None
    cited = [as_id(entry) or "" for entry in _cited(record["responses"])]
    topic_id = as_id(metadata_of(record).get("topic_id")) or ""
    if cited and all(PMID.fullmatch(entry) for entry in cited):
        return "its citations are PubMed ids"
    # A response without a citation is recognised by its topic: the track's have three digits.
    ours = not cited and len(topic_id) == 3 and topic_id.isascii() and topic_id.isdigit()
    return "its topic is one of BioGen" if ours and "documents" not in record else None


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the record's parts; an integer is an id here."""
    return replace(from_metadata(record, "responses"), integers_are_ids=True)


def _cited(responses: Any) -> Iterator[Any]:
    """Yield what the sentences cite."""
    for entry in responses if isinstance(responses, list) else ():
        citations = written_citations(entry)
        yield from citations if isinstance(citations, list | Mapping) else ()
