"""JSON files that are read whole, within limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from trecjudge.files import open_regular
from trecjudge.settings.limits import limits, shown_bytes


def read_json_file(path: Path, most: int) -> Any:
    """Return what a file of at most so many bytes holds.

    Raises OSError, orjson.JSONDecodeError, and ValueError with what is too much.
    """
    with open_regular(path) as file:
        text = file.read(most + 1)
    if len(text) > most:
        raise ValueError(f"is larger than {shown_bytes(most)}")
    if excess := limits().excess_of_text(text):
        raise ValueError(excess)
    return orjson.loads(text)
