"""Frames: the words around instructions and inputs, by DSPy's adapters, or few ones of our own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args

import orjson
from pydantic import BaseModel

from trecjudge.models.signatures import dspy_module, entries_of, labels_of

Form = Literal["schema", "chat"]
"""The form of a reply: JSON held to a schema by the endpoint, or DSPy's field markers."""

FORMS: tuple[Form, ...] = ("schema", "chat")
AdapterName = Literal["auto", "chat", "json", "xml"]
"""DSPy's adapters by name. `auto`: the lean frame where a schema is sent, else `chat`."""

IN_TEXT: frozenset[AdapterName] = frozenset({"chat", "xml"})
"""Adapters whose replies are no JSON: no schema is sent with them."""
_WORD = re.compile(r"[\w-]+")
_UNSAID = "${"
"""How DSPy's description of a field begins where nobody gave one: `${label}`."""


def adapter_for(name: AdapterName, form: Form) -> Any:
    """Return the DSPy adapter of a name in a form."""
    dspy = dspy_module()
    if name == "xml":
        return dspy.XMLAdapter()
    if name == "json":
        return dspy.JSONAdapter()
    if name == "chat" or form == "chat":
        return dspy.ChatAdapter(use_json_adapter_fallback=False)
    return _lean_adapter()()


@cache
def _lean_adapter() -> Any:
    """Return the class of an adapter for replies that a schema holds: it says everything once."""
    parts = {
        "format_system_message": _system,
        "format_user_message_content": _user,
        "format_assistant_message_content": _assistant,
    }
    return type("LeanAdapter", (dspy_module().JSONAdapter,), parts)


def _system(self: Any, signature: Any) -> str:
    """Return the instructions, the inputs, and the fields of the reply."""
    said = signature.instructions
    inputs = "; ".join(_describe_field(name, f) for name, f in signature.input_fields.items())
    outputs = "; ".join(
        _describe_output(name, f, said) for name, f in signature.output_fields.items()
    )
    return f"{said}\n\nYou get: {inputs}.\nReply with one JSON object, in this order: {outputs}."


def _user(
    self: Any,
    signature: Any,
    inputs: Mapping[str, Any],
    prefix: str = "",
    suffix: str = "",
    main_request: bool = False,
) -> str:
    """Return the inputs, each behind its marker, and what the reply must have."""
    parts = [prefix] if prefix else []
    parts += [
        f"[[ ## {n} ## ]]\n{_value(inputs[n])}" for n in signature.input_fields if n in inputs
    ]
    if main_request:
        parts.append(f"JSON object of {', '.join(signature.output_fields)}:")
    return "\n\n".join([*parts, *([suffix] if suffix else [])]).strip()


def _assistant(
    self: Any, signature: Any, outputs: Mapping[str, Any], missing_field_message: str | None = None
) -> str:
    """Return the reply of a demonstration as JSON."""
    found = {name: outputs.get(name, missing_field_message) for name in signature.output_fields}
    return _json(found)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return orjson.dumps(value, default=_plain).decode()


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def description_of(field: Any) -> str:
    """Return the description of a field, empty where nobody gave one."""
    found = str(field.json_schema_extra.get("desc") or "")
    return "" if found.startswith(_UNSAID) else found


def _describe_field(name: str, field: Any) -> str:
    said = description_of(field)
    return f"{name} ({said})" if said else name


def _describe_output(name: str, field: Any, instructions: str) -> str:
    """Return a field of the reply with its type, in words; what is said already is left out."""
    asked, kind = _describe_field(name, field), _kind(field.annotation, instructions)
    return f"{asked}: {kind}" if kind else asked


def _kind(annotation: Any, instructions: str) -> str:
    if (allowed := labels_of(annotation)) is not None:
        said = set(_WORD.findall(instructions))
        return "" if said.issuperset(map(str, allowed)) else " or ".join(map(str, allowed))
    if annotation is bool:
        return "true or false"
    if (entry := entries_of(annotation)) is not None:
        inner = (_inner(name, f.annotation, instructions) for name, f in entry.model_fields.items())
        return f"list of {{{', '.join(inner)}}}"
    if annotation is str:
        return ""
    return "list" if get_args(annotation) else str(getattr(annotation, "__name__", annotation))


def _inner(name: str, annotation: Any, instructions: str) -> str:
    kind = _kind(annotation, instructions)
    return f"{name}: {kind}" if kind else name
