"""What is indexed, found and answered: chunks, passages, searches, answers; frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from trecjudge.records import Document, Failure, Topic

Method = Literal["bm25", "dense", "hybrid"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a document: `text` is `full_text[start:end]` of it, character for character.

    So a chunk is always a quote. `document` is all that is known of the document but its text;
    `metadata` are further fields of its record, by name.
    """

    document: Document
    start: int
    end: int
    text: str
    digest: str = ""
    """The sha256 of the document's title and text: it changes when the document does."""
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def doc_id(self) -> str:
        """The id of its document: what an answer cites, never the chunk."""
        return self.document.doc_id


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A chunk as a search found it; `rank` counts from 1.

    `score` orders the passages of one search. `parts` are the scores that it was made of, by the
    name of what gave them: `bm25`, `window`, `pairs`, `dense`, `recency` (a factor), `rerank`.
    """

    chunk: Chunk
    score: float
    rank: int
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found, the best first.

    `confidence` says how likely the documents answer at all: the mean cosine of the first 20 where
    there are vectors, else the top BM25 score over the idf of the question's words. Scores of
    `confidence_by` can be compared only with others of the same name. `answers` is whether it
    reaches the calibrated threshold; None without one.
    """

    question: str
    passages: tuple[RetrievedPassage, ...]
    method: Method
    confidence: float
    confidence_by: str
    answers: bool | None
    index_version: str


@dataclass(frozen=True, slots=True)
class Support:
    """What a sentence rests on: a passage, and the words of it that it quotes, as (start, end).

    The offsets count in the `full_text` of the passage's document, so that the quote can be found
    there again. A quote is checked word for word before it is one.
    """

    passage: RetrievedPassage
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer, the strongest support first."""

    text: str
    support: tuple[Support, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a topic; `abstained` says why there is none, `failure` what went wrong.

    `retrieved` are the searches that it was made from, one for each round.
    """

    topic: Topic
    sentences: tuple[AnswerSentence, ...]
    retrieved: tuple[SearchResult, ...]
    abstained: str = ""
    failure: Failure | None = None
