"""Answers as they are made, with what each sentence rests on; frozen."""

from __future__ import annotations

from dataclasses import dataclass

from trecjudge.baseline.records import Passage, Retrieved
from trecjudge.records import Failure, Topic


@dataclass(frozen=True, slots=True)
class Support:
    """What a sentence rests on: a passage, and the words of it that it quotes, as (start, end).

    The offsets count in the `full_text` of the passage's document, so that the quote can be found
    there again. A quote is checked word for word before it is one.
    """

    passage: Passage
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
    retrieved: tuple[Retrieved, ...]
    abstained: str = ""
    failure: Failure | None = None
