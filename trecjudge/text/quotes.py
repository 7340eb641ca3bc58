"""Where a quote stands in a text, exactly or except for white space, quotation marks, Unicode."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from trecjudge.text.visible import CONTROLS, UNSEEN, UNSEEN_BEYOND

_OUTER = "\"'“”‘’«»„‚‹›「」『』 \n\t"
_SAME = {
    **dict.fromkeys("“”„‟«»″「」『』", '"'),
    **dict.fromkeys("‘’‚‛‹›′`´", "'"),
    **dict.fromkeys("‐‑‒–—―−", "-"),
}
_INVISIBLE = re.compile(f"[{CONTROLS}{UNSEEN}{UNSEEN_BEYOND}]")
# A prompt has control tokens of a chat with round brackets, and so does a quote from it.
_BROKEN = "("
_OF_TOKENS = frozenset("()<>[]◁▷#")
# Marks of what a quote leaves out; each part between them must be there, in order.
_LEFT_OUT = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3,}|…)\s*")
_FARTHEST = 2000
"""Characters from first to last part; farther apart, common words would pass for a quote."""


def find_quote_span(text: str, quote: str) -> tuple[int, int] | None:
    """Return the character offsets of `quote` in `text`, or None if it is not there.

    It is looked for exactly first. Then white space, kinds of quotation marks and dashes, letter
    case and compatible Unicode forms (NFKD) do not matter. Quotation marks around it are not part
    of it, and "…" stands for what was left out, at most 2,000 characters in all. Last, the signs
    that a prompt has in place of others do not matter either.
    """
    bare = quote.strip(_OUTER)
    start = text.find(bare) if bare else -1
    if start >= 0:
        return start, start + len(bare)
    found = _parts_span(text, bare, frozenset())
    if found is None and _BROKEN in bare:
        found = _parts_span(text, bare, _OF_TOKENS)
    return found


def _parts_span(text: str, quote: str, without: frozenset[str]) -> tuple[int, int] | None:
    pieces = (_folded(piece, without)[0].strip(_OUTER) for piece in _LEFT_OUT.split(quote))
    parts = [piece for piece in pieces if piece]
    if not parts:
        return None
    folded, offsets = _folded(text, without)
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
def _folded(text: str, without: frozenset[str]) -> tuple[str, tuple[int, ...]]:
    """Return a text as quotes are compared, and where each of its characters comes from."""
    characters: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(text):
        plain = _folded_character(character)
        if plain in without:
            continue
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
