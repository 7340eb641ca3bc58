"""Texts, topics and questions as weighted terms: one way for documents and for what is asked."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

from trecjudge.records import Topic
from trecjudge.text.frequencies import grammar_of
from trecjudge.text.tokens import read_forms

ANALYSER = "forms-1"
"""What makes the terms; an index of another one cannot be searched. To change with this file, and
with the forms of `text/`."""
LONGEST = 64
"""Characters of a term: an endless word is cut."""
TITLE_WORDS = 40
"""Terms of a title that count with each chunk of its document."""


def terms(text: str) -> list[str]:
    """Return the terms of a text in their order: stems, numbers, bigrams of unspaced scripts."""
    return [form[:LONGEST] for form in read_forms(text)[1] if form]


def chunk_terms(title: str, text: str) -> list[str]:
    """Return the terms of a chunk, with those of its document's title where it lacks them."""
    if not title or text.startswith(title):
        return terms(text)
    return [*terms(title)[:TITLE_WORDS], *terms(text)]


_FILE = Path(__file__).with_name("request_words.txt")
REQUEST_WEIGHT = 0.3
"""What a word of the request counts: of 0, 0.3, 0.6 and 1 the best with topics and sentences."""
MOST_OF_ARTICLE = 2000
"""Characters of a topic's article that are searched for, where it says nothing else."""


def question_of(topic: Topic) -> str:
    """Return what a topic asks: title, problem statement and background, a line each.

    A topic that asks about an article has its beginning too, if it has neither of the last two.
    """
    parts = [topic.title, topic.problem_statement, topic.background]
    if not any(map(str.strip, parts[1:])):
        parts.append(topic.body[:MOST_OF_ARTICLE])
    return "\n".join(dict.fromkeys(part.strip() for part in parts if part.strip()))


def terms_of(question: str) -> dict[str, float]:
    """Return the terms of a question, each with how often it stands there.

    Function words are left out. Words of the request ("I am looking for") say little about what is
    looked for and count `REQUEST_WEIGHT`, unless the question has no others.
    """
    counts = Counter(terms(question))
    content = {term: float(count) for term, count in counts.items()}
    grammar = grammar_of(counts.keys())
    content = {term: count for term, count in content.items() if term not in grammar} or content
    request = request_words().intersection(content)
    if len(request) == len(content):
        return content
    return {term: n * REQUEST_WEIGHT if term in request else n for term, n in content.items()}


@cache
def request_words() -> frozenset[str]:
    """Return the words by which a request is made, as forms, of all languages."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    words = [line for line in lines if not line.startswith("#") and not line.endswith(":")]
    return frozenset(terms(" ".join(words)))
