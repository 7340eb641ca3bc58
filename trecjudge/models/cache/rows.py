"""The rows of a cache: their columns, the values that these may have, and their checksums."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_TEXT = 16 * 1024 * 1024
"""Characters of the longest text that is taken for a reply."""
MOST_TOKENS = 100_000_000
"""More than any reply has: a larger number is damage."""
LATEST = 1 << 40
"""The latest time that is believed, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its type, the most that it may hold, and its value for rows of older files."""

    name: str
    kind: type
    most: int
    default: Any = None


COLUMNS = (
    Column("key", str, 1000),
    Column("reply", str, MOST_TEXT),
    Column("prompt_tokens", int, MOST_TOKENS),
    Column("completion_tokens", int, MOST_TOKENS),
    Column("endpoint", str, 10_000),
    Column("model", str, 10_000),
    Column("written", int, LATEST),
    Column("program", str, 1000, ""),
    Column("stated", int, MOST_TOKENS, 0),
    Column("prompt", str, 1000, ""),
    Column("version", str, 1000, ""),
    Column("source", str, 10_000, ""),
)
"""The columns of a reply and of what asked for it; `checksum` follows them."""
NAMES = tuple(column.name for column in COLUMNS)
NEEDED = tuple(column.name for column in COLUMNS if column.default is None)
SIZES = (7, 9, len(COLUMNS) + 1)
"""Columns of a reply in each version of the file."""

Row = tuple[Any, ...]
_WORDS = {str: "text", int: "an integer", float: "a float", bytes: "a BLOB", type(None): "NULL"}


def fault_of(row: Sequence[Any]) -> str:
    """Return what is wrong with a reply's row, "" if nothing is."""
    faults = (_fault(column, value) for column, value in zip(COLUMNS, row, strict=False))
    if fault := next(filter(None, faults), ""):
        return fault
    if not row[0]:
        return "the key is empty"
    return _sum_fault(row, row[len(COLUMNS)] if len(row) > len(COLUMNS) else None)


def kept_fault(row: Sequence[Any]) -> str:
    """Return what is wrong with key, reply, tokens in and out, source and checksum, or ""."""
    key, reply, prompt_tokens, completion_tokens, source, kept = row
    if (
        type(key) is type(reply) is type(source) is str
        and type(prompt_tokens) is type(completion_tokens) is int
        and 0 <= prompt_tokens <= MOST_TOKENS
        and 0 <= completion_tokens <= MOST_TOKENS
    ):
        return _sum_fault(row, kept)
    faults = (_fault(column, value) for column, value in zip(COLUMNS[:4], row[:4], strict=True))
    return next(filter(None, faults), f"source is {_WORDS[type(source)]}, not text")


def _fault(column: Column, value: Any) -> str:
    kind = type(value)
    if kind is not column.kind:
        return f"{column.name} is {_WORDS[kind]}, not {_WORDS[column.kind]}"
    size: int = len(value) if column.kind is str else value
    return "" if 0 <= size <= column.most else f"{column.name} is out of range"


def _sum_fault(row: Sequence[Any], kept: Any) -> str:
    return "" if kept is None or kept == checksum(*row[:4]) else "the checksum is wrong"


def checksum(key: str, reply: str, prompt_tokens: int, completion_tokens: int) -> int:
    """Return a checksum, by which damage to a reply is found later."""
    return zlib.crc32(f"{key}\0{prompt_tokens}\0{completion_tokens}\0{reply}".encode())


def completed(row: Sequence[Any]) -> Row:
    """Return a row of any version as one of the newest; columns that it lacks are empty."""
    missing = tuple(column.default for column in COLUMNS[len(row) :])
    return (*row, *missing, None)[: len(COLUMNS) + 1]
