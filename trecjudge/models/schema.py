"""The JSON schema of a reply, in the strict form that endpoints hold models to."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, create_model

_STRICT = frozenset(
    ("type", "enum", "items", "anyOf", "description", "required", "additionalProperties")
)
"""Keywords that are sent with a value, beside its properties: titles only repeat its name."""


def reply_schema(signature: Any) -> dict[str, Any]:
    """Return the JSON schema of a signature's output fields, in their order, strict throughout."""
    outputs: Any = {name: (f.annotation, ...) for name, f in signature.output_fields.items()}
    model: type[BaseModel] = create_model(signature.__name__, **outputs)
    schema: dict[str, Any] = strict_schema(model.model_json_schema())
    return schema


def strict_schema(schema: Any) -> Any:
    """Return a JSON schema in the strict form of OpenAI and Azure: no object is open.

    Each requires all its properties and allows no other; keywords that the strict form does not
    know, such as bounds and defaults, are left out.
    """
    if isinstance(schema, list):
        return [strict_schema(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}  # nothing may stand beside it
    names = ("properties", "$defs")  # what these hold is named by the user, not by the schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in names:
            found[key] = {name: strict_schema(inner) for name, inner in value.items()}
        elif key in _STRICT:
            found[key] = strict_schema(value)
    # Strict schemas know no `const`.
    if "const" in schema:
        found["enum"] = [schema["const"]]
    if found.get("type") == "object":
        found |= {"required": list(found.get("properties", {})), "additionalProperties": False}
    return found
