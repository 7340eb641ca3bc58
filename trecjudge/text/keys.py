"""Keys of JSON that a value says yes or no to: "petFriendly": false."""

from __future__ import annotations

import re

_SAID = re.compile(
    r"""["']?(?P<key>[A-Za-z][\w -]{1,60}?)["']?\s*:\s*["']?(?:u['"])?"""
    r"""(?:(?P<yes>true|yes)|(?P<no>false|no|none|null))\b["']*\s*(?=[,}\]\n]|$)""",
    re.IGNORECASE,
)
_SIGN = re.compile(r":\s*[\"']?(?:u['\"])?(?:true|yes|false|no|none|null)\b", re.IGNORECASE)


def said_of_keys(text: str) -> list[tuple[int, str, bool]]:
    """Return (offset, key, whether the value affirms it) of each key with a value of yes or no."""
    if not _SIGN.search(text):
        return []
    return [(m.start(), m["key"], m["yes"] is not None) for m in _SAID.finditer(text)]
