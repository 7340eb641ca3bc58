"""Text that can be seen, and text that cannot."""

from __future__ import annotations

import re

_VISIBLE = re.compile(
    "[^\\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
"""A visible character: no white space, no control, not ignorable by Unicode."""


def is_blank(text: str) -> bool:
    """Return whether a text has no visible character: only white space, or of no width."""
    return _VISIBLE.search(text) is None
