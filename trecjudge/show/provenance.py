"""A run that was made, and where its sentences are from, in lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from trecjudge.baseline.freshness import (
    CHANGED,
    CURRENT,
    GONE,
    UNKNOWN,
    CitationBasis,
    FreshnessAudit,
)
from trecjudge.baseline.generate.runs import RunCounts
from trecjudge.findings import plural, visible
from trecjudge.inputs.provenance import provenance_path
from trecjudge.records import ProvenanceLine
from trecjudge.show.closing import model_line
from trecjudge.show.tables import cut

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


COPIED = "copied word for word from a document"
HEADER = "run  topic  #  document  version  state"
DIGEST = 8
"""Characters of a digest that are shown."""
QUOTED = 60
"""Characters of a quote that are shown."""


def basis_lines(bases: Iterable[CitationBasis]) -> Iterator[str]:
    """Yield a header, and a line for each citation; sentences count from 1."""
    yield HEADER
    for basis in bases:
        line = basis.line
        place = f"{line.run_id}  {line.topic_id}  {line.sentence_index + 1}  {line.doc_id}"
        yield f"{place}  {versions_text(basis)}  {state_text(basis)}"


def versions_text(basis: CitationBasis) -> str:
    """Return the version of a document then and, where it is another, now."""
    then = version_text(basis.line.document_version, basis.line.document_digest)
    now = version_text(basis.version_now, basis.digest_now)
    return f"{then} -> {now}" if basis.state == CHANGED else then


def version_text(version: str, digest: str) -> str:
    """Return a version with the beginning of its digest, `-` without either."""
    return "/".join(filter(None, (version, digest[:DIGEST]))) or "-"


def state_text(basis: CitationBasis) -> str:
    """Return the state of a document, and of the quote where that is not as it should be."""
    if basis.state == CHANGED:
        return f"{CHANGED}, quote {'still there' if basis.quoted else 'gone'}"
    return f"{basis.state}, quote not in it" if basis.quoted is False else basis.state


def closing_line(audit: FreshnessAudit) -> str:
    """Return how many citations there are in each state."""
    total = sum(audit.states.values())
    parts = [f"{audit.states[CURRENT]} current"]
    changed = f"{audit.states[CHANGED]} changed"
    parts.append(f"{changed} ({audit.quoted} with the quote still there)")
    parts.append(f"{audit.states[GONE]} gone")
    runs = plural(len(audit.runs), "run")
    where = f"{plural(total, 'citation')} of {runs}"
    if audit.states[UNKNOWN]:
        return f"{where}; give --index or --documents to see which are stale"
    return f"{where}: {', '.join(parts)}"


def provenance_text(line: ProvenanceLine) -> str:
    """Return where a sentence is from, in one line: document, retriever, rank, quote and time."""
    found = f"rank {line.rank}, score {line.score:.4g}" if line.rank else ""
    version = version_text(line.document_version, line.document_digest)
    found_by = ", ".join(filter(None, (line.retriever, found)))
    parts = (line.doc_id, found_by, f"version {version}", f"[{line.start}-{line.end}]", line.time)
    quote = f" “{cut(line.quote, QUOTED)}”" if line.quote else ""
    return visible(f"from {'; '.join(filter(None, parts))}{quote}")
