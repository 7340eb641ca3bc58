"""Sentences that a response took word for word from a document."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Copies:
    """How much of a response stands word for word in one of its documents.

    `at` are the indices of these sentences; `of` is how many sentences were looked for: those with
    at least eight words.
    """

    at: tuple[int, ...]
    of: int
