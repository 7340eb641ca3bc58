"""Documents of a response, for tests of what looks into them."""

from __future__ import annotations

from trecjudge.judging.claims.search import Library
from trecjudge.records import Document


def library(*texts: str) -> Library:
    """Return documents `d0`, `d1`, ... with these texts."""
    return Library([Document(f"d{number}", text) for number, text in enumerate(texts)])
