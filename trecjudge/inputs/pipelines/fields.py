"""The names of a record's parts: the usual ones, and those that `--keys` gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from trecjudge.errors import InputError, unknown
from trecjudge.inputs.documents.names import plain
from trecjudge.inputs.pipelines.conversations import LISTS, messages_at, turns_in
from trecjudge.inputs.pipelines.parts import ANSWERS, CONTEXTS, OF_A_TRACK, QUESTIONS
from trecjudge.inputs.pipelines.services import text_of

PARTS = {
    "question": "question",
    "answer": "answer",
    "contexts": "contexts",
    "topic": "topic_id",
    "run": "run_id",
}
"""What `--keys` may name, and what formats call it."""
PASSAGES = (
    *("passage", "passagetext", "retrievedpassage", "chunk", "chunktext", "retrievedchunk"),
    *("contexttext", "retrievedcontext", "document", "documenttext", "segment", "snippet"),
)
"""What tables with a row for each passage call its text, besides CONTEXTS."""
USUAL = {"question": QUESTIONS, "answer": ANSWERS, "contexts": (*CONTEXTS, *PASSAGES)}
EACH = "[]"
"""The step of a key that stands for every entry of a list."""
Row = tuple[int, dict[str, Any]]
_MET: ContextVar[set[str]] = ContextVar("parts_met")
_SET: ContextVar[Mapping[str, str] | None] = ContextVar("record_keys", default=None)


def record_keys() -> Mapping[str, str]:
    """Return the keys that are set for what is read, by part; empty where none are."""
    return _SET.get() or {}


@contextmanager
def use_record_keys(given: str | Mapping[str, str]) -> Iterator[Mapping[str, str]]:
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


def noting_keys(rows: Iterator[Row], met: set[str]) -> Iterator[Row]:
    """Yield rows, and add to `met` the parts that records have where `--keys` says."""
    while True:
        token = _MET.set(met)  # only for one step: files are read in turn
        try:
            row = next(rows, None)
        finally:
            _MET.reset(token)
        if row is None:
            return
        yield row


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
    return keys


def parts_among(names: Iterable[str]) -> dict[str, str]:
    """Return the names of the question, the answer and the contexts among these, by part."""
    given = list(names)
    written = {plain(name): name for name in reversed(given)}
    found = {
        part: next((written[name] for name in usual if name in written), "")
        for part, usual in USUAL.items()
    }
    for part, key in record_keys().items():
        if name := next((n for n in given if n in (key, *_steps(key)[:1])), ""):
            found[part] = name
    return {part: name for part, name in found.items() if name}


def holds_records(names: Iterable[str]) -> bool:
    """Return whether columns of these names hold answers, and what they answer."""
    parts = parts_among(names)
    return "answer" in parts and ("question" in parts or "contexts" in parts)


def under_known_names(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record under the names that formats know, where `--keys` names parts that it has.

    A part that no key names is where it usually is.
    """
    keys = record_keys()
    if not keys:
        return record
    values = {part: _at(record, key) for part, key in keys.items()}
    if values.get("answer") is not None:
        joined = isinstance(values["answer"], list) and EACH in keys["answer"]
        texts = map(text_of, values["answer"] if joined else [values["answer"]])
        values["answer"] = "\n".join(filter(None, texts)) if joined else next(texts)
    found = {PARTS[part]: value for part, value in values.items() if value is not None}
    _MET.get(set()).update(part for part in values if PARTS[part] in found)
    if not found:
        return record
    hidden = set(map(plain, found))
    if "answer" in found:  # such a record is of no track, whatever other keys it has
        hidden.update(("metadata", *OF_A_TRACK))
    if ("answer" in found or "question" in found) and (spoken := turns_in(messages_at(record))):
        hidden.update(LISTS)
        said = {
            "question": spoken[-1].question,
            "answer": text_of(spoken[-1].answer) or None,
            "contexts": spoken[-1].contexts,
        }
        found = {name: value for name, value in said.items() if value is not None} | found
    return found | {k: v for k, v in record.items() if k not in found and plain(k) not in hidden}


def _at(record: Mapping[str, Any], key: str) -> Any:
    """Return the value that a key leads to, into objects and lists: `a.b`, `a.0`, `a[].b`."""
    return record[key] if key in record else _follow(record, _steps(key))


def _steps(key: str) -> list[str]:
    parted = re.sub(r"\[(\d*)\]", lambda found: f".{found[1] or EACH}", key)
    return [step for step in parted.split(".") if step]


def _follow(value: Any, steps: Sequence[str]) -> Any:
    """Return the value at the end of steps, None where they lead to nothing."""
    for at, step in enumerate(steps):
        if step == EACH and isinstance(value, list):
            rest = steps[at + 1 :]
            reached = [_follow(entry, rest) for entry in value]
            if EACH in rest:
                reached = [inner for entry in reached for inner in entry or ()]
            # An entry without it keeps its place: `[2]` counts it too.
            return None if reached and all(entry is None for entry in reached) else reached
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value
