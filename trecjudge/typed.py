"""Values from YAML checked against the annotated fields of a dataclass."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

import orjson
from pydantic import TypeAdapter, ValidationError

from trecjudge.errors import WorkflowError, unknown
from trecjudge.findings import shown


def typed_fields(owner: type, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `values` with every value of the type that the field of `owner` has.

    An integer stands for a float; nothing else is converted. Raises WorkflowError that names
    `where`, the key, the value and what is valid.
    """
    hints = get_type_hints(owner)
    known = [f.name for f in fields(owner) if f.init]
    return {key: _typed(hints, known, key, value, where) for key, value in values.items()}


def _typed(hints: Mapping[str, Any], known: list[str], key: str, value: Any, where: str) -> Any:
    if key not in known:
        raise WorkflowError(f"{where}: {unknown('key', key, known)}")
    try:
        typed = TypeAdapter(hints[key]).validate_python(value, strict=True)
    except ValidationError as error:
        why = error.errors()[0]["msg"]
        raise WorkflowError(f"{where}: {key} is {shown(value)}: {why}") from None
    if not _writable(typed):
        raise WorkflowError(f"{where}: {key} is {shown(value)}: too large, or not a number")
    return typed


def _writable(value: Any) -> bool:
    """Return whether a value has no number in it that JSON has not."""
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
