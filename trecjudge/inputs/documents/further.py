"""The fields of a document's record that are no part of a `Document`: what it can be found by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trecjudge.inputs.documents.names import (
    ADDRESSES,
    DATES,
    IDENTIFYING,
    LISTS,
    NESTED,
    TEXTS,
    TITLES,
    URLS,
    VERSIONS,
    plain,
)

LONGEST = 1000
"""Characters; a longer value is a text, and no field to search by."""
READ = frozenset((*IDENTIFYING, *TEXTS, *TITLES, *URLS, *DATES, *VERSIONS, *LISTS))
"""Names of what a `Document` has. `source` is a field too: it often names a collection."""
INSIDE = frozenset(NESTED) - set(ADDRESSES)


def further_fields(record: object) -> dict[str, str]:
    """Return the further texts, numbers and truth values of a record, as text, by name.

    Those of an object inside it, such as `metadata`, too; the record's own count first.
    """
    if not isinstance(record, dict):
        return {}
    found = dict(_own_fields(record))
    for name, value in record.items():
        if isinstance(value, dict) and plain(name) in INSIDE:
            found = dict(_own_fields(value)) | found
    return found


def _own_fields(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (str(name), text)
        for name, value in record.items()
        if plain(name) not in READ and (text := _format_value(value)) and len(text) <= LONGEST
    ]


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""
