"""Files that this program wrote, recognised by their content, not by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.values import first_objects

TEXTS = {
    re.compile(rb"[^\t]+\t[^\t]+\t[^\t]+\t-?\d+\.\d{6}"): "a leaderboard",
    re.compile(rb"\S+ \S+ \S+ -?\d+\s*(?:\n|\Z)"): "a qrels file",
    re.compile(rb"written: '\d{4}-"): "the config of a job",
    re.compile(rb'trecjudge\("'): "a part of a report",
}
"""The first lines of our files that are not JSON."""

EVENT = re.compile(
    r"session_(start|end)|FINDING|MODEL_CALL|FAILURE|BUG|\w+_(INPUT|OUTPUT)", re.ASCII
)
RECORDS = ("header", "response", "judgment", "end")
OF_RECORDS = {"format", "run_id", "responses"}
"""Keys of a judgments file's records, each of which has one at least."""

KEYS: Mapping[str, tuple[set[str], ...]] = {
    "the statistics of a leaderboard": ({"run_id", "measure", "mean", "judged", "expected"},),
    "a review file": ({"run_id", "topic_id", "status", "rules", "look_at"},),
    "a file of labels": ({"run_id", "topic_id", "sentence_index", "doc_id", "label"},),
    "the trail of a bank": ({"nugget_id", "passages", "said", "also"},),
    "the provenance of a run": ({"run_id", "topic_id", "doc_id", "quote", "retriever"},),
    "a calibration": ({"format", "intercept", "features"},),
    "the output of a command": (
        {"measure", "truth_measure", "correlations"},
        {"pairs", "findings"},
        {"differences", "verdicts"},
        {"truth", "predicted", "figures"},
        {"passed", "checks"},
        {"items", "findings"},
        {"runs", "totals", "changes"},
        {"ranked_by", "measures", "runs"},
        {"sources", "others", "runs"},
        {"pack", "documents", "lacks"},
    ),
}
"""Keys of our files' records, by kind: a record has all keys of one of the sets."""
LONGEST = 10_000
"""Bytes of a first line that are looked at."""
ROW = {"run_id", "topic_id", "measure", "value"}
JOBS = {"jobs"}


def own_output(file: Path | Opened) -> str:
    """Return what a file is that this program wrote: `a judgments file`; empty if it is none.

    Its content counts, not its name: it may be renamed, packed or reformatted. Empty also where it
    cannot be read.
    """
    opened = Opened.of(file)
    records = first_objects(opened, 1)
    if records:
        return own_record(records[0])
    first = next(iter(opened.first(1)), b"")[:LONGEST]
    return next((what for form, what in TEXTS.items() if form.match(first)), "")


def own_record(record: Mapping[str, Any]) -> str:
    """Return which of our files a record comes from; empty if it comes from none."""
    keys = set(record)
    if record.get("record") in RECORDS and keys & OF_RECORDS:
        return "a judgments file"
    if {"event", "timestamp"} <= keys and EVENT.fullmatch(str(record["event"])):
        return "a debug log"
    if keys == ROW:
        return "a leaderboard"
    if keys == JOBS:
        return "the output of a command"
    fitting = (what for what, sets in KEYS.items() if any(wanted <= keys for wanted in sets))
    return next(fitting, "")
