"""Where a quote stands in a text: exactly, or but for white space, quotation marks and Unicode."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_OUTER = "\"'“”‘’«»„‚‹›「」『』 \n\t"
_SAME = {
    **dict.fromkeys("“”„‟«»″「」『』", '"'),
    **dict.fromkeys("‘’‚‛‹›′`´", "'"),
    **dict.fromkeys("‐‑‒–—―−", "-"),
}
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
# A quote marks what it leaves out: each part must be there, in order.
_LEFT_OUT = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3,}|…)\s*")
_FARTHEST = 2000
"""Characters from first to last part: farther apart, common words would make a quote."""


def find_quote_span(text: str, quote: str) -> tuple[int, int] | None:
    """Return the character offsets of `quote` in `text`, or None if it is not there.

    Looked for exactly; then with runs of white space, kinds of quotation marks and dashes, letter
    case and compatible Unicode forms (NFKD) taken as one. Quotation marks around it are no part of
    it, and "…" stands for what was left out, at most 2,000 characters in all.
    """
    bare = quote.strip(_OUTER)
    start = text.find(bare) if bare else -1
    if start >= 0:
        return start, start + len(bare)
    parts = [part for piece in _LEFT_OUT.split(bare) if (part := _folded(piece)[0].strip(_OUTER))]
    if not parts:
        return None
    folded, offsets = _folded(text)
    first = end = -1
    for part in parts:
        found = folded.find(part, max(end, 0))
        if found < 0:
            return None
        first = found if first < 0 else first
        end = found + len(part)
    span = offsets[first], offsets[end - 1] + 1
    return span if len(parts) == 1 or span[1] - span[0] <= _FARTHEST else None


@lru_cache(maxsize=256)
def _folded(text: str) -> tuple[str, tuple[int, ...]]:
    """Return a text as quotes are compared, and where each of its characters comes from."""
    characters: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(text):
        plain = _folded_character(character)
        if plain == " " and characters[-1:] == [" "]:
            continue
        characters.extend(plain)
        offsets.extend([offset] * len(plain))
    return "".join(characters), tuple(offsets)


@lru_cache(maxsize=4096)
def _folded_character(character: str) -> str:
    if character.isspace():
        return " "
    if _INVISIBLE.match(character):
        return ""
    same = _SAME.get(character, character)
    folded = unicodedata.normalize("NFKD", same).casefold()
    return " " if folded.isspace() else folded
