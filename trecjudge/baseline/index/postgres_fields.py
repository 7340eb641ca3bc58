"""Which documents a search in PostgreSQL may find, as a part of its query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trecjudge.baseline.index.fields import DOC_ID, OWN, Bounds, conditions_of
from trecjudge.baseline.index.postgres_shelf import kept
from trecjudge.baseline.index.protocol import Only

START = 100
"""Characters of a value that are in the index of the fields."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A query for the numbers of the documents that may be found, with its values.

    `names` are the fields that documents must have.
    """

    query: str
    values: dict[str, Any]
    names: Sequence[str]


def narrowing(only: Only | None) -> Narrowing | None:
    """Return what narrows a search; None where all may be found. Raises InputError."""
    conditions = conditions_of(only) if only else []
    if not conditions:
        return None
    values: dict[str, Any] = {}
    queries = []
    for place, condition in enumerate(conditions):
        if condition.name == DOC_ID:
            values[f"ids{place}"] = [kept(value) for value, _ in condition.bounds]
            queries.append(f"SELECT number FROM documents WHERE id = ANY(%(ids{place})s)")
            continue
        values[f"name{place}"] = kept(condition.name)
        within = _within(place, condition.bounds, values)
        query = f"SELECT document FROM fields WHERE name = %(name{place})s AND ({within})"
        queries.append(query)
    names = [condition.name for condition in conditions if condition.name not in OWN]
    return Narrowing(" INTERSECT ".join(queries), values, names)


def _within(place: int, bounds: Sequence[Bounds], values: dict[str, Any]) -> str:
    """Return the condition that a value is one of some, or lies within bounds."""
    one_of = f"one_of{place}"
    values[one_of] = [kept(first) for first, last in bounds if first == last]
    values[f"{one_of}_start"] = [value[:START] for value in values[one_of]]
    parts = [f"left(value, {START}) = ANY(%({one_of}_start)s) AND value = ANY(%({one_of})s)"]
    ranges = (pair for pair in bounds if pair[0] != pair[1])
    for number, (first, last) in enumerate(ranges):
        low, high = f"low{place}_{number}", f"high{place}_{number}"
        values |= {low: kept(first), high: kept(last)}
        parts.append(
            f"left(value, {START}) BETWEEN left(%({low})s, {START}) AND left(%({high})s, {START})"
            f" AND value BETWEEN %({low})s AND %({high})s"
        )
    return " OR ".join(parts)
