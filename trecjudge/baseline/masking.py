"""Personal data masked before a text leaves: what is found by its form, and where it stood."""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trecjudge.baseline.records import RetrievedPassage, Support
from trecjudge.text.quotes import find_quote_span
from trecjudge.text.tokens import read_forms

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?\b")
_CARD = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?!\w)")
_IP = re.compile(
    r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)"
    r"|(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])"
)
_PHONE = re.compile(
    r"(?<![\w.])(?:\+|(?<!\d )00)\d{1,3}(?:[ ./-]?\(?\d{1,5}\)?){2,6}(?!\w)"
    r"|(?<!\w)\(0?\d{2,4}\)[ .-]?\d{3,4}[ .-]?\d{3,4}(?!\w)"
    r"|(?<![\w.-])\d{3}[.-]\d{3}[.-]\d{4}(?![\w-])"
    r"|(?<![\w.-])(?<!\d )0\d{2,4}[ /-]\d{3,4}[ -]?\d{3,5}(?!\w)"
)
# United States, United Kingdom, Spain, Italy, France; by form, and by its check where it has one.
_SSN = re.compile(r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])")
_NINO = re.compile(r"\b[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b")
_DNI = re.compile(r"\b[XYZ\d]\d{7}-?[A-HJ-NP-TV-Z]\b")
_CODICE = re.compile(r"\b[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]\b")
_INSEE = re.compile(r"(?<!\w)[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?\d{2} ?\d{3} ?\d{3} ?\d{2}(?!\w)")

MOST_DIGITS = 15
"""Digits of a telephone number (ITU E.164); fewer than 8 are none that leads to a person."""
_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text with masks such as `[EMAIL]`, and the original to lead back to.

    `changes` are (start, end in the masked text, start, end in the original), in order.
    """

    text: str
    original: str
    changes: tuple[tuple[int, int, int, int], ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span of the masked text stands in the original; a mask counts whole."""
        return self._place(start, first=True), self._place(end, first=False)

    def _place(self, offset: int, first: bool) -> int:
        before = bisect_right([change[0] for change in self.changes], offset) - 1
        if before < 0:
            return offset
        _, end, original_start, original_end = self.changes[before]
        if offset < end:
            at_start = offset == self.changes[before][0]
            return original_start if first or at_start else original_end
        return original_end + offset - end


def mask_personal_data(text: str) -> MaskedText:
    """Return a text without personal data of a known form.

    Found are email addresses, IBANs, credit cards (by Luhn), IP addresses, telephone numbers, and
    national ids of the United States, the United Kingdom, Spain, Italy and France. Names, streets
    and dates are not found: they have no form.
    """
    parts: list[str] = []
    changes = []
    done = length = 0
    for start, end, name in _find_personal_data(text):
        parts += [text[done:start], f"[{name}]"]
        begin = length + start - done
        length = begin + len(name) + 2
        changes.append((begin, length, start, end))
        done = end
    return MaskedText("".join((*parts, text[done:])), text, tuple(changes))


def _find_personal_data(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of personal data, in order and apart; the first kind counts."""
    taken: list[tuple[int, int, str]] = []
    for name, pattern, holds in KINDS:
        for match in pattern.finditer(text):
            start, end = match.span()
            apart = all(end <= other or start >= stop for other, stop, _ in taken)
            if apart and holds(match[0]):
                taken.append((start, end, name))
    yield from sorted(taken)


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdigit())


def _is_iban(text: str) -> bool:
    """Return whether the check of ISO 13616 holds: modulo 97 is 1."""
    bare = re.sub(r"[ -]", "", text)
    turned = bare[4:] + bare[:4]
    return int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def _is_card(text: str) -> bool:
    """Return whether Luhn's check holds (ISO/IEC 7812)."""
    doubled = [int(d) * (1 + place % 2) for place, d in enumerate(reversed(_digits(text)))]
    return sum(d - 9 * (d > 9) for d in doubled) % 10 == 0 and any(doubled)


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return text not in ("::", "0.0.0.0")


def _is_phone(text: str) -> bool:
    return 8 <= len(_digits(text)) <= MOST_DIGITS


def _is_dni(text: str) -> bool:
    bare = text.replace("-", "")
    number = bare[:-1].translate(str.maketrans("XYZ", "012"))
    return number.isdigit() and _LETTERS[int(number) % 23] == bare[-1]


def _is_insee(text: str) -> bool:
    digits = _digits(text)
    return len(digits) == 15 and 97 - int(digits[:13]) % 97 == int(digits[13:])


def _by_form(text: str) -> bool:
    return True


# The strictest form first: a card number is also a telephone number by its form.
KINDS: tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...] = (
    ("EMAIL", _EMAIL, _by_form),
    ("IBAN", _IBAN, _is_iban),
    ("ID", _INSEE, _is_insee),
    ("CARD", _CARD, _is_card),
    ("IP", _IP, _is_ip),
    ("ID", _SSN, _by_form),
    ("ID", _NINO, _by_form),
    ("ID", _DNI, _is_dni),
    ("ID", _CODICE, _by_form),
    ("PHONE", _PHONE, _is_phone),
)
"""What is masked: its name, its form, and the check that it must pass."""


# A passage as a model sees it, and its quotes in the text as it is.
SHORTEST = 3
"""The fewest words of a quote: one or two stand in nearly every passage."""
_NUMBERED = re.compile(r"^([^\S\n]*)\[(\s*\d+\s*)\]", re.MULTILINE)
"""How a passage begins in a prompt."""
_ROUND = r"\1(\2)"
LONGER = 2
"""How many times as long as the quote what is found may be: else too much was left out of it."""


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage as a model sees it: with personal data masked, if that was asked for."""

    passage: RetrievedPassage
    text: MaskedText

    @classmethod
    def of(cls, passage: RetrievedPassage, mask: bool) -> ShownPassage:
        """Return a passage as it is shown."""
        text = passage.chunk.text
        return cls(passage, mask_personal_data(text) if mask else MaskedText(text, text))

    def show_numbered(self, number: int, mask: bool) -> str:
        """Return it behind its number; one from within a document has the document's title too.

        No line of it begins as another passage would.
        """
        chunk = self.passage.chunk
        title = chunk.document.title if chunk.start else ""
        heading = mask_personal_data(title).text if mask else title
        said = f"{heading}\n{self.text.text}" if heading else self.text.text
        return f"[{number}] {_NUMBERED.sub(_ROUND, said)}"

    def support(self, quote: str) -> Support | None:
        """Return where a quote stands, word for word; None where it does not."""
        if len(read_forms(quote)[1]) < SHORTEST:
            return None
        span = find_quote_span(self.text.text, quote)
        if span is None or span[1] - span[0] > LONGER * len(quote):
            return None
        begin = self.passage.chunk.start
        start, end = self.text.span(*span)
        return Support(self.passage, begin + start, begin + end, self.text.text[slice(*span)])
