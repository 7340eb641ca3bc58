"""What a sentence encoder says of a pair: how like the sentence is to one of the document's."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from trecjudge.judging.offline.prepared import LONG, Prepared, best_part
from trecjudge.judging.offline.wording import Wording
from trecjudge.text.embeddings import Encoder

_FEWEST = 3
"""Sentences of a document from which on it counts: in shorter ones words tell more."""


def likeness_in(wording: Wording, document: Prepared, encoder: Encoder) -> float | None:
    """Return the cosine of the sentence and the nearest sentence of the document, -1 to 1.

    Of a long document only the best passages by words are read, as for the features. None for a
    document of one or two sentences.
    """
    if len(document.spans) < _FEWEST:
        return None
    places: Iterable[int] = range(len(document.spans))
    if document.tokens > LONG:
        part = best_part([(term.form, term.weight) for term in wording.terms], document)
        places = set[int]().union(*part.segments_of.values())
    ours = _vector(wording.text, encoder)
    theirs = (_vector(document.text[slice(*document.spans[at])], encoder) for at in places)
    return max((float(ours @ vector) for vector in theirs), default=None)


# Runs on one topic cite the same documents: 2 KB a sentence, 33 MB in all.
@lru_cache(maxsize=16_384)
def _vector(text: str, encoder: Encoder) -> Any:
    return encoder.vector(text)
