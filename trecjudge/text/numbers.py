"""Numbers of a text in any writing, and what they count: units, dates, bounds."""

from __future__ import annotations

import calendar
import re
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Literal

from trecjudge.text.forms import number_form, word_form
from trecjudge.text.sentences import CITATION
from trecjudge.text.tables import read_rows
from trecjudge.text.tokens import Token, tokenize

# Numbers and their units in other writings: "1.5 million", "two hundred", "3 %", "3 percent".
_ZEROS = {
    "hundred": 2,
    "thousand": 3,
    "million": 6,
    "billion": 9,
    "trillion": 12,
    "k": 3,
    "bn": 9,
    "tn": 12,
    "lakh": 5,
    "crore": 7,
}
_SCALES = {word_form(word): zeros for word, zeros in _ZEROS.items()}
SCALES = frozenset(_SCALES)
"""The forms of the words that multiply a number before them."""

_TENS = frozenset(map(str, range(20, 100, 10)))
_ONE = frozenset({"one", "a"})
_AND = "and"
# What a sign or a word stands for in other writings: "3 %", "3 percent", "3 per cent".
_SIGNS = {
    "$": ("dollar",),
    "€": ("euro",),
    "£": ("pound",),
    "¥": ("yen",),
    "%": ("percent", "cent"),
    "°": ("degree",),
}
_FORMS_OF_SIGN = {sign: tuple(map(word_form, words)) for sign, words in _SIGNS.items()}
_SAME = {"cent": "percent", "percent": "cent"}
_LONGEST = 12  # tokens of one number, so that a list of numbers is not tried to its end


def has_other_writings(text: str, forms: Collection[str]) -> bool:
    """Return whether `other_writings` may find some in a text of these forms: a fast test."""
    signs = any(sign in text for sign in _SIGNS)
    return signs or may_compose(forms) or not _SAME.keys().isdisjoint(forms)


def other_writings(text: str, written: Sequence[str], forms: Sequence[str]) -> list[str]:
    """Return the same numbers and units of a text in other writings, as forms."""
    found = [form for sign, words in _FORMS_OF_SIGN.items() if sign in text for form in words]
    found += (_SAME[form] for form in forms if form in _SAME)
    if may_compose(forms):
        found += (number for _, _, number in compose_numbers(written, forms))
    return found


def scale_number(number: str, scale: str) -> str:
    """Return the number form of `number` times the scale word, "" if that is no whole number."""
    zeros = _SCALES.get(scale)
    value = _value(number)
    return "" if zeros is None or value is None else _whole(value.scaleb(zeros))


def may_compose(forms: Collection[str]) -> bool:
    """Return whether some of the forms can be part of a number that several tokens write."""
    return not (SCALES.isdisjoint(forms) and _TENS.isdisjoint(forms))


def compose_numbers(written: Sequence[str], forms: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (first, stop, number form) of every whole number that several tokens write.

    After digits only scale words continue a number ("1.5 million"), so that "2 million 12 months
    later" stays two numbers. Words continue it as in English ("two hundred and fifty thousand").
    """
    position = 0
    while position < len(forms):
        stop, value = _number_at(position, written, forms)
        if stop > position + 1 and value is not None and (number := _whole(value)):
            yield position, stop, number
        position = max(stop, position + 1)


def _number_at(
    first: int, written: Sequence[str], forms: Sequence[str]
) -> tuple[int, Decimal | None]:
    """Return where the number that begins at `first` ends, and its value; None if there is none."""
    if not (forms[first][:1].isdigit() or forms[first] in _ONE):
        return first, None
    following = forms[first + 1] if first + 1 < len(forms) else ""
    begin = Decimal(1) if forms[first] in _ONE and following in SCALES else _value(forms[first])
    if begin is None:
        return first, None
    in_words = written[first].isalpha()
    total, current, position = Decimal(0), begin, first + 1
    last = min(len(forms), first + _LONGEST)
    while position < last:
        zeros = _SCALES.get(forms[position])
        if zeros is not None:
            current = current.scaleb(zeros)
            if zeros > 2:  # "two hundred thousand" is one factor, "six thousand two hundred" two
                total, current = total + current, Decimal(0)
            position += 1
            continue
        skipped = forms[position] == _AND and forms[position - 1] in SCALES
        addend = _addend(position + skipped, written, forms)
        if not in_words or addend is None or not _fits(current, addend, forms[position - 1]):
            break
        current += addend
        position += 1 + skipped
    return position, total + current


def _addend(position: int, written: Sequence[str], forms: Sequence[str]) -> Decimal | None:
    """Return the number below a hundred that a word writes there."""
    if position >= len(forms) or not written[position].isalpha():
        return None
    return Decimal(1) if forms[position] == "one" else _value(forms[position])


def _fits(current: Decimal, addend: Decimal, before: str) -> bool:
    """Return whether `addend` continues a number: after a scale word, or as units after tens."""
    return before in SCALES or (20 <= current < 100 and current % 10 == 0 and 0 < addend < 10)


def _value(form: str) -> Decimal | None:
    whole, _, decimals = form.partition(".")
    if not (whole.isdecimal() and whole.isascii() and (decimals.isdecimal() or not decimals)):
        return None
    return Decimal(form)


def _whole(value: Decimal) -> str:
    return format(value.to_integral_value(), "f") if value == value.to_integral_value() else ""


_SEPARATED = re.compile(r"(\d{1,12}(?:[.,]\d{1,12})*)((?:\s[a-z]{1,12})?)", re.ASCII)
_BETWEEN_GROUPS = r"(?:\s?[.,]\s|\s[.,]\s?|[\s'\u2019])"
_BEFORE_DECIMALS = r"(?:\s?[.,]\s|\s[.,]\s?)"


def spaced_number(written: str, text: str, forms: Set[str]) -> tuple[str, ...]:
    """Return the forms of the pieces in which a text writes a number: "12, 000", "12 000", "31. 8".

    Texts that were taken apart for a model, and those of many languages, have it so. Empty where
    the text, which has these `forms`, has no such pieces.
    """
    parts = _SEPARATED.fullmatch(written)
    if parts is None:
        return ()
    number, scale = parts.groups()
    whole, *decimals = number.split(".") if number.count(".") == 1 else [number.replace(".", ",")]
    digits = whole.replace(",", "")
    first = len(digits) % 3 or 3
    groups = [digits[:first], *(digits[at : at + 3] for at in range(first, len(digits), 3))]
    # An expression for each number is slow: most texts lack one of the pieces.
    if len(groups) + len(decimals) < 2 or not forms >= set(map(number_form, groups + decimals)):
        return ()
    pieces = [_BETWEEN_GROUPS.join(groups), *decimals]
    found = re.search(rf"(?<!\d){_BEFORE_DECIMALS.join(pieces)}(?!\d){scale}", text, re.ASCII)
    return tuple(token.form for token in tokenize(found[0])) if found else ()


# Numbers of a text with what they count: units, currencies, dates, bounds and guesses.
_CITATION = re.compile(CITATION)
YEAR = "year"
Bound = Literal["", "above", "below", "range"]
_MONTHS = frozenset(word_form(calendar.month_name[month]) for month in range(1, 13))
_ERAS = frozenset({"bce", "bc", "ce", "ad"})
_BOUNDS: tuple[tuple[Bound, re.Pattern[str]], ...] = (
    ("above", re.compile(r"(?:\b(?:over|above|more\s+than|at\s+least)|[>≥])\s*$", re.IGNORECASE)),
    (
        "below",
        re.compile(
            r"(?:\b(?:under|below|less\s+than|fewer\s+than|at\s+most|up\s+to)|[<≤])\s*$",
            re.IGNORECASE,
        ),
    ),
    (
        "range",
        re.compile(r"(?:\b(?:between|from|\d\s+(?:to|or|and))|\d\s?[–-])\s*$", re.IGNORECASE),
    ),
)
# Words of a guess, which only a number far off contradicts.
_GUESS = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|nearly|almost|some|circa|c\.|ca\.?)|[~≈])\s*$",
    re.IGNORECASE,
)
_FAR_OFF = 1.25
"""A guess agrees with a number up to a quarter off; a guessed year with one ten years off."""
_FAR_OFF_YEARS = 10
_ROUNDED = 1.05  # the most that a number changes by being rounded: 5 %
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d")
_BEFORE_A_YEAR = frozenset(map(word_form, "in since until by during after before year of".split()))  # noqa: SIM905
_CURRENCY = re.compile(r"([$€£¥₹])\s*$")
_MINUS = re.compile(r"(?:^|[\s(])[-−]$")
_PERCENT = re.compile(r"^\s*(?:[%％]|percent\b|per\s?cent\b)", re.IGNORECASE)
_HEDGED_WITHIN = 16  # characters before a number that may hold its sign, bound or guess
# One name for each unit of measurement. One number in two of these units is two quantities.
_UNITS = {
    word_form(word): name
    for (name,), words in read_rows(Path(__file__).with_name("units.txt"))
    for word in words
}
MEASURED = frozenset({*_UNITS.values(), "%", "£", "₹"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text: its form, what it counts, and the words themselves.

    `unit` is one of `MEASURED`, else a stem ("cup"), a month, `YEAR`, or "" where none is found.
    """

    number: str
    unit: str
    written: str
    bound: Bound
    guess: bool


# Cached, since a document is asked for it by many sentences.
@lru_cache(maxsize=1024)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers of a text, each with its unit, without citation marks such as "[1]"."""
    text = _CITATION.sub(lambda mark: " " * len(mark[0]), text)
    tokens = tokenize(text)
    return tuple(
        [
            _quantity(text, tokens, position)
            for position, token in enumerate(tokens)
            if token.form[0].isdigit()
        ]
    )


def agree(one: Quantity, other: Quantity) -> bool:
    """Return whether two numbers can be the same: one is the other rounded, or a fair guess of it.

    A rounded number is within 5 %; a guess may be off by a quarter, a guessed year by ten.
    """
    try:
        low, high = sorted((float(one.number), float(other.number)))
    except ValueError:
        return False
    guess = one.guess or other.guess
    if one.unit == YEAR:
        return guess and high - low <= _FAR_OFF_YEARS
    if guess and 0 <= high <= low * _FAR_OFF:
        return True
    return 0 <= high <= low * _ROUNDED and _rounds(one.number, other.number)


def other_quantity(one: Quantity, other: Quantity) -> bool:
    """Return whether two quantities of one number differ in unit or bounds."""
    units = {one.unit, other.unit}
    opposite = {one.bound, other.bound} == {"above", "below"}
    return opposite or (len(units) == 2 and units <= MEASURED)


def unit_of(form: str) -> str:
    """Return the name of the unit of measurement that a word is, "" if it is none."""
    return _UNITS.get(form, "")


def _quantity(text: str, tokens: Sequence[Token], position: int) -> Quantity:
    token = tokens[position]
    number, last = token.form, position
    following = tokens[position + 1].form if position + 1 < len(tokens) else ""
    if written_out := scale_number(number, following):
        number, last = written_out, position + 1
    unit, end = _unit(text, tokens, position, last)
    before = text[max(0, token.start - _HEDGED_WITHIN) : token.start]
    if _MINUS.search(before):
        number = f"-{number}"
    decade = token.form.endswith("0") and text[token.start : token.end].endswith("s")
    bounds: list[Bound] = ["range"] if decade else []
    bounds += [name for name, pattern in _BOUNDS if pattern.search(before)]
    bound = bounds[0] if bounds else ""
    return Quantity(number, unit, text[token.start : end], bound, bool(_GUESS.search(before)))


def _unit(text: str, tokens: Sequence[Token], position: int, last: int) -> tuple[str, int]:
    """Return (unit, end of the words): a sign, an era, a month, a year, or the next word."""
    token, end = tokens[position], tokens[last].end
    if sign := _PERCENT.match(text[end : end + 12]):
        return "%", end + sign.end()
    if sign := _CURRENCY.search(text[max(0, token.start - 2) : token.start]):
        return sign[1], end
    following = tokens[last + 1] if last + 1 < len(tokens) else None
    near = following is not None and text[end : following.start].strip() in ("", "-")
    if following is not None and near and following.form in _ERAS:
        return YEAR, following.end
    previous = tokens[position - 1].form if position else ""
    if _YEAR.fullmatch(token.form):
        if previous in _BEFORE_A_YEAR | _MONTHS or not near:
            return YEAR, end
    elif previous in _MONTHS:
        return previous, end
    if following is not None and near and not following.form[0].isdigit():
        return _UNITS.get(following.form, following.form), following.end
    return "", end


def _rounds(one: str, other: str) -> bool:
    """Return whether one number is the other, rounded to fewer digits."""
    short, full = sorted((one, other), key=lambda number: len(_significant(number)))
    digits = len(_significant(short))
    return digits > 0 and float(f"{float(full):.{digits}g}") == float(short)


def _significant(number: str) -> str:
    """Return a number without sign, stop and zeros at its ends: "1500000" and "1.50" give "15"."""
    return number.replace(".", "").strip("-0")
