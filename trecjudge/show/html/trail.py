"""Findings, prompts as sent and gate reviews of a job, for its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.findings import KINDS
from trecjudge.inputs.sources.containers import lines
from trecjudge.records import LEFT_OUT, Place
from trecjudge.results.outputs import Outputs
from trecjudge.show.html.blocks import Blocks
from trecjudge.show.html.output import ReportInputs, read_log

OF_A_CALL = (
    "sentence_index",
    "citation_id",
    "program",
    "messages",
    "reply",
    "cached",
    "tokens",
    "seconds",
    "try",
    "shared",
    "error",
)
OF_A_FINDING = ("kind", "severity", "place", "message", "sentence", "run_id", "topic_id")
QUOTED = ", which says "
"""Text before the words of a document in the message of a finding."""

FINDINGS, CALLS, REVIEWS = "findings", "calls", "reviews"


@dataclass(slots=True)
class Trail:
    """Counts of what a log had. `logged` is False where there was no log."""

    logged: bool = False
    findings: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    prompts: dict[str, str] = field(default_factory=dict)
    """The instructions that the first call of each program gave the model."""


def read_trail(
    outputs: Outputs,
    blocks: Blocks,
    written: Callable[[str], tuple[str, str] | None],
    inputs: ReportInputs,
) -> Trail:
    """Read findings and model calls of a job's log into `blocks`.

    A finding on a line of a run is given the run and topic of the response `written` there; its
    place has only the name of the file. Without the inputs' `document_text` no call is kept, since
    prompts and replies hold text of documents, and no words that were found in a document.
    """
    trail = Trail()

    def finding(event: Mapping[str, Any]) -> None:
        # Counted from the log: the config has counts, but only the log has places.
        trail.findings[str(event.get("kind"))] += 1
        entry = {name: event.get(name) for name in OF_A_FINDING}
        entry["place"] = str(entry["place"]).rpartition("/")[2]
        entry["message"] = inputs.without_folders(str(entry["message"]))
        if not inputs.document_text and _is_on_a_document(event):
            kept, _, _ = str(entry["message"]).partition(QUOTED)
            entry["message"] = f"{kept}{QUOTED}{LEFT_OUT}"
        if not entry["run_id"]:
            found = written(str(event.get("place")))
            entry["run_id"], entry["topic_id"] = found or ("", entry["topic_id"])
        blocks.add(FINDINGS, None, entry)

    def call(event: Mapping[str, Any]) -> None:
        trail.calls += 1
        if event.get("program") not in trail.prompts:
            trail.prompts[str(event.get("program"))] = _instructions(event.get("messages"))
        entry = {name: event.get(name) for name in OF_A_CALL} | {"run": event.get("run_id")}
        blocks.add(CALLS, str(event.get("topic_id")), entry)

    handlers = {"FINDING": finding} | ({"MODEL_CALL": call} if inputs.document_text else {})
    trail.logged = read_log(outputs.log, handlers)
    return trail


def _instructions(messages: object) -> str:
    """Return the text of a call's system messages, which hold no text of a document."""
    sent = messages if isinstance(messages, list) else []
    roles = [m for m in sent if isinstance(m, dict) and m.get("role") == "system"]
    return "\n\n".join(str(message.get("content")) for message in roles)


def _is_on_a_document(event: Mapping[str, Any]) -> bool:
    return event.get("kind") == "instruction_like_text" and event.get("sentence") is None


def read_reviews(path: Path, blocks: Blocks) -> None:
    """Read the responses that a gate marked, with their rules, into `blocks`.

    Raises InputError with file and line for a line that is no such record.
    """
    if not path.is_file():
        return
    for number, line in lines(path):
        try:
            record = orjson.loads(line)
            entry = {"run": record["run_id"], "topic": record["topic_id"]}
            rules = [f"{rule['rule']}: {rule['outcome']}" for rule in record["rules"]]
            blocks.add(REVIEWS, None, entry | {"status": record["status"], "rules": rules})
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            place = Place(str(path), number)
            raise InputError(f"{place}: is not a response to review: {error}") from error


def kinds_of(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the kinds of findings with severity, effect and count, the worst first."""
    order = {"error": 0, "warning": 1, "note": 2}
    found = [
        {
            "kind": kind,
            "severity": KINDS[kind].severity if kind in KINDS else "note",
            "effect": KINDS[kind].effect if kind in KINDS else "",
            "count": count,
        }
        for kind, count in counts.items()
    ]
    return sorted(found, key=lambda kind: (order[kind["severity"]], -kind["count"], kind["kind"]))
