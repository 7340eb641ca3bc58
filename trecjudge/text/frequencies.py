"""Weights of words by document frequency, and function words, which carry no weight."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from trecjudge.text.languages import LANGUAGES
from trecjudge.text.tokens import read_forms

# Function words: a sentence that has only these has nothing that can be looked for.
# Without spaces between words, a text is of these only if it can be cut into them.
_SPACELESS = [own.words for own in LANGUAGES.values() if own.spaceless]
_GRAMMAR = frozenset(word for words in _SPACELESS for word in words if len(word) == 1)
_KANA = re.compile("[\u3041-\u309f]")
# One word in three, which is more than a text of another language has by chance.
_PLENTY = 3
_FORMS: Mapping[str, frozenset[str]] = {
    code: frozenset(read_forms(" ".join(own.words))[1])
    for code, own in LANGUAGES.items()
    if not own.spaceless
}
ENGLISH = _FORMS["en"]
_FOREIGN = frozenset().union(*_FORMS.values()) - ENGLISH


@cache
def _cuts() -> list[re.Pattern[str]]:
    """Return a pattern of a run of function words, for each language written without spaces."""
    longest = (sorted(words, key=len, reverse=True) for words in _SPACELESS)
    return [re.compile(rf"(?:{'|'.join(words)}|[\W_])++") for words in longest]


def grammar_of(forms: Set[str]) -> Set[str]:
    """Return the function words of the language that has most of the words in a text, as forms.

    English wins a tie, so that "die", "war" and "man" are words of an English text.
    """
    best, most = ENGLISH, len(ENGLISH & forms)
    if _PLENTY * most >= len(forms) or _FOREIGN.isdisjoint(forms):
        return ENGLISH
    for words in _FORMS.values():
        count = len(words & forms)
        if count > most:
            best, most = words, count
    return best


def is_grammar_run(text: str) -> bool:
    """Return whether a text without spaces can be cut into function words of a language."""
    return any(cut.fullmatch(text) for cut in _cuts())


def has_grammar(bigram: str) -> bool:
    """Return whether one of two characters in such a script is of grammar, as a particle is."""
    return not _GRAMMAR.isdisjoint(bigram) or bool(_KANA.match(bigram))


# Weights of words: inverse document frequency from a shipped table, or a fallback.
_TABLE = Path(__file__).with_name("frequencies.txt")
# Grammar written in the scripts that are cut into bigrams: frequent Chinese characters of little
# content, and hiragana, which writes the endings and particles of Japanese.
_GRAMMAR_CHARACTERS = frozenset("的了是在和有这這个個我们們也就都而及与與之其为為于於")
TABLE_SIZE = 3000
"""The words of a table: the commonest ones."""

ENOUGH = 20
"""The fewest passages from which word frequencies are counted; in fewer, all words are rare."""

# Weights of what may be grammar, where no table tells: a word of up to three letters, and a bigram
# with a character of grammar, whose other half may still be content.
_SHORT_WORD = 0.3
_GRAMMAR_BIGRAM = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """Document frequencies: `counts[form]` of `passages` passages have a token of that form.

    A table equals only itself: it is a key of caches.
    """

    passages: int
    counts: Mapping[str, int]
    highest: float
    weights: Mapping[str, float] = field(init=False, repr=False, compare=False)
    """idf over the highest idf, 0 to 1, of every form of the table."""

    def __post_init__(self) -> None:
        highest = self.highest or 1.0
        weights = {
            form: math.log(self.passages / count) / highest for form, count in self.counts.items()
        }
        object.__setattr__(self, "weights", weights)

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
        weight = self.weights.get(form)
        if weight is not None:
            return weight
        if form.isascii() and form[0].isdigit():
            return 1.0
        if "\u3041" <= form[-1] <= "\u309f" or not _GRAMMAR_CHARACTERS.isdisjoint(form):
            return _GRAMMAR_BIGRAM
        if len(form) <= 3 and form[0] < "\u0e00" and not written[0].isupper():
            return _SHORT_WORD
        return 1.0


def read_frequencies(path: Path = _TABLE) -> Frequencies:
    """Read a table: the number of passages, then lines of a count and the forms that have it."""
    return parse_frequencies(path.read_text(encoding="utf-8").splitlines())


def parse_frequencies(table: Sequence[str]) -> Frequencies:
    """Return the table of these lines. Raises ValueError for a line that cannot be read."""
    first, *lines = table
    passages = int(first)
    counts: dict[str, int] = {}
    for line in lines:
        count, *forms = line.split(" ")
        if not 1 <= int(count) <= passages:
            raise ValueError(f"{count} of {passages} passages have {' '.join(forms)[:40]!r}")
        counts.update(dict.fromkeys(forms, int(count)))
    return Frequencies.of(passages, counts)


def frequency_lines(frequencies: Frequencies) -> list[str]:
    """Return the lines that `parse_frequencies` reads: most frequent first, then by form."""
    forms_of: dict[int, list[str]] = {}
    for form in sorted(frequencies.counts):
        forms_of.setdefault(frequencies.counts[form], []).append(form)
    rows = (" ".join((str(count), *forms_of[count])) for count in sorted(forms_of, reverse=True))
    return [str(frequencies.passages), *rows]


def count_frequencies(texts: Iterable[str]) -> tuple[int, Counter[str]]:
    """Return how many texts there are, and in how many of them each word or bigram is.

    Numbers are left out, since all of them are about equally rare.
    """
    counts: Counter[str] = Counter()
    passages = 0
    for text in texts:
        passages += 1
        counts.update({form for form in read_forms(text)[1] if not form[0].isdigit()})
    return passages, counts


def blend_frequencies(
    background: Frequencies, passages: int, counts: Mapping[str, int]
) -> Frequencies:
    """Return the background with the words that it lacks, at their weights in the user's passages.

    Such are the words of another language. Fewer than 20 passages add none. Words of both tables
    keep the weight of the background, with which the weights of the features were fitted.
    """
    common = sorted(counts, key=lambda form: (-counts[form], form))[:TABLE_SIZE]
    own = Frequencies.of(passages, {form: counts[form] for form in common})
    if passages < ENOUGH:
        return background
    added = {
        form: max(1, round(background.passages * math.exp(-background.highest * weight)))
        for form, count in own.counts.items()
        if form not in background.counts and count > 1
        for weight in [math.log(passages / count) / math.log(passages)]
    }
    return Frequencies(background.passages, {**background.counts, **added}, background.highest)
