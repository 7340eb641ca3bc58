"""Values from YAML checked against the annotated fields of a dataclass."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, get_type_hints

import orjson
from pydantic import TypeAdapter, ValidationError

from trecjudge.errors import WorkflowError, unknown
from trecjudge.findings import shown
from trecjudge.settings.strict_yaml import Unclear

TRUTH = {"yes": True, "on": True, "no": False, "off": False}


def typed_fields(owner: type, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `values` with every value of the type that the field of `owner` has.

    An integer stands for a float, a float without a fraction (`1e3`) for an integer, and `yes`,
    `no`, `on`, `off` without quotes for a truth value; nothing else is converted. Raises
    WorkflowError that names `where`, the key, the value and what is valid.
    """
    hints = get_type_hints(owner)
    known = [f.name for f in fields(owner) if f.init]
    return {key: _typed(hints, known, key, value, where) for key, value in values.items()}


def _typed(hints: Mapping[str, Any], known: list[str], key: str, value: Any, where: str) -> Any:
    if key not in known:
        raise WorkflowError(f"{where}: {unknown('key', key, known)}")
    adapter: TypeAdapter[Any] = TypeAdapter(hints[key])
    faults = []
    for reading in _readings(value):
        try:
            # Strict: pydantic would else take `1` for `true` and text for a number.
            typed = adapter.validate_python(reading, strict=True)
            break
        except ValidationError as error:
            faults.append(error.errors()[0])
    else:
        # An id such as `017` without quotes is the usual case.
        hint = "; put text in quotes" if faults[0]["type"] == "string_type" else ""
        raise WorkflowError(f"{where}: {key} is {shown(value)}: {faults[0]['msg']}{hint}")
    if not _writable(typed):
        raise WorkflowError(f"{where}: {key} is {shown(value)}: too large, or not a number")
    for word in _unclear(typed):
        hint = "put text in quotes, or write true, false or a number"
        message = f"{key} holds {str(word)!r}, which versions of YAML read differently: {hint}"
        raise WorkflowError(f"{where}: {message}")
    return typed


def _readings(value: Any) -> Iterator[Any]:
    """Yield the values that a value can stand for, itself first."""
    yield value
    if isinstance(value, Unclear) and value.lower() in TRUTH:
        yield TRUTH[value.lower()]
    if isinstance(value, float) and value.is_integer():
        yield int(value)


def _unclear(value: Any) -> Iterator[Unclear]:
    """Yield the unclear words in a value: those that no type has made clear."""
    if isinstance(value, Unclear):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _unclear(inner)


def _writable(value: Any) -> bool:
    """Return whether JSON can hold every number in a value."""
    try:
        orjson.dumps(value, default=str)
    except TypeError:  # an integer of more than 64 bits; a mapping that holds itself
        return False
    if isinstance(value, Mapping | list | tuple):
        return all(map(_writable, value.values() if isinstance(value, Mapping) else value))
    return not isinstance(value, float) or math.isfinite(value)


def check_range(key: str, value: float, least: float, most: float | None = None) -> None:
    """Raise WorkflowError for a setting that is less than `least` or more than `most`."""
    if value < least or (most is not None and value > most):
        valid = f"at least {least:g}" if most is None else f"from {least:g} to {most:g}"
        raise WorkflowError(f"{key} is {value:g}: must be {valid}")
