"""Newer documents raised: a factor on the score, by the age of the document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime

from trecjudge.baseline.index.dates import first_day
from trecjudge.baseline.retrieve.candidates import Candidate, ordered


def day_of(written: str) -> date | None:
    """Return the day of a date in any shape that an index reads, None for no date."""
    day = first_day(written)
    return date.fromisoformat(day[:10]) if day else None


def by_recency(candidates: Iterable[Candidate], half_life: float) -> list[Candidate]:
    """Return candidates with scores raised by a factor of 1 to 2, the best first.

    The factor is 1 + 2^(-age / half_life), with the age in days before the newest of them: 2 for
    the newest, 1.5 after a half-life. A document without a date keeps its score. So the same
    question gives the same order tomorrow. A date still to come, which may be a slip of the pen,
    counts as the newest, and takes nothing from the others.
    """
    given = [(candidate, day_of(candidate.chunk.document.date)) for candidate in candidates]
    newest = _newest([day for _, day in given if day])
    raised = []
    for candidate, day in given:
        if day and newest:
            factor = 1 + 2 ** (-max((newest - day).days, 0) / half_life)
            candidate = candidate.scored(candidate.score * factor, recency=factor)
        raised.append(candidate)
    return ordered(raised)


def _newest(days: Sequence[date]) -> date | None:
    """Return the newest day that was; where all are still to come, the last; None without any."""
    today = datetime.now(UTC).date()
    return max((day for day in days if day <= today), default=max(days, default=None))
