"""The text of a record that has none under a known name: that of its one long field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trecjudge.inputs.documents.names import ALL_TEXTS, KNOWN, plain

FEWEST_WORDS = 3
WITHOUT_SPACES = 12
"""Characters of a text in a script without spaces from which on it may be a document."""
MUCH_LONGER = 3
"""Of two fields the longer one is the text if it is so many times as long."""
NOT_TEXTS = KNOWN.difference(ALL_TEXTS)


@dataclass(frozen=True, slots=True)
class Guess:
    """The field that is the text, and the text; both empty where none surely is.

    `open` is whether some field may be it.
    """

    field: str = ""
    text: str = ""
    open: bool = False


def guess_text(record: Mapping[str, Any]) -> Guess:
    """Return which field of a record is its text: one inside it under a known name, or a long one.

    Of several long ones it is the one that is much longer than all others.
    """
    written = list(_texts(record, ""))
    known = [found for found in written if found.known] or written
    found = sorted((f for f in known if _is_long(f.text)), key=lambda f: -len(f.text))
    if found and (len(found) == 1 or len(found[0].text) >= MUCH_LONGER * len(found[1].text)):
        return Guess(found[0].field, found[0].text, open=True)
    return Guess(open=any(len(f.text.split()) > 1 or _is_long(f.text) for f in written))


@dataclass(frozen=True, slots=True)
class _Field:
    field: str
    text: str
    known: bool


def _texts(record: Mapping[str, Any], path: str) -> Iterator[_Field]:
    """Yield the fields of text, with those of objects inside; no ids, titles, dates, addresses."""
    for key, value in record.items():
        name, field = plain(key), f"{path}{key}"
        if isinstance(value, Mapping):
            yield from _texts(value, f"{field}.")
        elif name not in NOT_TEXTS and (text := _written(value)):
            yield _Field(field, text, name in ALL_TEXTS)


def _written(value: object) -> str:
    parts = value if isinstance(value, list) else [value]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts).strip() if len(texts) == len(parts) else ""


def _is_long(text: str) -> bool:
    """Return whether a text is more than a name, and no address."""
    if "://" in text[:WITHOUT_SPACES] and len(text.split()) == 1:
        return False
    beyond = sum(1 for c in text[:200] if ord(c) >= 0x0E00)  # Thai and all scripts after it
    return len(text.split()) >= FEWEST_WORDS or beyond >= WITHOUT_SPACES
