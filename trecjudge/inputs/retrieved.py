"""What a run retrieved for its topics: `NAME.retrieved.jsonl` beside the run's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.sources.containers import bare_name
from trecjudge.inputs.sources.values import as_id, objects
from trecjudge.records import Document, Place, Response

ENDING = ".retrieved.jsonl"
NEEDED = "run_id, topic_id, passages with a doc_id each"

Retrieved = Mapping[tuple[str, str], Mapping[str, str] | None]
"""Texts of what was retrieved, by doc_id, the best first; None where a line cannot be read."""


def retrieved_path(run: Path) -> Path:
    """Return where that of a run file is: beside `a.jsonl.gz` in `a.retrieved.jsonl`."""
    return run.with_name(f"{bare_name(run)}{ENDING}")


def retrieved_beside(run: Path, report: OnFinding) -> Retrieved | None:
    """Return what the responses of a run file retrieved, by (run_id, topic_id), or None.

    A line is one search; where a topic has several, what a later one found anew comes after.
    Several passages of a document are one text. A line that cannot be read is reported: of its
    topic nothing is known then.
    """
    path = retrieved_path(run)
    if not path.is_file():
        return None
    found: dict[tuple[str, str], dict[str, str] | None] = {}

    def tell(finding: Finding) -> None:
        report(replace(finding, kind="retrieved_unusable"))

    try:
        for number, record in objects(path, tell):
            key = as_id(record.get("run_id")) or "", as_id(record.get("topic_id")) or ""
            passages = _passages(record.get("passages"))
            if passages is None or not all(key):
                message = f"is no line of what was retrieved: it needs {NEEDED}"
                tell(Finding("", Place(str(path), number), message, brief(record)))
                found[key] = None
            elif (texts := found.setdefault(key, {})) is not None:
                for doc_id, text in passages:
                    texts[doc_id] = "\n".join(filter(None, (texts.get(doc_id), text)))
    except InputError as error:  # the run itself can be judged all the same
        tell(Finding("", Place(str(path)), str(error).removeprefix(f"{path}: ")))
        return {}
    return found


def with_retrieved(response: Response, texts: Mapping[str, str] | None) -> Response:
    """Return a response with what it retrieved, None for what is not known.

    It stands above what the record says, whose references may be what is cited only.
    """
    if texts is None:
        return replace(response, retrieved=None)
    documents = {i: Document(i, text) for i, text in texts.items() if text}
    return replace(response, retrieved=tuple(texts), retrieved_documents=documents)


def _passages(given: Any) -> list[tuple[str, str]] | None:
    """Return (doc_id, text) of passages, by rank where all have one; None if they are none."""
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        return None
    ranks = [one.get("rank") for one in given]
    if all(type(rank) is int for rank in ranks):
        given = sorted(given, key=lambda one: one["rank"])
    found = [(as_id(one.get("doc_id")), one.get("text")) for one in given]
    if not all(doc_id for doc_id, _ in found):
        return None
    return [(doc_id or "", text if isinstance(text, str) else "") for doc_id, text in found]
