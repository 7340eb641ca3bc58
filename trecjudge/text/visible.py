"""Text that can be seen, and text that cannot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_VISIBLE = re.compile(
    "[^\\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
"""A visible character: no white space, no control, not ignorable by Unicode."""

UNSEEN = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
)
UNSEEN_BEYOND = "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
"""Classes of characters without width or ink, but for white space and controls.

Beyond U+FFFF a search of its own looks for them: in one class with the others it takes ten times as
long.
"""

CONTROLS = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff"
"""Controls that end no line, and halves of surrogate pairs, which cannot be sent."""
_CONTROL_BYTES = bytes((*range(9), *range(11, 13), *range(14, 32), 127))

HIDDEN_KINDS = {
    "controls": "control characters",
    "tags": "tag characters",
    "direction": "direction controls",
    "selectors": "variation selectors",
    "joined": "zero-width characters in words",
    "row": "rows of zero-width characters",
    "other": "other invisible characters",
}
"""Kinds of characters that no reader sees, and that no script needs."""

# Scripts whose letters are never joined or separated by zero-width characters.
_LETTER = "[0-9A-Za-z\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff]"
_NO_WIDTH = "\xad\u061c\u200b-\u200f\ufeff"
_SELECTOR = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_ANY_UNSEEN = re.compile(f"[{CONTROLS}{UNSEEN}]")
_EVERY_UNSEEN = re.compile(f"[{CONTROLS}{UNSEEN}{UNSEEN_BEYOND}]")
_ANY_UNSEEN_BEYOND = re.compile(f"[{UNSEEN_BEYOND}]")
_HIDDEN = re.compile(
    # The flags of England, Scotland, Wales and other regions are spelt in tags.
    "(?P<flag>(?<=\U0001f3f4)[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,3}"
    "\U000e007f)"
    "|(?P<tags>[\U000e0000-\U000e007f]+)"
    f"|(?P<controls>[{CONTROLS}]+)"
    "|(?P<direction>[\u202a-\u202e\u2066-\u2069]+)"
    f"|(?P<selectors>[{_SELECTOR}]{{2,}}|(?:(?<=[A-Za-z\u00c0-\u024f\u0370-\u052f\\s])|\\A)[{_SELECTOR}]"
    "|(?<![\u1800-\u18af])[\u180b-\u180d\u180f])"
    f"|(?P<row>[{_NO_WIDTH}]{{4,}})"
    f"|(?P<joined>(?<={_LETTER})[{_NO_WIDTH}]+(?={_LETTER}))"
    "|(?P<other>[\u034f\u115f\u1160\u17b4\u17b5\u180e\u2060-\u2065\u206a-\u206f\u3164\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff"
    "\U000e01f0-\U000e0fff]+)"
)


def is_blank(text: str) -> bool:
    """Return whether a text has no visible character: only white space, or of no width."""
    return _VISIBLE.search(text) is None


def without_hidden(text: str) -> str:
    """Return a text without the characters that no reader sees and that no script needs.

    Characters that join, separate or turn letters of Arabic, Persian, Indic and other scripts stay,
    and so do the parts of emoji and zero-width characters beside white space or a sign. Leaving
    some out may bring others together, so this is repeated until there are none.
    """
    if not _has_unseen(text):
        return text
    before = ""
    while text != before:
        before, text = text, _without(text, list(_find_hidden(text)))
    return text


def hidden_in(text: str) -> list[tuple[str, int]]:
    """Return (kind, characters) of each part of a text that `without_hidden` leaves out.

    Soft hyphens are not reported, since they only mark where a word may be broken.
    """
    if not _has_unseen(text):
        return []
    found = [(str(match.lastgroup), match[0]) for match in _find_hidden(text)]
    return [(kind, len(part)) for kind, part in found if part.strip("\xad")]


def reaches_beyond(text: str) -> bool:
    """Return whether a text has a character beyond U+FFFF, such as an emoji."""
    # Such a character is two units of UTF-16; counting is ten times as fast as a look at each.
    return len(text.encode("utf-16-le", "surrogatepass")) != 2 * len(text)


def has_controls(text: str) -> bool:
    """Return whether a text of ASCII has a control, but for tabs and ends of lines."""
    return len(text.encode().translate(None, _CONTROL_BYTES)) != len(text)


def _has_unseen(text: str) -> bool:
    if text.isascii():
        return has_controls(text)
    if _ANY_UNSEEN.search(text) is not None:
        return True
    return reaches_beyond(text) and _ANY_UNSEEN_BEYOND.search(text) is not None


def _find_hidden(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches to leave out, one after the other."""
    beyond = reaches_beyond(text) and _ANY_UNSEEN_BEYOND.search(text) is not None
    unseen = _EVERY_UNSEEN if beyond else _ANY_UNSEEN
    at = 0
    while (one := unseen.search(text, at)) is not None:
        found = _HIDDEN.match(text, one.start())
        at = (found or one).end()
        if found is not None and found.lastgroup != "flag":
            yield found


def _without(text: str, parts: Sequence[re.Match[str]]) -> str:
    ends = [0, *(part.end() for part in parts)]
    starts = [*(part.start() for part in parts), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
