"""What a search found, and what an answer was written from, as a person sees it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from trecjudge.baseline.freshness import (
    CHANGED,
    CURRENT,
    GONE,
    UNKNOWN,
    CitationBasis,
    FreshnessAudit,
)
from trecjudge.baseline.generate.runs import RunCounts
from trecjudge.baseline.records import RetrievedPassage, SearchResult
from trecjudge.baseline.retrieve.ranking import BY_WORDS
from trecjudge.baseline.terms import LONGEST, terms_of
from trecjudge.findings import plural, visible
from trecjudge.inputs.provenance import provenance_path
from trecjudge.inputs.retrieved import retrieved_path
from trecjudge.records import ProvenanceLine
from trecjudge.show.closing import model_line
from trecjudge.show.tables import cut
from trecjudge.text.tokens import tokenize

MARK = "bold green"
"""The style of a word of the question."""
SPACE = re.compile(r"\s+")


def search_view(found: SearchResult, least: float | None = None) -> Group:
    """Return the passages, the best first, and the confidence with the threshold `least`."""
    terms = terms_of(found.question)
    first: dict[str, int] = {}
    parts: list[RenderableType] = []
    for passage in found.passages:
        earlier = first.setdefault(passage.chunk.doc_id, passage.rank)
        parts += _passage(passage, terms, 0 if earlier == passage.rank else earlier)
    if not parts:
        parts.append(Text("nothing was found", "italic"))
    return Group(*parts, *_closing(found, len(first), least))


def _passage(
    passage: RetrievedPassage, terms: Collection[str], earlier: int
) -> Iterator[RenderableType]:
    document = passage.chunk.document
    yield Text.assemble(
        (f"{passage.rank:>3} ", "bold"),
        (visible(document.doc_id), "bold"),
        visible(f"  {document.date}" if document.date else ""),
        visible(f"  {plain(document.title)}" if document.title else ""),
        (f"  (a document of rank {earlier})" if earlier else "", "yellow"),
    )
    yield Text(f"    {passage.score:.4f} = {scores(passage.parts)}", "dim")
    yield Padding(mark_terms(passage.chunk.text, terms), (0, 0, 0, 4), expand=False)
    yield Text()


def scores(parts: Mapping[str, float]) -> str:
    """Return the scores that one was made of: `bm25 9.1234, window 2.0000`."""
    return ", ".join(f"{name} {score:.4f}" for name, score in parts.items())


def mark_terms(text: str, terms: Collection[str]) -> Text:
    """Return a text on one line with the words marked that are among the terms."""
    view, done = Text(), 0
    for token in tokenize(text):
        if token.form[:LONGEST] in terms and token.end > done:
            start = max(token.start, done)
            view.append(plain(text[done:start]))
            view.append(plain(text[start : token.end]), MARK)
            done = token.end
    view.append(plain(text[done:]))
    return view


def plain(text: str) -> str:
    """Return a text that cannot break a line or steer a terminal."""
    return visible(SPACE.sub(" ", text))


def _closing(found: SearchResult, documents: int, least: float | None) -> Iterator[RenderableType]:
    passages = plural(len(found.passages), "passage")
    yield Text(f"{passages} of {plural(documents, 'document')} by {found.method}")
    sign = ", a weak sign" if found.confidence_by == BY_WORDS else ""
    yield Text(f"confidence {found.confidence:.4f} ({found.confidence_by}{sign})")
    if found.answers is None or least is None:
        yield Text("no threshold is known for this index: --calibrate TOPICS finds one", "dim")
    else:
        verdict = (
            "the documents may answer it" if found.answers else "the documents do not answer it"
        )
        yield Text(f"{verdict}: the threshold is {least:.4f}")


def search_record(found: SearchResult, least: float | None = None) -> dict[str, Any]:
    """Return what a search found as JSON values; `start` and `end` count in title and text."""
    return {
        "question": found.question,
        "method": found.method,
        "confidence": found.confidence,
        "confidence_by": found.confidence_by,
        "threshold": least,
        "answers": found.answers,
        "index_version": found.index_version,
        "passages": [_record(passage) for passage in found.passages],
    }


def _record(passage: RetrievedPassage) -> dict[str, Any]:
    chunk = passage.chunk
    return {
        "rank": passage.rank,
        "score": passage.score,
        "parts": dict(passage.parts),
        "doc_id": chunk.doc_id,
        "title": chunk.document.title,
        "url": chunk.document.url,
        "date": chunk.document.date,
        "version": chunk.document.version,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
        "metadata": dict(chunk.metadata),
    }


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
    if made.retrieval_ms is not None:
        p50, p95 = made.retrieval_ms["p50"], made.retrieval_ms["p95"]
        yield f"retrieved: {retrieved_path(run)}: p50 {p50:.1f} ms, p95 {p95:.1f} ms"
    yield f"provenance: {provenance_path(run)}"
    if spent:
        yield model_line(spent)
    given = f"--rag-topics {shlex.quote(str(topics))}"
    yield f"next: run_judge.py check {shlex.quote(str(run))} --track {track} {given}"
    beside = f" --documents {shlex.quote(documents)}" if documents else ""
    yield f"next: run_judge.py judge {shlex.quote(str(run))} {given}{beside}"


def _topics(made: RunCounts) -> str:
    answered = plural(made.answered, "topic")
    return f"{answered} answered, {made.abstained} abstained, {made.failed} failed"


def _sentences(made: RunCounts) -> str:
    if not made.sentences:
        return "none"
    share = made.cited / made.sentences
    each = made.words / made.answered
    return f"{made.sentences:,}, {share:.0%} cited, {made.words:,} words ({each:.0f} an answer)"


# Where sentences are from, in lines: one for each citation, with the state of its document.
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
        return f"{where}; give --documents to see which are stale"
    return f"{where}: {', '.join(parts)}"


def provenance_text(line: ProvenanceLine) -> str:
    """Return where a sentence is from, in one line: document, retriever, rank, quote and time."""
    found = f"rank {line.rank}, score {line.score:.4g}" if line.rank else ""
    version = version_text(line.document_version, line.document_digest)
    found_by = ", ".join(filter(None, (line.retriever, found)))
    parts = (line.doc_id, found_by, f"version {version}", f"[{line.start}-{line.end}]", line.time)
    quote = f" “{cut(line.quote, QUOTED)}”" if line.quote else ""
    return visible(f"from {'; '.join(filter(None, parts))}{quote}")
