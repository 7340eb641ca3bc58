"""Fields of a reply between tags, as XML is asked for: `<label>full_support</label>`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from trecjudge.models.reading.sets import Contradiction, FieldSet

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
