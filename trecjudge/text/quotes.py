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
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|[nrtbf\"/\\])")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}
_MOST_KNOWN = 4096
"""Characters whose folded forms are kept."""
_SPACES = re.compile(r"([ \n])\n+")
_FARTHEST = 2000
"""Characters from first to last part; farther apart, common words would pass for a quote."""


def find_quote_span(text: str, quote: str) -> tuple[int, int] | None:
    """Return the character offsets of `quote` in `text`, or None if it is not there.

    It is looked for exactly first. Then white space, kinds of quotation marks and dashes, letter
    case and compatible Unicode forms (NFKD) do not matter. Quotation marks around it are not part
    of it, and "…" stands for what was left out, at most 2,000 characters in all. Then the signs
    that a prompt has in place of others do not matter either. Last, escapes of JSON are undone, in
    which a model may have copied what it saw.
    """
    bare = quote.strip(_OUTER)
    start = text.find(bare) if bare else -1
    if start >= 0:
        return start, start + len(bare)
    found = _parts_span(text, bare, frozenset())
    if found is None and _BROKEN in bare:
        found = _parts_span(text, bare, _OF_TOKENS)
    if found is None and (plain := _ESCAPE.sub(_undo_escape, bare)) != bare:
        return find_quote_span(text, plain)
    return found


def _undo_escape(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if code[0] == "u" else _ESCAPED.get(code, code)


def _parts_span(text: str, quote: str, without: frozenset[str]) -> tuple[int, int] | None:
    pieces = (_fold_for_quotes(piece, without).strip(_OUTER) for piece in _LEFT_OUT.split(quote))
    parts = [piece for piece in pieces if piece]
    if not parts:
        return None
    folded = _fold_for_quotes(text, without)
    first = end = -1
    for part in parts:
        found = folded.find(part, max(end, 0))
        if found < 0:
            return None
        first = found if first < 0 else first
        end = found + len(part)
    offsets = _offsets(text, without)
    span = offsets[first], offsets[end - 1] + 1
    return span if len(parts) == 1 or span[1] - span[0] <= _FARTHEST else None


class _Folding(dict[int, str]):
    """What `str.translate` puts in place of each character; white space is a line break."""

    def __init__(self, without: frozenset[str]) -> None:
        super().__init__()
        self._without = without

    def __missing__(self, code: int) -> str:
        plain = _folded_character(chr(code))
        plain = "" if plain in self._without else "\n" if plain == " " else plain
        if len(self) < _MOST_KNOWN:
            self[code] = plain
        return plain


_FOLDINGS = {without: _Folding(without) for without in (frozenset[str](), _OF_TOKENS)}


def _unfolded_runs(without: frozenset[str]) -> re.Pattern[str]:
    """Return what finds words of ASCII with single blanks between them, or any one character."""
    signs = "".join(sign for sign in map(chr, range(ord("!"), ord("~") + 1)) if sign not in without)
    word = f"[{re.escape(signs)}]+"
    return re.compile(f"{word}(?: {word})*|.", re.DOTALL)


_RUNS = {without: _unfolded_runs(without) for without in _FOLDINGS}


@lru_cache(maxsize=256)
def _fold_for_quotes(text: str, without: frozenset[str]) -> str:
    """Return a text as quotes are compared."""
    # No character becomes a line break but white space, so that only this is drawn together.
    return _SPACES.sub(r"\1", text.translate(_FOLDINGS[without])).replace("\n", " ")


@lru_cache(maxsize=256)
def _offsets(text: str, without: frozenset[str]) -> tuple[int, ...]:
    """Return where each character of a folded text comes from."""
    # Apart from the folding, since most quotes that are looked for in this way are not there.
    folding, last = _FOLDINGS[without], ""
    offsets: list[int] = []
    for run in _RUNS[without].finditer(text):
        offset, end = run.span()
        if end - offset > 1:  # each of its characters is folded into one
            offsets.extend(range(offset, end))
            last = ""
            continue
        plain = folding[ord(text[offset])]
        if not plain or (plain == "\n" and last in (" ", "\n")):
            continue
        last = plain[-1]
        offsets.extend([offset] * len(plain))
    return tuple(offsets)


def _folded_character(character: str) -> str:
    if character.isspace():
        return " "
    if _INVISIBLE.match(character):
        return ""
    same = _SAME.get(character, character)
    folded = unicodedata.normalize("NFKD", same).casefold()
    return " " if folded.isspace() else folded
