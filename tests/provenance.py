"""Lines of provenance for tests."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trecjudge.records import ProvenanceLine

KETTLE = "Kettles\nSteam makes a kettle whistle. It was invented in Lyon."
QUOTE = "Steam makes a kettle whistle."


def line(**fields: Any) -> ProvenanceLine:
    """Return a line of run `r` on topic `1` that quotes the document `k`."""
    start = KETTLE.index(QUOTE)
    given: dict[str, Any] = {
        "run_id": "r",
        "topic_id": "1",
        "sentence_index": 0,
        "doc_id": "k",
        "start": start,
        "end": start + len(QUOTE),
        "quote": QUOTE,
        "score": 12.5,
        "rank": 3,
        "retriever": "bm25",
        "document_version": "v1",
        "document_digest": "",
        "index": "docs.index",
        "index_version": "i1",
        "time": "2026-11-28T20:00:00Z",
    }
    return ProvenanceLine(**given | fields)


def written(path: Path, *lines: ProvenanceLine | str) -> Path:
    """Write lines, texts as they are; return the path."""
    texts = (text if isinstance(text, str) else json.dumps(asdict(text)) for text in lines)
    path.write_text("".join(f"{text}\n" for text in texts))
    return path
