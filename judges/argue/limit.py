"""Where a report is cut that is longer than it may be."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from trecjudge import Sentence


def within(limit: int, sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return the sentences that end within so many characters; all of them where it is 0.

    Counted as RAGTIME does it: after NFKC, sentences joined by spaces.
    """
    if not limit:
        return sentences
    size = -1
    for count, sentence in enumerate(sentences):
        size += 1 + len(unicodedata.normalize("NFKC", sentence.text))
        if size > limit:
            return sentences[:count]
    return sentences
