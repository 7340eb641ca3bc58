"""Reads one value of a reply by the type of its field; only an unmistakable value counts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin

import orjson
from pydantic import BaseModel, ValidationError

from trecjudge.settings.fields import adapter_of

MOST_SHOWN = 80
LONGEST_VALUE = 5000
"""Characters of a label or a number, with what may be around it."""
_OWN_ERROR = "Value error, "
NOTHING = frozenset({"none", "null", "n/a", "na", "nil", "empty", '""', "''"})
"""What models write for an optional text that they leave out, in lower case."""
_QUOTES = "\"'`“”‘’«»„*_#"
_WRAPPING = _QUOTES + "()[]{}<>.,;:!-–— \t\r\n"
_TAGGED = re.compile(r"^(?:</?\w[\w:-]*>|<\|\w+\|>|\s)+|(?:</?\w[\w:-]*>|<\|\w+\|>|\s)+$")
_BOXED = re.compile(r"^\$*\\(?:boxed|text|mathrm|mathbf)\{(.*)\}\$*$", re.S)
_FENCE = re.compile(r"^```[\w-]*\s*\n(.*?)\n?\s*```$", re.S)
_JOINTS = re.compile(r"[\s_\-‐-―]+")


class Unreadable(ValueError):
    """A value that is not of its field's type; the message says why."""


def read_value(annotation: Any, value: Any, name: str = "") -> Any:
    """Return a text or a JSON value as a value of the type `annotation`. Raises Unreadable.

    The form may differ: a label may be in another case or in mark-up, a list may be JSON text in a
    fence. A list of one, or an object of one key, counts as its value. But a text that contains a
    label among other words is not that label.
    """
    if annotation is str:
        return _text(value)
    if get_origin(annotation) is list:
        return [read_value(get_args(annotation)[0], entry) for entry in _entries(value, name)]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _model(annotation, value)
    if annotation is dict or get_origin(annotation) is dict:
        return _validate_value(annotation, _record(value))
    value = _unwrap_value(value)
    if get_origin(annotation) is Literal:
        return _label(get_args(annotation), value, name)
    if isinstance(value, str):
        value = strip_dress(value, name)
    return _validate_value(annotation, value)


def strip_dress(text: str, name: str = "") -> str:
    """Return a short text without fence, mark-up, quotes, tags and the name of its field.

    A long text is no single value, and is returned unchanged: to search its ends could take hours.
    """
    if len(text) > LONGEST_VALUE:
        return text
    text = _FENCE.sub(r"\1", text.strip())
    text = _BOXED.sub(r"\1", _TAGGED.sub("", text))
    if name:
        text = re.sub(rf"^\W*{re.escape(name)}\W*[:=]\s*", "", text, flags=re.IGNORECASE)
    return text.strip()


def member(record: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    """Return the values that a JSON object has for a field, with its keys in any case."""
    if len(record) == 1 and name in record:
        return (record[name],)
    plain = name.casefold()
    return tuple(value for key, value in record.items() if key.strip().casefold() == plain)


def _text(value: Any) -> str:
    if value is None or (isinstance(value, str) and value.strip().casefold() in NOTHING):
        return ""
    if isinstance(value, list) and len(value) == 1:
        return _text(value[0])
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int | float):
        return str(value)
    raise Unreadable(f"{_show_value(value)} is no text")


def _entries(value: Any, name: str) -> list[Any]:
    """Return the entries of a list: a JSON list, one as text, or the only value of an object."""
    if isinstance(value, str):
        try:
            value = orjson.loads(_FENCE.sub(r"\1", value.strip()))
        except orjson.JSONDecodeError as error:
            if value.strip().casefold() in NOTHING:
                return []
            raise Unreadable(f"{_show_value(value)} is no list") from error
    if isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    if not isinstance(value, list):
        raise Unreadable(f"{_show_value(value)} is no list")
    return value


def _record(value: Any) -> Any:
    """Return a JSON object, which may be text in a fence; one of a single key stays what it is."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(_FENCE.sub(r"\1", value.strip()))
    except orjson.JSONDecodeError:
        return value


def _model(annotation: type[BaseModel], value: Any) -> BaseModel:
    if not isinstance(value, Mapping):
        raise Unreadable(f"{_show_value(value)} is no object")
    found = {}
    for name, field in annotation.model_fields.items():
        given = member(value, name)
        if len(given) > 1:
            raise Unreadable(f"it gives {name!r} twice")
        if not given and field.is_required():
            raise Unreadable(f"an entry has no {name!r}")
        if given:
            found[name] = read_value(field.annotation, given[0], name)
    return annotation(**found)


def _unwrap_value(value: Any) -> Any:
    """Return the value inside lists of one entry and objects of one key."""
    while isinstance(value, list | Mapping) and len(value) == 1:
        value = next(iter(value.values() if isinstance(value, Mapping) else value))
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{") and len(value) < MOST_SHOWN:
        try:
            return _unwrap_value(orjson.loads(value))
        except orjson.JSONDecodeError:
            return value
    return value


def _label(allowed: tuple[Any, ...], value: Any, name: str) -> Any:
    if value in allowed:
        return value
    written = value if isinstance(value, str) else str(value)
    found = _by_plain(allowed).get(_plain(strip_dress(written, name)))
    if found is None or isinstance(value, bool | list | Mapping):
        raise Unreadable(f"{_show_value(value)} is none of {', '.join(map(str, allowed))}")
    return found


@cache
def _by_plain(allowed: tuple[Any, ...]) -> dict[str, Any]:
    return {_plain(str(value)): value for value in allowed}


def _plain(text: str) -> str:
    """Return a label without case, mark-up, spaces, hyphens and underscores, for comparison."""
    # NFKC: full-width letters are letters; Cf: zero-width marks that some models put in.
    text = unicodedata.normalize("NFKC", text)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return _JOINTS.sub("", text.strip(_WRAPPING)).casefold()


def _validate_value(annotation: Any, value: Any) -> Any:
    try:
        return adapter_of(annotation).validate_python(value)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix(_OWN_ERROR)
        raise Unreadable(f"{_show_value(value)}: {message}") from error


def _show_value(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
