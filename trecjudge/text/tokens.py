"""Words, numbers and character bigrams of a text in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, cast

from trecjudge.text.forms import number_form, word_form
from trecjudge.text.languages import script_of
from trecjudge.text.tables import expression

# Vowel signs, other marks and zero-width characters belong to a word, but Python's "\w" lacks them.
_MARKS = (
    "\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0971-\u0df3\u0e31-\u0e4e"
    "\u0eb1-\u0ece\u0f18-\u0f39\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3099\u309a\ufe00-\ufe0f\ufeff\uff9e\uff9f\U000e0000-\U000e0fff"
)
# Scripts written without spaces (and Hangul, whose particles cling to the word): Thai to Burmese,
# Hangul, Khmer, kana, Han and their extensions.
_SPACELESS = (
    "\u0e00-\u0e4e\u0e80-\u0ece\u1000-\u104f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3041-\u3096"
    "\u3099-\u309f\u30a1-\u30fa\u30fc-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_NUMBER = r"\d+(?:[.,\u066b\u066c]\d+)*(?:(?:st|nd|rd|th|s)(?![^\W_]))?"
_WORD = rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*"
_DATE = r"\d{4}-(?:0[1-9]|1[0-2])-[0-3]\d(?!\d)"
# Most words are plain, so this is tried before the other kinds of token.
_PLAIN = rf"[A-Za-z]++(?![\w.'\u2019{_MARKS}])"
_TOKEN = re.compile(
    rf"{_PLAIN}|{_DATE}|{_NUMBER}|(?:[^\W\d_]\.){{2,}}|{_WORD}(?:['\u2019]{_WORD})*"
)
# Made when a text needs them (`expression`), since most have only plain words.
_PIECE = rf"(?P<number>{_NUMBER})|(?P<run>[{_SPACELESS}]+)|(?P<word>[^{_SPACELESS}]+)"
_IS_DATE = re.compile(_DATE, re.ASCII)
_MONTHS = "January February March April May June July August September October November December"
_CLUSTER = rf"(?s:.)[{_MARKS}]*"
_ASCII_LETTER = re.compile("[A-Za-z]")
_LATIN = frozenset({"latin"})
_HAS_SPACELESS = re.compile(rf"[{_SPACELESS}]")
_PLAIN_WORD = re.compile("[a-z0-9]+")
_WRITTEN = rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+"
_NOT_WRITTEN = f"[{_MARKS}]"


class Token(NamedTuple):
    """One unit of comparison: its form, and `text[start:end]`, which it stands for."""

    form: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """Return the tokens of `text` in their order, with character offsets into `text` itself.

    Words are NFKC-normalised, case-folded and stemmed (Latin script as English, Cyrillic as
    Russian, Arabic as Arabic); numbers are normalised ("1,234" = "1234", "12%" = "12"); an ISO
    date gives year, month and day as words do ("2024-05-03" = "3 May 2024"); runs of a script
    written without spaces give overlapping character bigrams. Text without letters and digits
    gives no token.
    """
    tokens: list[Token] = []
    end = 0
    # To find each token again is faster than a match object. No word begins between two tokens, so
    # the first place found is its own.
    words = _TOKEN.findall(text)
    for written, form in zip(words, map(_form_of, words), strict=True):
        start = text.index(written, end)
        end = start + len(written)
        if form:
            tokens.append(Token(form, start, end))
        elif form is None:
            tokens.extend(_pieces(written, start))
    return tokens


def read_forms(text: str) -> tuple[list[str], list[str]]:
    """Return the tokens of `text` as written, and their forms: `tokenize` without offsets.

    Finding offsets takes more than half of the time of reading a document.
    """
    written: list[str] = _TOKEN.findall(text)
    forms = list(map(_form_of, written))
    if all(forms):
        return written, cast("list[str]", forms)
    tokens = tokenize(text)
    return [text[t.start : t.end] for t in tokens], [t.form for t in tokens]


def read_places(text: str) -> tuple[list[str], list[str], list[int]]:
    """Return the tokens of `text` as written, their forms, and the offsets where they begin."""
    written: list[str] = _TOKEN.findall(text)
    forms = list(map(_form_of, written))
    if not all(forms):
        tokens = tokenize(text)
        written = [text[token.start : token.end] for token in tokens]
        return written, [token.form for token in tokens], [token.start for token in tokens]
    starts: list[int] = []
    end = 0
    for word in written:
        start = text.index(word, end)
        starts.append(start)
        end = start + len(word)
    return written, cast("list[str]", forms), starts


def _single_form(written: str) -> str | None:
    """Return the form of a word or number, None for what is several tokens, "" for none."""
    if written[0].isdecimal():
        return None if _IS_DATE.fullmatch(written) else number_form(written)
    if written.isascii() or not _HAS_SPACELESS.search(written):
        return word_form(written)
    return None


class _Forms(dict[str, str | None]):
    """The forms of the words met before; a dictionary, since a cache takes twice as long."""

    def __missing__(self, written: str) -> str | None:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        form = self[written] = _single_form(written)
        return form


_MOST_REMEMBERED = 1 << 16
_form_of = _Forms().__getitem__


def _pieces(mixed: str, offset: int) -> Iterator[Token]:
    """Yield the tokens of a text without spaces, such as "2024年Tokyo大会" or "2024-05-03"."""
    if _IS_DATE.fullmatch(mixed):
        yield from _date(mixed, offset)
        return
    for match in expression(_PIECE).finditer(mixed):
        start = offset + match.start()
        if match["run"]:
            yield from _bigrams(match["run"], start)
        elif match["number"]:
            yield Token(number_form(match["number"]), start, offset + match.end())
        elif form := word_form(match["word"]):
            yield Token(form, start, offset + match.end())


def _date(written: str, offset: int) -> Iterator[Token]:
    """Yield year, name of the month and day, as in "3 May 2024"."""
    month = _MONTHS.split()[int(written[5:7]) - 1]
    yield Token(written[:4], offset, offset + 4)
    yield Token(word_form(month), offset + 5, offset + 7)
    yield Token(str(int(written[8:])), offset + 8, offset + 10)


def _bigrams(run: str, offset: int) -> Iterator[Token]:
    # A bigram is of letters with their marks: a Thai vowel sign is not a letter of its own.
    spans = [match.span() for match in expression(_CLUSTER).finditer(run)]
    pairs = pairwise(spans) if len(spans) > 1 else [(spans[0], spans[0])]
    for (start, _), (_, end) in pairs:
        yield Token(_normal(run[start:end]), offset + start, offset + end)


def _normal(characters: str) -> str:
    return unicodedata.normalize("NFKC", characters).casefold()


def written_words(text: str) -> list[str]:
    """Return the words of a text as written, but for case, punctuation and signs of no width.

    Of scripts written without spaces it is the single letters.
    """
    if text.isascii():
        return _PLAIN_WORD.findall(text.lower())
    return expression(_WRITTEN).findall(expression(_NOT_WRITTEN).sub("", _normal(text)))


def count_spaceless(text: str) -> int:
    """Return how many letters of a text are of a script that is written without spaces."""
    return 0 if text.isascii() else len(_HAS_SPACELESS.findall(text))


def is_spaceless(text: str) -> bool:
    """Return whether a text has a letter of a script that is written without spaces."""
    return not text.isascii() and bool(_HAS_SPACELESS.search(text))


def scripts(text: str) -> frozenset[str]:
    """Return the writing systems of the letters of `text`, such as `{"latin", "han"}`.

    Digits, punctuation and emoji have none: a text without letters gives the empty set.
    """
    if text.isascii():
        return _LATIN if _ASCII_LETTER.search(text) else frozenset()
    return _scripts(frozenset(text))


def comparable(ours: Set[str], theirs: Set[str]) -> bool:
    """Return whether words can be compared: two texts share a script, or one has no letters."""
    return not ours or not theirs or not ours.isdisjoint(theirs)


@lru_cache(maxsize=1024)
def _scripts(characters: frozenset[str]) -> frozenset[str]:
    plain = unicodedata.normalize("NFKC", " ".join(sorted(characters)))
    return frozenset(filter(None, map(script_of, set(plain))))


# Whether the words of a sentence stand in a text in a row, as they are in the sentence.
FEWEST_WORDS = 8
"""Fewer words may stand in a document by chance."""
LETTERS_OF_A_WORD = 2
"""Letters that count as one word in scripts written without spaces."""
_NUMBERED = re.compile(r"\[[\d\s,;^–-]{1,40}\]")
_LONGEST_ENDING = 200
_ENDING = re.compile(r"(?:\s*(?:\[[^\[\]]+\]|\(\d{1,3}\)|[.!?。！？]))+\s*$")
_LOOKED_FOR_FIRST = 6


def is_copied(sentence: str, texts: Sequence[str]) -> bool | None:
    """Return whether a text has the words of a sentence in a row; None for less than eight words.

    Case, punctuation and white space do not matter, nor do marks of citations, such as "[2]", or
    "[doc_7]" at the end. Of many texts only the `likely_texts` need be given.
    """
    bare = _without_marks(sentence)
    if not _is_long(bare):
        return None
    if not texts:
        return False
    wanted = _join_tokens(bare)
    return any(wanted in _words_of(text) for text in texts)


def likely_texts(sentence: str, texts: Sequence[str]) -> Sequence[str]:
    """Return the texts that have some long words of a sentence: few do, and it is fast to see."""
    if sentence.isupper():
        return texts
    words = sorted([w for w in sentence.split() if w.isascii() and w.isalpha()], key=len)
    for word in words[: -_LOOKED_FOR_FIRST - 1 : -1]:
        # The first letter may be a capital on one side only.
        texts = [text for text in texts if word[1:] in text]
    return texts


def _is_long(sentence: str) -> bool:
    words = len(sentence.split())
    return (
        words >= FEWEST_WORDS
        or words + count_spaceless(sentence) / LETTERS_OF_A_WORD >= FEWEST_WORDS
    )


def _without_marks(sentence: str) -> str:
    # An ending of any length would let a hostile sentence take minutes.
    body, ending = sentence[:-_LONGEST_ENDING], sentence[-_LONGEST_ENDING:]
    if "]" not in ending and ")" not in ending:
        return sentence
    return body + _ENDING.sub("", ending)


# Runs on one topic have the same documents.
@lru_cache(maxsize=1024)
def _words_of(text: str) -> str:
    return _join_tokens(text)


def _join_tokens(text: str) -> str:
    return f" {' '.join(written_words(_NUMBERED.sub(' ', text)))} "
