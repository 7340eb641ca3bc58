"""Values from YAML checked against the annotated fields of a dataclass."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import orjson
from pydantic import TypeAdapter, ValidationError

from trecjudge.errors import WorkflowError, unknown
from trecjudge.findings import brief
from trecjudge.settings.strict_yaml import AmbiguousScalar


# What reads values of a type, made once for each type.
@cache  # to make one takes far longer than to read with it, so none is made before it is needed
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """Return what checks values of a type, and turns them into it."""
    return TypeAdapter(kind)


# What a setting may be, in words: for messages that say what to give instead.
RANGE = "range"
"""The key of a field's metadata: the least and the most that it may be."""
TRUTH = {"yes": True, "on": True, "no": False, "off": False}
WORDS: Mapping[Any, str] = {
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    str: "text",
    list: "a list",
    tuple: "a list",
    dict: "a mapping",
}


def explain_refusal(hint: Any, value: Any, metadata: Mapping[str, Any]) -> str:
    """Return why a value is not of a type, and what to give instead."""
    kinds = _kinds(hint)
    if len(kinds) == 1 and get_origin(kinds[0]) is Literal and not isinstance(value, list | dict):
        return unknown("value", value, get_args(kinds[0]))
    wanted = " or ".join(_describe_type(kind, metadata.get(RANGE)) for kind in kinds)
    if str in kinds:
        # An id such as `017` without quotes is the usual case.
        return f"{_as_yaml(value)} is not text; put text in quotes"
    if _is_quoted(value) and not {int, float, bool}.isdisjoint(kinds):
        return f"{value!r} in quotes is text; give {wanted}, without quotes"
    plain = " or ".join(_describe_type(kind, None) for kind in kinds)
    return f"{_as_yaml(value)} is not {plain}; give {wanted}"


def numbers(kind: type, limits: tuple[float, float | None]) -> str:
    """Return in words what numbers may be given: `a whole number of at least 1`."""
    least, most = limits
    bounds = f"of at least {least:g}" if most is None else f"from {least:g} to {most:g}"
    return f"{WORDS[kind]} {bounds}"


def _kinds(hint: Any) -> list[Any]:
    """Return the types that a field takes, without None."""
    if get_origin(hint) in (Union, UnionType):
        return [kind for kind in get_args(hint) if kind is not NoneType]
    return [hint]


def _describe_type(kind: Any, limits: tuple[float, float | None] | None) -> str:
    origin = get_origin(kind) or kind
    if origin is Literal:
        return " or ".join(map(str, get_args(kind)))
    if limits is not None and kind in (int, float):
        return numbers(kind, limits)
    return WORDS.get(origin, str(getattr(origin, "__name__", origin)).lower())


def _is_quoted(value: Any) -> bool:
    """Return whether a text would be a number or a truth value without its quotes."""
    if not isinstance(value, str) or isinstance(value, AmbiguousScalar):
        return False
    try:
        float(value)
    except ValueError:
        return value.lower() in {*TRUTH, "true", "false"}
    return True


def _as_yaml(value: Any) -> str:
    """Return a value as YAML has it, cut for a message."""
    if isinstance(value, str) and value.isprintable() and value.strip() == value != "":
        return value if len(value) <= 60 else brief(value)
    words: Mapping[Any, str] = {True: "true", False: "false"}
    if value is None:
        return "nothing"
    return words[value] if isinstance(value, bool) else brief(value)


def typed_fields(owner: type, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `values` with every value of the type that the field of `owner` has.

    An integer stands for a float, a float without a fraction (`1e3`) for an integer, and `yes`,
    `no`, `on`, `off` without quotes for a truth value; nothing else is converted. Raises
    WorkflowError that names `where`, the key, the value and what is valid.
    """
    return {key: _typed_value(owner, key, value, where) for key, value in values.items()}


@cache
def _hints(owner: type) -> dict[str, Any]:
    return get_type_hints(owner)


def _typed_value(owner: type, key: str, value: Any, where: str) -> Any:
    known = {f.name: f for f in fields(owner) if f.init}
    if key not in known:
        raise WorkflowError(f"{where}: {unknown('key', key, known)}")
    own, kind = known[key], _hints(owner)[key]
    adapter = adapter_of(kind)
    for reading in _readings(value):
        try:
            # Strict: pydantic would else take `1` for `true` and text for a number.
            typed = adapter.validate_python(reading, strict=True)
            break
        except ValidationError:
            continue
    else:
        raise WorkflowError(f"{where}: {key}: {explain_refusal(kind, value, own.metadata)}")
    if not _writable(typed):
        raise WorkflowError(f"{where}: {key} is {brief(value)}: too large, or not a number")
    for word in _ambiguous_words(typed):
        hint = "put text in quotes, or write true, false or a number"
        message = f"{key} holds {str(word)!r}, which versions of YAML read differently: {hint}"
        raise WorkflowError(f"{where}: {message}")
    if RANGE in own.metadata and (fault := _outside(typed, *own.metadata[RANGE])):
        raise WorkflowError(f"{where}: {key}: {fault}")
    return typed


def _readings(value: Any) -> Iterator[Any]:
    """Yield the values that a value can stand for, itself first."""
    yield value
    if isinstance(value, AmbiguousScalar) and value.lower() in TRUTH:
        yield TRUTH[value.lower()]
    if isinstance(value, float) and value.is_integer():
        yield int(value)


def _ambiguous_words(value: Any) -> Iterator[AmbiguousScalar]:
    """Yield the unclear words in a value: those that no type has made clear."""
    if isinstance(value, AmbiguousScalar):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _ambiguous_words(inner)


def _writable(value: Any) -> bool:
    """Return whether JSON can hold every number in a value."""
    try:
        orjson.dumps(value, default=str)
    except TypeError:  # an integer of more than 64 bits; a mapping that holds itself
        return False
    if isinstance(value, Mapping | list | tuple):
        return all(map(_writable, value.values() if isinstance(value, Mapping) else value))
    return not isinstance(value, float) or math.isfinite(value)


def ranged(default: Any, least: float, most: float | None = None) -> Any:
    """Return a field of a dataclass with the range of its values, for `check_ranges`."""
    return field(default=default, metadata={RANGE: (least, most)})


def check_ranges(settings: Any) -> None:
    """Raise WorkflowError for a field made by `ranged` whose value is out of its range."""
    for own in fields(settings):
        if RANGE in own.metadata:
            check_range(own.name, getattr(settings, own.name), *own.metadata[RANGE])


def check_range(key: str, value: object, least: float, most: float | None = None) -> None:
    """Raise WorkflowError for a setting that is less than `least` or more than `most`."""
    if fault := _outside(value, least, most):
        raise WorkflowError(f"{key}: {fault}")


def _outside(value: object, least: float, most: float | None) -> str | None:
    """Return why a number is out of its range, and what to give; None for any other value."""
    if not isinstance(value, int | float):
        return None
    words = numbers(int if isinstance(least, int) else float, (least, most))
    if value < least:
        return f"{value:g} is too small; give {words}"
    return f"{value:g} is too large; give {words}" if most is not None and value > most else None
