"""Text that talks to the judge instead of about its subject."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from trecjudge.text.steering.disguise import hidden_text, is_common, plain_forms, spaced_out
from trecjudge.text.tables import expression, read_expressions

BEFORE, AFTER = 120, 200
"""Characters around an anchor that a pattern may reach."""

_REACH = 40  # characters before a verb in which a command must be recognised


@dataclass(frozen=True, slots=True)
class Pattern:
    """A kind of steering text: `expressions` are tried only around the `anchors`, plain text.

    An anchor of Latin letters is how a word begins; any other may stand anywhere.
    `commanded` is what must stand before a passage that begins with a verb, so that this is a
    command; empty where anything may. `cased`: case matters.
    """

    anchors: tuple[str, ...]
    expressions: tuple[str, ...]
    commanded: str = ""
    cased: bool = False

    def within(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        """Return where a passage stands in a part of a text."""
        for pattern in self.expressions:
            for match in expression(pattern).finditer(text, start, end):
                before = text[max(0, match.start() - _REACH) : match.start()]
                if not self.commanded or expression(self.commanded).search(before):
                    return match.span()
        return None


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


# The patterns stand in tables, which are read when a text is first looked at.
_FOLDER = Path(__file__).parent


@cache
def _patterns() -> Patterns:
    """Return the patterns in Latin letters, which any text may have."""
    return Patterns(_read_patterns("latin.txt"))


@cache
def _patterns_of_other_scripts() -> Patterns:
    return Patterns(_read_patterns("other_scripts.txt"))


def _read_patterns(table: str) -> Iterator[Pattern]:
    for _, parts, expressions in read_expressions(_FOLDER / table):
        anchors = tuple(parts["anchors"].split("|"))
        if "give" in parts:
            orders, address = _expressions_of_language(parts)
            yield Pattern(anchors, orders, parts["commanded"])
            yield Pattern(anchors, address)
        else:
            commanded = parts["commanded"] if parts.get("begins") == "command" else ""
            yield Pattern(anchors, tuple(expressions), commanded, parts.get("case") == "matters")


def _expressions_of_language(p: Mapping[str, str]) -> tuple[tuple[str, str], tuple[str]]:
    """Return the orders to ignore and to give, and the address, from the words of a language."""
    ignore = (
        rf"\b(?:{p['verb']})\b(?=[^.!?\n]{{0,60}}\b(?:{p['earlier']}))"
        rf"[^.!?\n]{{0,50}}?\b(?:{p['orders']})"
    )
    give = rf"\b(?:{p['give']})\b[^.!?\n]{{0,50}}?\b(?:{p['best']})"
    to_judge = rf"\b(?:{p['note']})\s*(?:[\w-]+\s+){{0,2}}?(?:{p['judge']})"
    return (ignore, give), (rf"{to_judge}\w*[^.!?\n:]{{0,30}}[:,!—–]",)


# Words whose letters stand apart, which no harmless text has.
_SPELLED = re.compile(
    r"ignor|disregard|forget|overrid|instruct|fullsupport|partialsupport|nosupport|supported"
    r"|attributed|contradicted|verdict|grader|evaluator|assessor|score|grade"
)


MOST_REMEMBERED = 50_000
"""How many texts have their finding remembered: by hash, in a few MB at most."""
_remembered: dict[int, str | None] = {}


def instruction_like(text: str) -> str | None:
    """Return the first passage of `text` that reads like an instruction to the judge, or None.

    It finds plain orders, disguised ones too. If it finds none, there may still be one. A text that
    many runs cite is looked at once.
    """
    key = hash(text)
    if key not in _remembered:
        if len(_remembered) >= MOST_REMEMBERED:
            _remembered.clear()
        _remembered[key] = _find_instruction(text)
    return _remembered[key]


def _find_instruction(text: str) -> str | None:
    common = is_common(text)
    hidden = None if common else hidden_text(text)
    return hidden if hidden is not None else _found_in(text, common)


def _found_in(text: str, common: bool) -> str | None:
    for form in plain_forms(text, common):
        plain = f"\n{form}"  # a text may begin with what opens a line
        span = _patterns().first(plain)
        if span is None and not common:
            span = _patterns_of_other_scripts().first(plain)
        if span is not None:
            return plain[slice(*span)].strip().lstrip(".!?,; ")
        for written, letters in spaced_out(plain):
            if _SPELLED.search(letters):
                return written
    return None
