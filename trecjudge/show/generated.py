"""A run that was made, for a person: what it has, how it was made, what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trecjudge.baseline.generate.making import RunCounts
from trecjudge.findings import plural
from trecjudge.inputs.provenance import provenance_path
from trecjudge.show.closing import model_line

MOST_LISTED = 5
"""Topics without an answer that are listed with why."""


def generated_lines(
    made: RunCounts, run: Path, track: str, topics: Path, documents: str, spent: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what a run has, its files, and the commands that check and judge it.

    `track` is the one whose rules it keeps, which not every record shows. `documents` is what a
    judge needs beside the run, empty if nothing.
    """
    yield f"run: {run}: {_topics(made)}"
    yield f"sentences: {_sentences(made)}"
    if made.mean_confidence is not None:
        yield f"confidence: {made.mean_confidence:.3f} on average ({made.confidence_by})"
    for topic_id, why in list(made.abstentions.items())[:MOST_LISTED]:
        yield f"abstained: topic {topic_id}: {why}"
    if len(made.abstentions) > MOST_LISTED:
        yield f"abstained: … {len(made.abstentions)} topics in all"
    yield f"provenance: {provenance_path(run)}"
    if spent:
        yield model_line(spent)
    given = f"--rag-topics {shlex.quote(str(topics))}"
    yield f"next: run_judge.py check {shlex.quote(str(run))} --track {track} {given}"
    beside = f" --documents {shlex.quote(documents)}" if documents else ""
    yield f"next: run_judge.py --rag-responses {shlex.quote(str(run))} {given}{beside}"


def _topics(made: RunCounts) -> str:
    answered = plural(made.answered, "topic")
    return f"{answered} answered, {made.abstained} abstained, {made.failed} failed"


def _sentences(made: RunCounts) -> str:
    if not made.sentences:
        return "none"
    share = made.cited / made.sentences
    each = made.words / made.answered
    return f"{made.sentences:,}, {share:.0%} cited, {made.words:,} words ({each:.0f} an answer)"
