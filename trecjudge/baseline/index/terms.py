"""Text as terms: one way for documents and for questions."""

from __future__ import annotations

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
