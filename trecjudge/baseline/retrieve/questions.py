"""What is searched for: the question of a topic, and the terms of a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from trecjudge.records import Topic
from trecjudge.text.function_words import grammar_of
from trecjudge.text.tokens import read_forms

_FILE = Path(__file__).with_name("request_words.txt")
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
    """Return the terms of a question (stems), each with how often it stands there.

    Words of the request ("I am looking for") and function words say nothing about what is looked
    for, and are left out. Where nothing else is there they are kept.
    """
    counts = Counter(read_forms(question)[1])
    grammar = grammar_of(counts.keys())
    content = _without(counts, grammar | request_words())
    return content or _without(counts, grammar) or _without(counts, ())


def _without(counts: Mapping[str, int], left_out: Collection[str]) -> dict[str, float]:
    return {form: float(count) for form, count in counts.items() if form not in left_out}


@cache
def request_words() -> frozenset[str]:
    """Return the words by which a request is made, as forms, of all languages."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    words = [line for line in lines if not line.startswith("#") and not line.endswith(":")]
    return frozenset(read_forms(" ".join(words))[1])
