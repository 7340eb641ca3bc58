"""Documents, passages and a retriever that answers from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trecjudge.baseline.index.records import Filter
from trecjudge.baseline.records import (
    Answer,
    AnswerSentence,
    Chunk,
    RetrievedPassage,
    SearchResult,
    Support,
)
from trecjudge.records import Document, Topic

HARBOUR = (
    "The harbour tram of Ostermere was closed in 1962 after a fire. "
    "The new tram line opened in 2014 and cost 61 million euros. "
    "He said that nobody had expected it. "
    "Click here to subscribe to our newsletter about the tram. "
    "Passengers praise the quiet battery trams of the harbour line."
)
FERRY = (
    "Ostermere also runs an electric ferry across the harbour. "
    "The new tram line opened in 2014 and cost 61 million euros. "
    "Trams are charged at both ends of the line within six minutes."
)
TOPIC = Topic(
    "11", "I want to know when the harbour tram of Ostermere opened, and what it cost.", limit=2000
)


def passage(
    doc_id: str, text: str, rank: int = 1, title: str = "", start: int = 0
) -> RetrievedPassage:
    """Return a whole document, or its end from `start`, as a passage."""
    full = f"{title}\n{text}" if title else text
    known = Document(doc_id, title=title, version="v1")
    chunk = Chunk(known, start, len(full), full[start:], f"sha-{doc_id}")
    return RetrievedPassage(chunk, 10.0 / rank, rank, {"bm25": 10.0 / rank})


def passages(**texts: str) -> list[RetrievedPassage]:
    """Return documents as passages, the best first."""
    return [passage(doc_id, text, rank) for rank, (doc_id, text) in enumerate(texts.items(), 1)]


def found(
    *listed: RetrievedPassage, answers: bool | None = None, question: str = ""
) -> SearchResult:
    """Return what a search found."""
    return SearchResult(question, listed, "bm25", 0.5, "top BM25 over idf", answers, "index-1")


@dataclass
class ScriptedRetriever:
    """Finds what the script has for a question, else `other`; keeps what it was asked."""

    other: SearchResult
    script: Mapping[str, SearchResult] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0

    async def retrieve(self, question: str, most: int, only: Filter | None = None) -> SearchResult:
        self.asked.append(question)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        return self.script.get(question, self.other)


def answer(topic: Topic, sentences: Sequence[tuple[str, Sequence[str]]]) -> Answer:
    """Return an answer of (text, documents that have it) pairs."""
    made = []
    for text, doc_ids in sentences:
        support = (Support(passage(d, text), 0, len(text), text) for d in doc_ids)
        made.append(AnswerSentence(text, tuple(support)))
    return Answer(topic, tuple(made), (found(),))
