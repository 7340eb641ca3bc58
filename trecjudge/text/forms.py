"""The form under which a word or a number is compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import Stemmer

from trecjudge.text.languages import LANGUAGES, script_of
from trecjudge.text.tables import read_rows

_STEMMER_OF_SCRIPT = {own.script: own.name.lower() for own in LANGUAGES.values() if own.stemmed}
_INVISIBLE = re.compile(
    "[\u00ad\u0640\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th|s)$", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?")
# Other writings of counts, units and months: "two" is compared as "2".
_WRITINGS = {
    word: form
    for (form,), words in read_rows(Path(__file__).with_name("writings.txt"))
    for word in words
}
_COUNTS = {word: form for word, form in _WRITINGS.items() if form.isdigit()}
_ALIASES = {word: form for word, form in _WRITINGS.items() if not form.isdigit()}


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language)


def _without_marks(word: str) -> str:
    # Only where a mark is optional in writing: Latin accents, Arabic and Hebrew vowel points.
    kept = [c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)]
    return unicodedata.normalize("NFKC", "".join(kept))


def _plain(word: str) -> str:
    """Return the word in NFKC and case-folded, without invisible characters."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
    return _INVISIBLE.sub("", folded)


def _without_clitic(word: str) -> str:
    """Return "women" for "women's", "not" for "don't", "homme" for "l'homme"."""
    head, _, tail = word.rpartition("'")
    if tail == "t" and head.endswith("n"):
        return "not"
    if tail in {"s", "re", "ll", "d", "ve", "m", ""}:
        return head
    return tail if len(head) <= 2 else word


def word_form(word: str) -> str:
    """Return the form of a written word: "ﬁnances" and "Finance" both give "financ"."""
    plain = word.lower() if word.isascii() else _plain(word)
    plain = plain.replace("\u2019", "'").replace(".", "")
    if "'" in plain:
        plain = _without_clitic(plain)
    if not plain or plain in _COUNTS:
        return _COUNTS.get(plain, "")
    plain = _ALIASES.get(plain, plain)
    script = script_of(plain[0])
    if script in {"latin", "arabic", "hebrew"} and not plain.isascii():
        plain = _without_marks(plain)
    language = _STEMMER_OF_SCRIPT.get(script)
    # No stem for what mixes letters and digits: "b12" is a name.
    if language is None or not plain.isalpha():
        return plain
    stem: str = _stemmer(language).stemWord(plain)
    return stem


def number_form(number: str) -> str:
    """Return a number without group separators and trailing zeros: "1,234.50" gives "1234.5".

    A comma or a stop before exactly three digits separates groups ("1,234"; "1.234.567" but not
    "1.234", which is a decimal). Any other single comma is a decimal comma. "20th" and "1990s" give
    only the number; a text with several stops, such as "12.5.1999", is kept.
    """
    plain = _ORDINAL.sub("", unicodedata.normalize("NFKC", number))
    plain = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in plain)
    plain = plain.replace("\u066c", ",").replace("\u066b", ".")
    if _GROUPED.fullmatch(plain):
        group, decimal = (".", ",") if plain.count(".") >= 2 else (",", ".")
        plain = plain.replace(group, "").replace(decimal, ".")
    elif plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    return plain.rstrip("0").rstrip(".") if plain.count(".") == 1 else plain


# Words that are written as one or as two: Wi-Fi, WiFi, wi fi; totalRevenue, total revenue.
# "CO2" is one word: a part begins with a capital after two small letters.
_HUMP = re.compile(r"(?<=[a-z][a-z])(?=[A-Z][a-z])")
# The same without a look-behind, which would be tried at every place.
_HUMPED = re.compile(r"[a-z][a-z][A-Z][a-z]")
_SHORTEST = 2
# "E-mail", "x-ray", "t-shirt": the only parts of one letter.
_LETTERS = frozenset("ext")
_SHORTEST_WHOLE = 4
_LONGEST_WHOLE = 30  # letters; a longer text without spaces is hardly a word


def has_humps(text: str) -> bool:
    """Return whether a text may have words such as "totalRevenue": a fast test."""
    return _HUMPED.search(text) is not None


def parts_of(written: Sequence[str]) -> Iterator[str]:
    """Yield the forms of the parts of all words that have some: "totalRevenue", "WiFi"."""
    for word in written:
        if not word.islower() and _HUMPED.search(word):
            yield from filter(None, map(word_form, _HUMP.split(word)))


# Forms in a row, as one text: a set of all pairs would take twenty times the memory.
_BETWEEN = "\x1f"  # in no word


def join_forms(segments: Iterable[Sequence[str]]) -> str:
    """Return the forms of a text's segments in a row, for `neighbours_in` and `is_in_row`."""
    rows = (_BETWEEN.join(forms) for forms in segments)
    return f"{_BETWEEN}{(2 * _BETWEEN).join(rows)}{_BETWEEN}"


def neighbours_in(row: str, forms: Sequence[str]) -> list[bool]:
    """Return for each form but the last whether it and the next are side by side in a segment."""
    return [
        f"{_BETWEEN}{one}{_BETWEEN}{next_one}{_BETWEEN}" in row for one, next_one in pairwise(forms)
    ]


def is_in_row(row: str, forms: Sequence[str]) -> bool:
    """Return whether forms stand side by side in a segment, as they follow each other."""
    return f"{_BETWEEN}{_BETWEEN.join(forms)}{_BETWEEN}" in row


def in_two(written: str, forms: Set[str], row: str) -> tuple[str, str] | None:
    """Return the two forms, neighbours in a text, into which a word can be cut: "smartphone"."""
    heads, halves = _halves(written)
    if forms.isdisjoint(heads):
        return None
    for head, rest in halves:
        if head in forms and neighbours_in(row, (head, tail := word_form(rest)))[0]:
            return head, tail
    return None


# Cached, since many sentences have the same words.
@lru_cache(maxsize=1 << 14)
def _halves(written: str) -> tuple[Set[str], Sequence[tuple[str, str]]]:
    """Return the beginnings at which a word can be cut, then these with the rest of the word."""
    word = written.lower()
    if not (_SHORTEST_WHOLE <= len(word) <= _LONGEST_WHOLE and word.isascii() and word.isalpha()):
        return frozenset(), ()
    halves: list[tuple[str, str]] = []
    for cut in range(1 if word[0] in _LETTERS else _SHORTEST, len(word) - _SHORTEST + 1):
        head = word[:cut]
        if head[-1] == "y":  # its form ends in "i": "policymaker"
            head = word_form(head)
        halves.append((head, word[cut:]))
    return frozenset([head for head, _ in halves]), tuple(halves)


def in_one(first: str, second: str, form: str, forms: Collection[str]) -> str | None:
    """Return the form of two written words as one where a text has it: "wi fi" for "WiFi".

    `form` is that of the second. The form of the whole is not worked out, which would be slow: it
    is nearly always the first word with that form behind it.
    """
    head = first.lower()
    if (len(head) < _SHORTEST and head not in _LETTERS) or len(form) < _SHORTEST:
        return None
    whole = head + form
    if whole in forms:
        return whole if head.isalpha() and second.isalpha() else None
    return whole[:-1] if whole[-1] == "e" and whole[:-1] in forms else None
