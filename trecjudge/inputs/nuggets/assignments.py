"""AutoNuggetizer's assignment files: which nuggets each response states, as labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.nuggets.bank import Raw
from trecjudge.inputs.sources.values import as_id, as_text
from trecjudge.records import Place
from trecjudge.records.nuggets import plain_name

NuggetKey = tuple[str, str, int | None, str | None, str]
"""(topic_id, run_id, sentence_index, doc_id, name of the nugget)."""


def is_assignment(record: Raw) -> bool:
    """Return whether a record has the assignments of a response's nuggets."""
    return "qid" in record and isinstance(record.get("nuggets"), list)


def read_assignments(
    record: Raw, place: Place, report: OnFinding
) -> Iterator[tuple[NuggetKey, str]]:
    """Yield (key, label) of every nugget of a response; a nugget without a label is reported."""
    topic_id, run_id = as_id(record.get("qid")), as_id(record.get("run_id"))
    if not (topic_id and run_id):
        message = "has assignments of nuggets, and needs qid and run_id"
        report(Finding("label_unusable", place, message, brief(sorted(record))))
        return
    for raw in record["nuggets"]:
        given: dict[str, Any] = raw if isinstance(raw, dict) else {}
        name, label = plain_name(as_text(given.get("text"))), as_id(given.get("assignment"))
        if name and label:
            yield (topic_id, run_id, None, None, name), label
            continue
        message = "a nugget has no text or no assignment"
        report(Finding("label_unusable", place, message, brief(raw), None, run_id, topic_id))
