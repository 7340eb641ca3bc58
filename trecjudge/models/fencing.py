"""Inputs of a prompt, made unable to pose as a part of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from trecjudge.text.chat_tokens import TOKENS_AND_FIELDS, Fence, broken

WORDS = 6
"""How many words of the line behind the inputs make it known."""

_WORD = re.compile(r"\w+|[^\w\s]")
# Kept, since questions about one document follow one another.
_broken = lru_cache(maxsize=32)(broken)


def fenced(value: Any, fence: Fence) -> Any:
    """Return an input that cannot pose as a part of the prompt or reply, nor end its turn."""
    if isinstance(value, str):
        return _broken(value, fence)
    if isinstance(value, Mapping):
        return {fenced(name, fence): fenced(entry, fence) for name, entry in value.items()}
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: fenced(entry, fence) for name, entry in value})
    return [fenced(entry, fence) for entry in value] if isinstance(value, list | tuple) else value


def fence_of(tags: Sequence[str], closing: str) -> Fence:
    """Return the fence of a prompt whose inputs stand in `tags`, if any, before a `closing` line.

    Of a tag the opening bracket becomes round, of the line its first two words are put in brackets.
    """
    patterns = [TOKENS_AND_FIELDS.tokens.pattern]
    if tags:
        listed = "|".join(r"\s*".join(map(re.escape, tag)) for tag in [*tags, "item"])
        patterns.append(rf"<\s*/?\s*(?:{listed})\b")
    words = _WORD.findall(closing)[:WORDS]
    if len(words) > 1:
        first, second, *more = map(re.escape, words)
        rest = "".join(rf"\s*{word}" for word in more)
        patterns.append(rf"(?P<closing>{first}\s*{second})(?={rest})")
    return Fence(re.compile("|".join(patterns), re.IGNORECASE), "".join(words[:1]).lower())
