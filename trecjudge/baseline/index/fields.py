"""The fields by which a search can be narrowed, and what `Only` asks of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trecjudge.baseline.index.dates import SHAPES, first_day, sortable
from trecjudge.baseline.index.protocol import Only
from trecjudge.errors import InputError
from trecjudge.records import Document

DATE, DOC_ID = "date", "doc_id"
OWN = (DOC_ID, "url", DATE, "version")
"""Fields that each document may have; a further field of such a name is not searched by."""
AFTER = "\uffff"
"""Sorts after all that a date goes on with."""
Bounds = tuple[str, str]
"""The first and the last value, each included."""


def fields_of(document: Document, metadata: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (name, value) of what a document can be found by, but its id; dates sort as text."""
    own = {"url": document.url, DATE: first_day(document.date), "version": document.version}
    for name, value in own.items():
        if value:
            yield name, value
    for name, value in metadata.items():
        if name not in OWN:
            yield name, value


@dataclass(frozen=True, slots=True)
class Condition:
    """One field must lie within one of some bounds."""

    name: str
    bounds: Sequence[Bounds]


def conditions_of(only: Only) -> list[Condition]:
    """Return what all must hold. Raises InputError for a date that is none."""
    found = [
        Condition(name, [_day(v, name) if name == DATE else (v, v) for v in values])
        for name, values in only.fields.items()
    ]
    if only.since or only.until:
        first = _date(only.since, "since") if only.since else ""
        last = _date(only.until, "until") + AFTER if only.until else AFTER
        found.append(Condition(DATE, [(first, last)]))
    return found


def _day(written: str, name: str) -> Bounds:
    date = _date(written, name)
    return date, date + AFTER


def _date(written: str, name: str) -> str:
    date = sortable(written)
    if not date:
        raise InputError(f"{name} {written!r} is no date; write it as {SHAPES}")
    return date
