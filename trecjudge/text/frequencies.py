"""How much a word tells: inverse document frequency from a shipped table, or a fallback."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_TABLE = Path(__file__).with_name("frequencies.txt")
# Grammar written in the scripts that are cut into bigrams: frequent Chinese characters of little
# content, and hiragana, which writes the endings and particles of Japanese.
_GRAMMAR = frozenset("的了是在和有这這个個我们們也就都而及与與之其为為于於")
_SHORT_WORD = 0.3
_GRAMMAR_BIGRAM = 0.5


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Document frequencies: `counts[form]` of `passages` passages have a token of that form."""

    passages: int
    counts: Mapping[str, int]
    highest: float

    @classmethod
    def of(cls, passages: int, counts: Mapping[str, int]) -> Frequencies:
        """Return the table whose highest weight is that of its rarest word."""
        rarest = min(counts.values(), default=1)
        return cls(passages, counts, math.log(passages / rarest))

    def weight(self, form: str, written: str) -> float:
        """Return the weight of a token, 0 to 1: idf over the highest idf of the table.

        idf is log(N/df) (Sparck Jones, 1972); a word outside the table is taken for a rare one.
        Without a table for its language, a short uncapitalised word is taken for grammar.
        """
        count = self.counts.get(form)
        if count is not None:
            return math.log(self.passages / count) / self.highest
        if form.isascii() and form[0].isdigit():
            return 1.0
        if "\u3041" <= form[-1] <= "\u309f" or not _GRAMMAR.isdisjoint(form):
            return _GRAMMAR_BIGRAM
        if len(form) <= 3 and form[0] < "\u0e00" and not written[0].isupper():
            return _SHORT_WORD
        return 1.0


def read_frequencies(path: Path = _TABLE) -> Frequencies:
    """Read a table: the number of passages, then lines of a count and the forms that have it."""
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    counts: dict[str, int] = {}
    for line in lines:
        count, *forms = line.split(" ")
        counts.update(dict.fromkeys(forms, int(count)))
    return Frequencies.of(int(first), counts)


def format_frequencies(passages: int, counts: Mapping[str, int]) -> str:
    """Return the text that `read_frequencies` reads: most frequent first, then by form."""
    forms_of: dict[int, list[str]] = {}
    for form in sorted(counts):
        forms_of.setdefault(counts[form], []).append(form)
    lines = [" ".join((str(count), *forms_of[count])) for count in sorted(forms_of, reverse=True)]
    return "\n".join((str(passages), *lines, ""))
