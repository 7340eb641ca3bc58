"""Inputs of a prompt, made unable to pose as a part of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from trecjudge.text.chat_tokens import broken

_MARKER = re.compile("<<(?=CUSTOM-TYPE-)")
"""What DSPy turns into parts of a message, such as the address of a picture to fetch."""

# Kept, since questions about one document follow one another.
_broken = lru_cache(maxsize=32)(broken)


def fenced(value: Any, tags: re.Pattern[str] | None = None) -> Any:
    """Return an input that cannot pose as a field of the prompt or reply, nor end its turn.

    `tags` finds the brackets that open a tag of the prompt; they become round ones.
    """
    if isinstance(value, str):
        text = _MARKER.sub("((", _broken(value))
        return text if tags is None else tags.sub("(", text)
    if isinstance(value, Mapping):
        return {fenced(name, tags): fenced(entry, tags) for name, entry in value.items()}
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: fenced(entry, tags) for name, entry in value})
    return [fenced(entry, tags) for entry in value] if isinstance(value, list | tuple) else value


def tags_of(names: list[str]) -> re.Pattern[str]:
    """Return what finds the bracket of a tag of one of these names, opening or closing."""
    listed = "|".join(map(re.escape, [*names, "item"]))
    return re.compile(rf"<(?=\s*/?\s*(?:{listed})\b)", re.IGNORECASE)
