"""What a search found, for a terminal: passages with the words of the question marked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from trecjudge.baseline.records import RetrievedPassage, SearchResult
from trecjudge.baseline.retrieve.threshold import BY_WORDS
from trecjudge.baseline.terms import LONGEST, terms_of
from trecjudge.findings import plural, visible
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
