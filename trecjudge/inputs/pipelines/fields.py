"""The names that `--keys` gives for the parts of a record: `question=prompt.text,answer=out`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from trecjudge.errors import InputError, unknown
from trecjudge.inputs.pipelines.conversations import text_of

PARTS = {
    "question": "question",
    "answer": "answer",
    "contexts": "contexts",
    "topic": "question_id",
    "run": "run_id",
}
"""What `--keys` may name, and what the format `qa` calls it."""
_SET: ContextVar[Mapping[str, str] | None] = ContextVar("record_keys", default=None)


def record_keys() -> Mapping[str, str]:
    """Return the keys that are set for what is read, by part; empty where none are."""
    return _SET.get() or {}


@contextmanager
def keyed(given: str | Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """Set the keys of records, by part or as written, for what is read meanwhile.

    Raises InputError as `keys_of`.
    """
    written = given if isinstance(given, str) else ",".join(f"{p}={k}" for p, k in given.items())
    found = keys_of(written)
    token = _SET.set(found)
    try:
        yield found
    finally:
        _SET.reset(token)


def keys_of(written: str) -> dict[str, str]:
    """Return keys by part from `part=key,part=key`. Raises InputError with the choices."""
    keys: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in written.split(","))):
        part, equals, key = (piece.strip() for piece in pair.partition("="))
        if part not in PARTS:
            raise InputError(f"--keys {pair!r}: {unknown('part', part, list(PARTS))}")
        if not equals or not key:
            raise InputError(f"--keys {pair!r}: name the key that holds the {part}: {part}=KEY")
        keys[part] = key
    if keys and "answer" not in keys:
        raise InputError(f"--keys {written!r}: name the key that holds the answer: answer=KEY")
    return keys


def renamed(record: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    """Return a record's parts under the names that the format `qa` knows.

    A part whose key is not there is left out; a key may lead into objects and lists: `a.b`, `a.0`.
    """
    found = {PARTS[part]: _at(record, key) for part, key in keys.items()}
    if found.get("answer") is not None:
        found["answer"] = text_of(found["answer"])
    return {name: value for name, value in found.items() if value is not None}


def _at(record: Mapping[str, Any], key: str) -> Any:
    if key in record:
        return record[key]
    value: Any = record
    for step in key.split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value
