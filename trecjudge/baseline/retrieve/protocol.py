"""What a retriever offers to those who answer questions."""

from __future__ import annotations

from typing import Protocol

from trecjudge.baseline.index.protocol import Only
from trecjudge.baseline.records import Retrieved


class Retriever(Protocol):
    """Finds passages for a question in an index, by one method and its settings."""

    async def retrieve(self, question: str, most: int, only: Only | None = None) -> Retrieved:
        """Return at most `most` passages, the best first."""
