"""DSPy's signatures and adapters, and a lean adapter of our own. Only here DSPy is imported."""

from __future__ import annotations

import gc
import importlib
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin

import orjson
from pydantic import BaseModel, create_model

from trecjudge.errors import PluginError, WorkflowError, unknown
from trecjudge.settings.plugins import import_named

# DSPy and its signatures: imported by name, and with other labels. Only here DSPy is imported.
REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
"""How a signature is named: `module:Class`."""
Labels = Mapping[str, Mapping[str, str | int]]
"""What labels of a prompt mean to the judge, by the field that has them."""


@cache
def dspy_module() -> Any:
    """Import DSPy with its price list, its caches and its telemetry off."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    dspy = importlib.import_module("dspy")
    # Its own caches would answer a retry with the same bad reply.
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    gc.freeze()  # it leaves a million objects that stay to the end: not to be looked at again
    return dspy


def import_prompt(reference: str) -> Any:
    """Return what `module:Name` names. Raises PluginError."""
    module, _, name = reference.partition(":")
    dspy_module()
    try:
        return getattr(import_named(module), name)
    except (Exception, SystemExit) as error:  # a module can fail in any way while it is imported
        raise PluginError(f"prompt {reference!r} cannot be imported: {error}") from error


def load_signature(reference: str) -> Any:
    """Import a DSPy signature by `module:Class`, or that which a module declares.

    Raises PluginError.
    """
    found = import_prompt(reference)
    if _is_signature(found):
        return found
    if (declared := declared_signature(found)) is not None:
        return declared
    if _is_module(found):
        message = "does not say what goes in and out: give its class a signature, `signature = ...`"
        raise PluginError(f"prompt {reference!r} {message}")
    raise PluginError(f"prompt {reference!r} is no dspy.Signature")


def declared_signature(module: Any) -> Any | None:
    """Return the `signature` of a DSPy module or of its class; None where it says none."""
    if isinstance(module, dspy_module().ChainOfThought):
        module = module.predict
    found = getattr(module, "signature", None) if _is_module(module) else None
    return found if _is_signature(found) else None


def _is_module(found: Any) -> bool:
    kind = dspy_module().Module
    return isinstance(found, kind) or (isinstance(found, type) and issubclass(found, kind))


def _is_signature(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, dspy_module().Signature)


def labels_of(annotation: Any) -> tuple[Any, ...] | None:
    """Return the labels of a field's type, None for a type that has none."""
    return get_args(annotation) if get_origin(annotation) is Literal else None


def entries_of(annotation: Any) -> type[BaseModel] | None:
    """Return the record that a list has as entries, None for any other type."""
    if get_origin(annotation) is not list or not get_args(annotation):
        return None
    entry = get_args(annotation)[0]
    return entry if isinstance(entry, type) and issubclass(entry, BaseModel) else None


def all_fields(signature: Any) -> list[str]:
    """Return the names of all fields, those of the entries of its lists too."""
    entries = (entries_of(output.annotation) for output in signature.output_fields.values())
    return [*signature.fields, *(name for entry in entries if entry for name in entry.model_fields)]


def is_open(signature: Any) -> bool:
    """Return whether a field is of a type of DSPy's own, or a reply has objects with any keys."""
    kind = dspy_module().Type
    for field in signature.fields.values():
        if any(isinstance(t, type) and issubclass(t, kind) for t in _types_in(field.annotation)):
            return True
    annotations = (output.annotation for output in signature.output_fields.values())
    return any(
        dict in _types_in(annotation) or Any in _types_in(annotation) for annotation in annotations
    )


def _types_in(annotation: Any) -> set[Any]:
    """Return a type and those that it is made of, those of the fields of records too."""
    found, left = set[Any](), [annotation]
    while left:
        one = left.pop()
        if get_origin(one) is Literal or one in found:
            continue
        found.add(one)
        if get_origin(one) is not None:
            left += [get_origin(one), *get_args(one)]
        elif isinstance(one, type) and issubclass(one, BaseModel):
            left += [field.annotation for field in one.model_fields.values()]
    return found


def label_fields(signature: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the fields of a reply that are labels, those of the entries of its lists too.

    A type of a judge's own has them as `labels`.
    """
    for name, output in signature.output_fields.items():
        entry = entries_of(output.annotation)
        inner = entry.model_fields if entry is not None else {}
        for field, found in ((name, output), *inner.items()):
            allowed = labels_of(found.annotation) or getattr(found.annotation, "labels", None)
            if allowed is not None:
                yield field, allowed


def with_labels(signature: Any, labels: Labels) -> Any:
    """Return a signature that offers other labels, each of which stands for one of its own.

    Raises WorkflowError for a field, or a meaning, that the signature does not have.
    """
    own = dict(label_fields(signature))
    for field, meanings in labels.items():
        if field not in own:
            raise WorkflowError(unknown("label field", field, own))
        for meaning in meanings.values():
            if meaning not in own[field]:
                raise WorkflowError(f"labels.{field}: {unknown('label', meaning, own[field])}")
    for name, output in signature.output_fields.items():
        annotation = _offering(name, output.annotation, labels)
        if annotation is not output.annotation:
            signature = signature.with_updated_fields(name, type_=annotation)
    return signature


def _offering(name: str, annotation: Any, labels: Labels) -> Any:
    entry = entries_of(annotation)
    if entry is not None and labels.keys() & entry.model_fields.keys():
        fields: Any = {
            field: (_offering(field, found.annotation, labels), found)
            for field, found in entry.model_fields.items()
        }
        return list[create_model(entry.__name__, __doc__=entry.__doc__, **fields)]  # type: ignore[misc]
    if name in labels and entry is None:
        return Literal[tuple(labels[name])]
    return annotation


def map_labels(found: dict[str, Any], labels: Labels) -> dict[str, Any]:
    """Return the fields of a reply with each label as what it stands for."""
    return {name: _map_label(name, value, labels) for name, value in found.items()}


def _map_label(name: str, value: Any, labels: Labels) -> Any:
    if isinstance(value, list):
        return [_map_label(name, entry, labels) for entry in value]
    if isinstance(value, BaseModel):
        of_entry = labels.keys() & type(value).model_fields.keys()
        return value.model_copy(
            update={field: labels[field][str(getattr(value, field))] for field in of_entry}
        )
    return labels[name][str(value)] if name in labels else value


# Frames: the words around instructions and inputs, by DSPy's adapters, or few ones of our own.
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
