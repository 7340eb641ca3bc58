"""The sentences of a response that are copied from one of its documents."""

from __future__ import annotations

from trecjudge.records import Copies, Response
from trecjudge.text.tokens import is_copied


def copies_in(response: Response) -> Copies | None:
    """Return what a response copies from its documents; None where none of them has text."""
    texts = [document.full_text for document in response.documents.values() if document.has_text]
    if not texts:
        return None
    found = {
        s.index: copied
        for s in response.sentences
        if (copied := is_copied(s.text, texts)) is not None
    }
    return Copies(tuple(index for index, copied in found.items() if copied), len(found))
