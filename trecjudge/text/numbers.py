"""Numbers and their units in other writings: "1.5 million", "two hundred", "3 %", "3 percent"."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal

from trecjudge.text.forms import word_form

_ZEROS = {
    "hundred": 2,
    "thousand": 3,
    "million": 6,
    "billion": 9,
    "trillion": 12,
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
