"""Regular expressions that are made when they are first used: large ones take long to make."""

from __future__ import annotations

import re
from functools import cache


@cache
def expression(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a compiled expression, compiled once and kept."""
    return re.compile(pattern, flags)
