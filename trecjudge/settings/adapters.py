"""What reads values of a type, made once for each type."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import TypeAdapter


@cache  # to make one takes far longer than to read with it, so none is made before it is needed
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """Return what checks values of a type, and turns them into it."""
    return TypeAdapter(kind)
