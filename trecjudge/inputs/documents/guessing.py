"""The text of a record that has none under a known name: that of its one long field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trecjudge.inputs.documents.names import (
    ADDRESSES,
    ALL_TEXTS,
    DATES,
    IDENTIFYING,
    TITLES,
    VERSIONS,
    plain,
)

FEWEST_WORDS, SURELY_LONG = 4, 12
"""Words of a sentence, and of what has no full stop, from which on they are a long text."""
WITHOUT_SPACES = 12
"""The same in characters of a script without spaces."""
SENTENCE = re.compile(r"[.!?…。！？।؟]\W?$")
MUCH_LONGER = 3
"""Of two fields the longer one is the text if it is so many times as long."""
OTHERS = (
    *("author", "authors", "byline", "creator", "publisher", "journal", "venue", "license"),
    *("keywords", "tags", "query", "question", "path", "filename", "breadcrumbs", "copyright"),
)
NOT_TEXTS = frozenset((*IDENTIFYING, *ADDRESSES, *TITLES, *DATES, *VERSIONS, *OTHERS))


@dataclass(frozen=True, slots=True)
class Guess:
    """The field that is the text, and the text; both empty where none surely is.

    `open` is whether some field may be it.
    """

    field: str = ""
    text: str = ""
    open: bool = False


def guess_text(record: dict[str, Any]) -> Guess:
    """Return which field of a record is its text: one inside it under a known name, or a long one.

    Of several long ones it is the one that is much longer than all others.
    """
    parts: dict[str, list[str]] = {}
    for field, text in _texts(record, ""):
        parts.setdefault(field, []).append(text)
    written = {field: "\n".join(texts) for field, texts in parts.items()}
    known = {f: t for f, t in written.items() if plain(f.rpartition(".")[2]) in ALL_TEXTS}
    long = known or {field: text for field, text in written.items() if _is_long(text)}
    first, *others = sorted(long, key=lambda field: -len(long[field])) or [""]
    if first and (not others or len(long[first]) >= MUCH_LONGER * len(long[others[0]])):
        return Guess(first, long[first], open=True)
    return Guess(open=any(" " in text or _is_long(text) for text in written.values()))


def _texts(value: Any, field: str) -> Iterator[tuple[str, str]]:
    """Yield (field, text) of all inside a value that may be texts: no ids, titles, addresses..."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, dict | list) or plain(key) not in NOT_TEXTS:
                yield from _texts(inner, f"{field}.{key}" if field else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, field)
    elif isinstance(value, str) and value.strip() and "://" not in value[:WITHOUT_SPACES]:
        yield field, value.strip()


def _is_long(text: str) -> bool:
    words, beyond = len(text.split()), sum(c >= "\u0e00" for c in text[:200])  # Thai and after
    sentence = words >= FEWEST_WORDS and SENTENCE.search(text[-2:])
    return bool(sentence) or words >= SURELY_LONG or beyond >= WITHOUT_SPACES
