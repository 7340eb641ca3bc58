"""Text without a model: words, numbers, sentences and their meaning, in any script."""

from __future__ import annotations

import re
from functools import cache


# Regular expressions that are made when they are first used: large ones take long to make.
@cache
def expression(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a compiled expression, compiled once and kept."""
    return re.compile(pattern, flags)
