"""Patterns of steering text, tried only around the few words that each must contain."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trecjudge.text.expressions import expression

BEFORE, AFTER = 120, 200
"""Characters around an anchor that a pattern may reach."""

_REACH = 40  # characters before a verb in which a command must be recognised
# What precedes a verb in a command; "Researchers told a model to ignore" has none of it.
_COMMANDED = (
    r"(?:[.!?:;,\n(\[{>*\"'“”„«»—–¡¿-]|\b(?:please|kindly|now|just|simply|then|and|so|always|only|"
    r"you|to\s+you|you\s+(?:must|should|shall|will|can|may|need\s+to|have\s+to|are\s+to)|"
    r"i\s+(?:would|will)|i'd|do\s+not|don't|never|"
    r"(?:want|ask|like|instruct|order|command|require|tell|urge|beg)\s+you\s+to|"
    r"bitte|und|veuillez|et|s'il\s+(?:te|vous)\s+pla[iî]t|por\s+favor|y|per\s+favore|e))\s*\Z"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A kind of steering text: `expressions` are tried only around the `anchors`, plain text.

    An anchor of Latin letters is how a word begins; any other may stand anywhere.
    `commanding`: a pattern begins with a verb, which must be a command. `cased`: case matters.
    """

    anchors: tuple[str, ...]
    expressions: tuple[str, ...]
    commanding: bool = False
    cased: bool = False

    def within(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        """Return where a passage stands in a part of a text."""
        for pattern in self.expressions:
            for match in expression(pattern).finditer(text, start, end):
                before = text[max(0, match.start() - _REACH) : match.start()]
                if not self.commanding or expression(_COMMANDED).search(before):
                    return match.span()
        return None


def pattern(
    anchors: str, *expressions: str, commanding: bool = False, cased: bool = False
) -> Pattern:
    """Return a pattern: anchors separated by bars, and expressions of which one must match."""
    return Pattern(tuple(anchors.split("|")), expressions, commanding, cased)


class Patterns:
    """Patterns searched together: one pass over a text finds the anchors of all."""

    def __init__(self, expressions: Iterable[Pattern]) -> None:
        self._patterns = tuple(expressions)
        anchors = {anchor for one in self._patterns for anchor in one.anchors}
        self._by_anchor = {
            anchor: [n for n, one in enumerate(self._patterns) if anchor.startswith(one.anchors)]
            for anchor in anchors
        }
        plain = {anchor for anchor in anchors if re.fullmatch(r"[a-z][a-zà-ÿ ,:'\]]*", anchor)}
        self._words = re.compile(rf"[^a-z](?=({_branches(plain)}))") if plain else None
        self._others = [(anchor, _rarest(anchor)) for anchor in sorted(anchors - plain)]

    def first(self, text: str) -> tuple[int, int] | None:
        """Return where the first passage found stands in a text that begins with a new line."""
        lower = text.lower()
        places: defaultdict[int, list[int]] = defaultdict(list)
        for anchor, at in self._anchors(text, lower):
            for number in self._by_anchor[anchor]:
                places[number].append(at)
        for number, found in places.items():
            one = self._patterns[number]
            for start, end in _parts(found):
                if span := one.within(text if one.cased else lower, start, end):
                    return span
        return None

    def _anchors(self, text: str, lower: str) -> Iterator[tuple[str, int]]:
        if self._words is not None:
            for match in self._words.finditer(lower):
                yield match[1], match.end()
        for anchor, rarest in self._others:
            within = text if anchor.isupper() else lower
            at = within.find(anchor) if rarest in within else -1
            while at >= 0:
                yield anchor, at
                at = within.find(anchor, at + len(anchor))


def _rarest(anchor: str) -> str:
    """Return a character of an anchor that few texts have: a sign, if it has any."""
    return next((c for c in anchor if not c.isspace() and not c.isalpha()), anchor[0])


def _parts(places: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text around places in it: those that touch are one."""
    start = end = -1
    for at in sorted(places):
        if at - BEFORE > end:
            if end > 0:
                yield start, end
            start = max(0, at - BEFORE)
        end = at + AFTER
    yield start, end


def _branches(words: Iterable[str]) -> str:
    """Return a pattern of words as a tree of their letters: few are tried at each place.

    Of two words that begin alike the longer one is tried first.
    """
    firsts: defaultdict[str, list[str]] = defaultdict(list)
    for word in filter(None, words):
        firsts[word[0]].append(word[1:])
    parts = [re.escape(first) + _rest(rest) for first, rest in sorted(firsts.items())]
    return "|".join(parts)


def _rest(endings: list[str]) -> str:
    if len(endings) == 1:
        return re.escape(endings[0])
    return f"(?:{_branches(endings)}){'?' if '' in endings else ''}"
