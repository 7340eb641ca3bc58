"""Values from YAML checked against the annotated fields of a dataclass."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from functools import cache
from typing import Any, get_type_hints

import orjson
from pydantic import ValidationError

from trecjudge.errors import WorkflowError, unknown
from trecjudge.findings import brief
from trecjudge.settings.adapters import adapter_of
from trecjudge.settings.strict_yaml import AmbiguousScalar
from trecjudge.settings.wanted import RANGE, TRUTH, explain_refusal, numbers


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
