"""CheckThat! 2026 task 3: an article as one text, which cites as `(source: URL; URL)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trecjudge.inputs.formats.draft import CitingSpan, Draft, from_metadata
from trecjudge.inputs.formats.marks import is_address

NAME, DATASET = "checkthat26", "rag"
SUMMARY = "CheckThat! 2026 task 3: `id`, `factchecking_article` with `(source: URL; URL)` inside"
ARTICLE = "factchecking_article"
_MARK = re.compile(r" ?\(sources?:([^()]*(?:\([^()]*\)[^()]*)*)\)", re.IGNORECASE)
"""A mark; an address may have brackets of its own."""
_SPACE = re.compile(r"\s*")


def claims(record: Mapping[str, Any]) -> str | None:
    """Return why this record is of this format, or None if it is not."""
    return f"it has `{ARTICLE}`" if isinstance(record.get(ARTICLE), str) else None


def draft(record: Mapping[str, Any]) -> Draft:
    """Return the parts: an address is the id of a document, whether it is there or not."""
    found = from_metadata(record, ARTICLE, team_expected=False)
    ids = (("id", record["id"]),) if record.get("id") is not None else ()
    text, spans = cut_marks(record[ARTICLE])
    return replace(
        found,
        topic_ids=(*ids, *found.topic_ids),
        sentences=text,
        spans=tuple(spans) if spans else None,  # another way to cite is read as anywhere
        of_a_track=False,
    )


def cut_marks(article: str) -> tuple[str, list[CitingSpan]]:
    """Return an article without its marks, and what the text before each cites."""
    kept, length, end, spans = [], 0, 0, []
    for mark in _MARK.finditer(article):
        cited = tuple(address.strip() for address in mark[1].split(";"))
        if all(map(is_address, cited)):
            kept.append(article[end : mark.start()])
            length, end = length + mark.start() - end, mark.end()
            if not length and (behind := _SPACE.match(article, end)):  # it is of what follows
                end = behind.end()
            spans.append(CitingSpan(max(0, length - 1), max(1, length), cited))
    return "".join((*kept, article[end:])), spans
