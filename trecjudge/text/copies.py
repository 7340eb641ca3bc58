"""Whether the words of a sentence stand in a text in a row, as they are in the sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from trecjudge.text.tokens import count_spaceless, written_words

FEWEST_WORDS = 8
"""Fewer words may stand in a document by chance."""
LETTERS_OF_A_WORD = 2
"""Letters that count as one word in scripts written without spaces."""
_NUMBERED = re.compile(r"\[[\d\s,;^–-]{1,40}\]")
_LONGEST_ENDING = 200
_ENDING = re.compile(r"(?:\s*(?:\[[^\[\]]+\]|\(\d{1,3}\)|[.!?。！？]))+\s*$")
_LOOKED_FOR_FIRST = 6


def is_copied(sentence: str, texts: Sequence[str]) -> bool | None:
    """Return whether a text has the words of a sentence in a row; None for less than eight words.

    Case, punctuation and white space do not matter, nor do marks of citations, such as "[2]", or
    "[doc_7]" at the end.
    """
    bare = _without_marks(sentence)
    if not _is_long(bare):
        return None
    likely = _likely(bare, texts)
    if not likely:
        return False
    wanted = _join_tokens(bare)
    return any(wanted in _words_of(text) for text in likely)


def _likely(sentence: str, texts: Sequence[str]) -> Sequence[str]:
    """Return the texts that have some long words of a sentence: few do, and it is fast to see."""
    if sentence.isupper():
        return texts
    words = sorted([w for w in sentence.split() if w.isascii() and w.isalpha()], key=len)
    for word in words[: -_LOOKED_FOR_FIRST - 1 : -1]:
        # The first letter may be a capital on one side only.
        texts = [text for text in texts if word[1:] in text]
    return texts


def _is_long(sentence: str) -> bool:
    words = len(sentence.split())
    return (
        words >= FEWEST_WORDS
        or words + count_spaceless(sentence) / LETTERS_OF_A_WORD >= FEWEST_WORDS
    )


def _without_marks(sentence: str) -> str:
    # An ending of any length would let a hostile sentence take minutes.
    body, ending = sentence[:-_LONGEST_ENDING], sentence[-_LONGEST_ENDING:]
    if "]" not in ending and ")" not in ending:
        return sentence
    return body + _ENDING.sub("", ending)


# Runs on one topic have the same documents.
@lru_cache(maxsize=1024)
def _words_of(text: str) -> str:
    return _join_tokens(text)


def _join_tokens(text: str) -> str:
    return f" {' '.join(written_words(_NUMBERED.sub(' ', text)))} "
