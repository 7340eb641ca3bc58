"""The sets of fields in a reply, from markers, JSON objects and tags, as they were written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from html import unescape
from json import JSONDecodeError, JSONDecoder
from typing import Any, get_args, get_origin

import json_repair
from pydantic import BaseModel

from trecjudge.models.reading.values import member

MOST_OPEN = 500
"""Braces at which an object is looked for: each try may read to the end of the reply."""

LONGEST_MENDED = 50_000
"""Characters of an object that is mended: longer ones take more than a second."""

_MARKER = re.compile(r"\[\[\s*##\s*(\w+)\s*##\s*\]\]")

FieldSet = dict[str, Any]
"""Values as written, texts or JSON values, by the name of their field."""


class Contradiction(ValueError):
    """A reply that gives a field of one set twice."""


class TooManyBraces(ValueError):
    """A reply that looks like no answer, and would take long to read."""


def field_sets(answer: str, names: Collection[str]) -> list[FieldSet]:
    """Return every set of fields in an answer, in its order; several may be equal.

    A set has at least one of the fields `names`. Raises Contradiction, TooManyBraces.
    """
    found, rest = _sets_by_markers(answer, names)
    found += _sets_of_objects(rest, names)
    if not found and (mended := _mend_object(answer, names)):
        found = [mended]
    return found


def whole_set(reply: str, names: Collection[str]) -> list[FieldSet]:
    """Return the set of a reply that is one JSON object and nothing else; else none.

    Markers or tags inside its texts are only text. Raises Contradiction.
    """
    reply = reply.strip()
    if not reply.startswith("{"):
        return []
    try:
        value, end = _DECODER.raw_decode(reply)
    except JSONDecodeError:
        return []
    return _sets_of(_inner(value, names), names) if end == len(reply) else []


def _sets_by_markers(answer: str, names: Collection[str]) -> tuple[list[FieldSet], str]:
    """Return the sets that markers make, and the text outside of their sections."""
    pieces = _MARKER.split(answer)
    sets: list[FieldSet] = []
    current: FieldSet = {}
    rest = [pieces[0]]
    by_plain = {name.casefold(): name for name in names}
    for marked, text in zip(pieces[1::2], pieces[2::2], strict=True):
        name = by_plain.get(marked.casefold())
        if name is None or name in current:
            sets.append(current)
            current = {}
        if name is None:
            rest.append(text)
        elif not _is_echo(text, name):
            current[name] = text
    return [found for found in (*sets, current) if found], "\n".join(rest)


def _is_echo(text: str, name: str) -> bool:
    """Return whether a section only repeats the form, as `{label}` and the words beside it."""
    return text.lstrip().startswith((f"{{{name}}}", f"<{name}>"))


def _sets_of_objects(text: str, names: Collection[str]) -> list[FieldSet]:
    """Return the sets that JSON objects of a text make, and those of values outside of them.

    A text that was quoted without escapes may end an object early, or contain one: the reply's own
    answer is then outside.
    """
    found: list[FieldSet] = []
    outside, at = [], 0
    for start, end, record in _records(text, names):
        outside.append(text[at:start])
        at = end
        found += _sets_of(record, names)
    return found + _sets_outside("\n".join([*outside, text[at:]]), names) if found else []


def _sets_outside(text: str, names: Collection[str]) -> list[FieldSet]:
    """Return the fields whose key and value are in no object, each as a set."""
    found: list[FieldSet] = []
    for name in names:
        for key in re.finditer(rf"[\"']{name}[\"']\s*:\s*", text, re.IGNORECASE):
            try:
                value, _ = _DECODER.raw_decode(text, key.end())
            except JSONDecodeError:  # as in a form that is repeated: {"label": ...}
                continue
            found.append({name: value})
    return found


def _records(text: str, names: Collection[str]) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield (start, end, object) of the outermost JSON objects of a text.

    For an object that only wraps another by one key, the inner one is yielded.
    """
    at, tries = text.find("{"), 0
    while at >= 0:
        tries += 1
        if tries > MOST_OPEN:
            raise TooManyBraces("it has too many brackets.")
        try:
            value, end = _DECODER.raw_decode(text, at)
        except JSONDecodeError:
            end = at + 1
        else:
            yield at, end, _inner(value, names)
        at = text.find("{", end)


def _inner(record: Mapping[str, Any], names: Collection[str]) -> Mapping[str, Any]:
    """Return the object that has the fields, without the objects of one key around it."""
    while len(record) == 1 and not any(member(record, name) for name in names):
        only = next(iter(record.values()))
        if isinstance(only, list) and len(only) == 1:
            only = only[0]
        if not isinstance(only, Mapping):
            break
        record = only
    return record


def _mend_object(answer: str, names: Collection[str]) -> FieldSet | None:
    """Return the set of one object that is not quite JSON: single quotes, a comma too many.

    Only where each field is named once, and every brace is closed: otherwise a mended reply could
    mean something else.
    """
    start, end = answer.find("{"), answer.rfind("}")
    if start < 0 or end < start or answer.count("{") != answer.count("}"):
        return None
    named = [len(re.findall(rf"\b{name}\b[\"'`]?\s*:", answer, re.IGNORECASE)) for name in names]
    if max(named) > 1 or not any(named) or answer.count("{") > MOST_OPEN:
        return None
    if end - start > LONGEST_MENDED:
        return None
    try:
        record = json_repair.loads(answer[start : end + 1])
    except (ValueError, RecursionError):  # nested too deep
        return None
    if not isinstance(record, dict):
        return None
    record = {str(key): value for key, value in record.items()}
    return next(iter(_sets_of(_inner(record, names), names)), None)


def _sets_of(record: Mapping[str, Any], names: Collection[str]) -> list[FieldSet]:
    """Return the set that an object makes, as a list; none where it has none of the fields."""
    values = {name: member(record, name) for name in names}
    for name, given in values.items():
        if any(other != given[0] for other in given[1:]):
            raise Contradiction(f"it gives {name!r} twice.")
    fields = {name: given[0] for name, given in values.items() if given}
    return [fields] if fields else []


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of key and value pairs. Raises Contradiction for a key with two values."""
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record and record[key] != value:
            raise Contradiction(f"it gives {key!r} twice.")
        record[key] = value
    return record


_DECODER = JSONDecoder(object_pairs_hook=_once, strict=False)


ITEM = "item"
"""The tag of an entry of a list."""


def tagged_sets(answer: str, types: Mapping[str, Any]) -> list[FieldSet]:
    """Return the set of fields that the tags of an answer make, none where it has no such tag.

    A field that is repeated with another value raises Contradiction.
    """
    found: FieldSet = {}
    for name, text in _parts(answer, list(types)):
        value = _value(text, types[name])
        if name in found and found[name] != value:
            raise Contradiction(f"it gives several answers that differ in {name}; give only one.")
        found[name] = value
    return [found] if found else []


def _parts(text: str, names: list[str]) -> list[tuple[str, str]]:
    """Return (name, text) of the outermost elements of these names, in their order."""
    by_plain = {name.casefold(): name for name in names}
    opening = re.compile(rf"<({'|'.join(map(re.escape, names))})\s*>", re.IGNORECASE)
    closing = {n: re.compile(rf"</{re.escape(n)}\s*>", re.IGNORECASE) for n in names}
    parts, at = [], 0
    while found := opening.search(text, at):
        at, name = found.end(), by_plain[found[1].casefold()]
        # A closing tag ends the element of its own name only: other tags inside are its text.
        end = closing[name].search(text, at) if name in closing else None
        if end is None:  # looked for once: many tags that nothing closes would take hours
            closing.pop(name, None)
            continue
        parts.append((name, text[at : end.start()]))
        at = end.end()
    return parts


def _value(text: str, annotation: Any) -> Any:
    """Return the text of an element, or the list or record that its elements make."""
    if get_origin(annotation) is list and get_args(annotation):
        entries = _parts(text, [ITEM])
        if entries or not text.strip():
            return [_value(entry, get_args(annotation)[0]) for _, entry in entries]
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        types = {name: field.annotation for name, field in annotation.model_fields.items()}
        sets = tagged_sets(text, types)
        return sets[0] if sets else text
    return unescape(text).strip()
