"""Amounts of a text that can be compared whatever their unit: 2 hours, 120 minutes; 3 pm, 15:00."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from trecjudge.text.forms import word_form
from trecjudge.text.numbers import Quantity, quantities, unit_of
from trecjudge.text.tables import read_rows
from trecjudge.text.tokens import Token, read_forms, tokenize

# How much of the first unit of its kind one of a unit is.
_KINDS = (
    {"m": 1.0, "km": 1000.0, "cm": 0.01, "mm": 0.001, "ft": 0.3048, "in": 0.0254, "mi": 1609.344},
    {"g": 1.0, "kg": 1000.0, "mg": 0.001, "µg": 1e-6, "lb": 453.592, "t": 1e6},
    {"l": 1.0, "dl": 0.1, "cl": 0.01, "ml": 0.001},
    {"s": 1.0, "min": 60.0, "h": 3600.0, "day": 86400.0, "week": 604800.0},
    {"month": 1.0, "years": 12.0},
    {"%": 0.01},
)
_KIND_OF = {unit: number for number, kind in enumerate(_KINDS) for unit in kind}
_SHARE = _KIND_OF["%"]
_CLOCK = len(_KINDS)
_CONVERTED = 1.02
"""How far converted amounts may be apart, since they are rounded."""
_HOURS = re.compile(
    r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])"
    r"(?:(?::|\s?h\s?)(?P<minute>[0-5]\d)(?![\d:])(?:\s?(?P<half>[ap])\.?m\b\.?)?"
    r"|\s?(?P<only>[ap])\.?m\b\.?|\s(?:Uhr|o'clock)\b)",
    re.IGNORECASE,
)
_NOON = 12
_OF_TIMES = frozenset(("am", "pm", "uhr", "o'clock", "h"))


class Amount(NamedTuple):
    """An amount: what kind of thing it measures, how much of its first unit, its forms."""

    kind: int
    value: float
    forms: tuple[str, ...]
    written: str

    def equals(self, other: Amount) -> bool:
        """Return whether two amounts are the same, rounding aside."""
        low, high = sorted((self.value, other.value))
        exact = self.kind == _CLOCK
        return self.kind == other.kind and (low == high if exact else 0 < high <= low * _CONVERTED)


# Cached, since a document is asked for it by many sentences.
@lru_cache(maxsize=1024)
def amounts(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a text: numbers with a unit, times of day, and parts such as "half"."""
    return (*_of_quantities(text), *_times(text), *_parts(text))


def differing_times(text: str, passage: str) -> list[Amount]:
    """Return the times of day of a text of which a passage has others only."""
    ours = list(_times(text))
    theirs = list(_times(passage)) if ours else []
    return [one for one in ours if theirs and not any(map(one.equals, theirs))]


def _of_quantities(text: str) -> Iterator[Amount]:
    for one in quantities(text):
        if one.unit in _KIND_OF and (value := _value(one)) is not None:
            kind = _KIND_OF[one.unit]
            forms = (one.number, *read_forms(one.written)[1][1:])
            yield Amount(kind, value * _KINDS[kind][one.unit], forms, one.written)


def _value(one: Quantity) -> float | None:
    try:
        return float(one.number)
    except ValueError:
        return None


def _times(text: str) -> Iterator[Amount]:
    for found in _HOURS.finditer(text):
        hour = int(found["hour"])
        half = (found["half"] or found["only"] or "").lower()
        if half:
            hour = hour % _NOON + (_NOON if half == "p" else 0)
        value = float(60 * hour + int(found["minute"] or 0))
        yield Amount(_CLOCK, value, tuple(read_forms(found[0])[1]), found[0])


def _parts(text: str) -> Iterator[Amount]:
    """Yield the parts of one in words, with the unit that follows, or as a share of something."""
    tokens = tokenize(text)
    forms = [token.form for token in tokens]
    place = 0
    while place < len(forms):
        for words, part in _fractions().get(forms[place], ()):
            stop = place + len(words)
            if tuple(forms[place:stop]) == words:
                yield _part(text, tokens, place, stop, part)
                place = stop - 1
                break
        place += 1


def _part(text: str, tokens: Sequence[Token], first: int, stop: int, part: float) -> Amount:
    # "Half a litre", "three-quarters of an hour", "one and a half days", "a quarter of them".
    if first > 1 and tokens[first - 1].form in _AND:
        whole = tokens[first - 2].form
        if whole.isdecimal() or whole == _ONE:
            first, part = first - 2, part + float(1 if whole == _ONE else whole)
    following = [token.form for token in tokens[stop : stop + 3]]
    for beyond, form in enumerate(following, start=1):
        if unit := unit_of(form):
            stop += beyond
            kind = _KIND_OF.get(unit, _SHARE)
            value = part * _KINDS[kind].get(unit, 1.0)
            break
        if form not in _BEFORE_A_UNIT:
            kind, value = _SHARE, part
            break
    else:
        kind, value = _SHARE, part
    forms = tuple(token.form for token in tokens[first:stop])
    return Amount(kind, value, forms, text[tokens[first].start : tokens[stop - 1].end])


_ONE = word_form("one")
_AND = frozenset(map(word_form, ("and", "und", "et", "y", "и", "و")))
_BEFORE_A_UNIT = frozenset(map(word_form, "of a an einer eines d de l une un una".split()))  # noqa: SIM905


@cache
def _fractions() -> dict[str, list[tuple[tuple[str, ...], float]]]:
    """Return the parts in words by their first form, the longest first."""
    found: dict[str, list[tuple[tuple[str, ...], float]]] = {}
    for (part,), writings in read_rows(Path(__file__).with_name("fractions.txt")):
        for writing in writings:
            words = tuple(read_forms(writing.replace("_", " "))[1])
            found.setdefault(words[0], []).append((words, float(part)))
    for same in found.values():
        same.sort(key=lambda one: -len(one[0]))
    return found


def may_be_of_amount(form: str) -> bool:
    """Return whether a word may be part of an amount: a unit, "half", "pm"."""
    return form in _words_of_parts() or form in _OF_TIMES or unit_of(form) in _KIND_OF


@cache
def _words_of_parts() -> frozenset[str]:
    return frozenset(word for same in _fractions().values() for words, _ in same for word in words)
