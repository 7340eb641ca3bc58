"""Limits on what comes from others: how large, how deep and how many; stated here only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, AnyStr

import orjson

from trecjudge.errors import InputError, unknown
from trecjudge.files import open_regular

VARIABLE = "TRECJUDGE_LIMITS"
"""The variable of the environment with limits as `--limit` takes them, separated by spaces."""
IN_ALL = 10
"""How many times as many entries all lists and objects of one record may have together."""
SWELLS = 100
"""How many times its size a packed file may become in any case; JSONL packs ten to one."""
SURELY_FEW = 1 << 20
"""Bytes of JSON that are too few to hold too many values."""
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_NUMBER = re.compile(r"(\d[\d_]*)\s*([kmg]?)i?b?", re.IGNORECASE)
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_MARK = rf"{_STRING}|[,\[{{]"
_MARKS = (re.compile(_MARK, re.DOTALL), re.compile(_MARK.encode(), re.DOTALL))
"""A string, or what begins or parts values."""


@dataclass(frozen=True, slots=True)
class InputLimits:
    """The most that is read of what comes from others; a larger record is passed over."""

    record: int = 16 << 20
    """Bytes of a line, or of a record in another layout."""
    depth: int = 200
    """Lists and objects inside one another."""
    entries: int = 100_000
    """Entries of one list or object of a record, values of a line, columns of a table."""
    rows: int = 2_000_000
    """Rows of a leaderboard; its runs by topics by measures may be five times as many."""
    stdin: int = 1 << 30
    """Bytes of standard input, which is kept in a file."""
    unpacked: int = 256 << 20
    """Bytes that a packed file may become, if that is more than SWELLS times its own."""
    held: int = 256 << 20
    """Bytes of memory for the records of one input that is held: topics, nuggets, people."""

    def excess(self, value: Any) -> str:
        """Return what is too much about a JSON value, for a message; empty if nothing is."""
        kind = type(value)
        level = [value] if kind is dict or kind is list else []
        for _ in range(self.depth):
            inner: list[Any] = []
            for found in level:
                if len(found) > self.entries:
                    return self.too_many
                # Written out: this is done with every record.
                for entry in found.values() if type(found) is dict else found:
                    kind = type(entry)
                    if kind is dict or kind is list:
                        inner.append(entry)
            if not inner:
                return ""
            level = inner
        return self.too_deep

    def excess_of_text(self, text: str | bytes) -> str:
        """Return what is too much about JSON before it is read: its values may fill memory."""
        if len(text) < SURELY_FEW:
            return ""
        # A list or an object inside another one takes memory without a comma.
        most = IN_ALL * self.entries
        if isinstance(text, str):
            many = sum(map(text.count, ",[{")) > most and _more_than(most, _MARKS[0], text, '"')
        else:
            counted = sum(map(text.count, (b",", b"[", b"{")))
            many = counted > most and _more_than(most, _MARKS[1], text, b'"')
        return self.too_many if many else ""

    def excess_of_unpacked(self, size: int, packed: int) -> str:
        """Return what is too much about data of `packed` bytes that became `size`; else empty."""
        if size <= self.unpacked or size <= SWELLS * packed:
            return ""
        return f"becomes more than {shown_bytes(self.unpacked)} when unpacked (--limit unpacked)"

    @property
    def too_many_rows(self) -> str:
        """The message on a leaderboard of too many rows."""
        return f"has more than {self.rows:,} rows of scores (--limit rows)"

    def check_table(self, name: str, runs: int, topics: int, measures: int) -> None:
        """Raise InputError for runs, topics and measures that make a table too large to hold."""
        if runs * max(1, topics) * measures > 5 * self.rows:
            size = f"{runs:,} runs by {topics:,} topics by {measures:,} measures"
            raise InputError(f"{name}: {size} are more than {5 * self.rows:,} (--limit rows)")

    @property
    def too_long(self) -> str:
        """The message on a line or record that is too long."""
        return f"is longer than {shown_bytes(self.record)} (--limit record)"

    @property
    def too_full(self) -> str:
        """The message where an input that is held takes too much memory."""
        return f"is beyond the {shown_bytes(self.held)} that one input may take (--limit held)"

    @property
    def too_deep(self) -> str:
        """The message on a value that is nested too deep."""
        return f"is nested more than {self.depth} deep (--limit depth)"

    @property
    def too_many(self) -> str:
        """The message on a value of too many entries."""
        return f"has more than {self.entries:,} entries (--limit entries)"


def _more_than(most: int, mark: re.Pattern[AnyStr], text: AnyStr, quote: AnyStr) -> bool:
    """Return whether a text has more marks than so many outside its strings."""
    marks = (found for found in mark.finditer(text) if not found[0].startswith(quote))
    return next(islice(marks, most, None), None) is not None


NAMES = [f.name for f in fields(InputLimits)]
_SET: ContextVar[InputLimits | None] = ContextVar("limits", default=None)


def limits() -> InputLimits:
    """Return the limits that are set, else those of the environment. Raises InputError."""
    return _SET.get() or with_limits(InputLimits(), os.environ.get(VARIABLE, "").split(), VARIABLE)


@contextmanager
def apply_limits(written: Sequence[str]) -> Iterator[InputLimits]:
    """Set limits, each `NAME=VALUE`, for what is read meanwhile. Raises InputError."""
    found = with_limits(limits(), written, "--limit")
    with hold_limits(found):
        yield found


@contextmanager
def hold_limits(found: InputLimits) -> Iterator[None]:
    """Set limits that another process had."""
    token = _SET.set(found)
    try:
        yield
    finally:
        _SET.reset(token)


def with_limits(known: InputLimits, written: Sequence[str], where: str) -> InputLimits:
    """Return limits with those that are written: `record=200MB`, `depth=500`. Raises InputError."""
    given: dict[str, int] = {}
    for text in written:
        name, _, value = text.partition("=")
        if name not in NAMES:
            raise InputError(f"{where} {text!r}: {unknown('limit', name, NAMES)}")
        number = _NUMBER.fullmatch(value.strip())
        size = int(number[1].replace("_", "")) * UNITS[number[2].lower()] if number else 0
        if not size:
            raise InputError(f"{where} {text!r}: give a number, as record=200MB or depth=500")
        given[name] = size
    return replace(known, **given) if given else known


def shown_bytes(size: int) -> str:
    """Return a number of bytes for a message: `64 MB`."""
    for letter in ("g", "m", "k"):
        if size >= UNITS[letter] and not size % UNITS[letter]:
            return f"{size // UNITS[letter]} {letter.upper()}B"
    return f"{size:,} bytes"


# JSON files that are read whole, within limits.
def read_json_file(path: Path, most: int) -> Any:
    """Return what a file of at most so many bytes holds.

    Raises OSError, orjson.JSONDecodeError, and ValueError with what is too much.
    """
    with open_regular(path) as file:
        text = file.read(most + 1)
    if len(text) > most:
        raise ValueError(f"is larger than {shown_bytes(most)}")
    if excess := limits().excess_of_text(text):
        raise ValueError(excess)
    return orjson.loads(text)
