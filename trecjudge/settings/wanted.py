"""What a setting may be, in words: for messages that say what to give instead."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from trecjudge.errors import unknown
from trecjudge.findings import brief
from trecjudge.settings.strict_yaml import AmbiguousScalar

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
