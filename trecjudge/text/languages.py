"""The language of a text, by its script and its function words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from trecjudge.text.tables import read_words

ENGLISH: Final = "en"
OTHER: Final = "other"
"""A language that is not in the table."""
UNKNOWN: Final = "unknown"
"""A text with too few words of any language, such as names and numbers."""


@lru_cache(maxsize=4096)
def script_of(character: str) -> str:
    """Return the writing system of one letter in lower case ("latin", "han"), "" for others.

    It is the first word of the character's Unicode name, which names the script for letters.
    """
    if unicodedata.category(character) not in {"Lu", "Ll", "Lt", "Lo"}:
        return ""
    name = unicodedata.name(character, "").partition(" ")[0].lower()
    return "han" if name == "cjk" else name


class Language(NamedTuple):
    """A language: its name, script, and what tells it from others of the script.

    `letters` are hardly written by others, `words` are its function words. `stemmed`: all words of
    its script are reduced to its stems; `spaceless`: it is written without spaces.
    """

    name: str
    script: str
    letters: frozenset[str]
    stemmed: bool
    spaceless: bool
    words: tuple[str, ...]


def _read(path: Path) -> Iterable[tuple[str, Language]]:
    for head, words in read_words(path).items():
        code, name, script, *more = head.split()
        stemmed, spaceless = "stemmed" in more, "spaceless" in more
        letters = frozenset(more[0] if len(more) > stemmed + spaceless else "")
        yield code, Language(name, script, letters, stemmed, spaceless, tuple(words))


LANGUAGES: Mapping[str, Language] = dict(_read(Path(__file__).with_suffix(".txt")))
"""All languages that are known, by their codes (ISO 639-1)."""


def _owners(of: Callable[[Language], Iterable[str]]) -> dict[str, list[str]]:
    """Return the languages that have each of their words, or letters."""
    found: dict[str, list[str]] = {}
    for code, own in LANGUAGES.items():
        for one in dict.fromkeys(of(own)):
            found.setdefault(one, []).append(code)
    return found


_LANGUAGES_OF = _owners(lambda own: own.words)
_LANGUAGES_OF_LETTER = _owners(lambda own: own.letters)
_ONLY_ENGLISH = frozenset(
    form
    for word, of in _LANGUAGES_OF.items()
    if of == [ENGLISH]
    for form in (word, word.capitalize())
)
_NOT_ENGLISH = frozenset(word for word, of in _LANGUAGES_OF.items() if ENGLISH not in of)
_SPACELESS = frozenset(own.script for own in LANGUAGES.values() if own.spaceless) | {"katakana"}
_LATIN = "latin"
# Without the "s" of "it's": French and others have such a letter before the sign.
_WORD = re.compile(r"(?<![^\W\d_]['\u2019])[^\W\d_]+|(?<=\b[^\W\d_]['\u2019])[^\W\d_]+")
# Of a longer text the beginning and the end are read.
_READ = 600
# Of English one word in twenty is "the", of others none: one in so many characters decides fastest.
_THE, _PER_THE = " the ", 160
# Text in Latin script with a quarter as many words of others as of English at most is English.
_FEW_FOREIGN = 0.25
_FEW_BYTES = 1.1
# Another language in Latin script has so many distinct words that English has not, and its function
# words are this share of all words that are no names; less may be a title, such as "Les Demoiselles
# d'Avignon".
_FEWEST_WORDS = 2
_LEAST_SHARE = 0.2
_BY_FAR = 1.5
# With so many words and less of this share of function words it is a language without a list.
_MANY_WORDS = 30
_LEAST_OF_MANY = 0.1
_LEAST_ENGLISH = 0.1
_LETTERS_OF_A_WORD = 2
_FEWEST_LETTERS = 4  # more than "5 μm, 3 μm" has
_LEAST_KANA = 0.1


def language_of(text: str) -> str:
    """Return the code of the language that most of a text is in, OTHER or UNKNOWN.

    A few words of English decide at once. Else it is the script of most words; of the languages
    of a script it is the one with most function words, and of English and another the likelier
    one by far. Names, which have a capital, count for none.
    """
    read = text if len(text) <= 2 * _READ else f"{text[:_READ]} {text[-_READ:]}"
    if read.count(_THE) * _PER_THE > len(read):
        return ENGLISH
    if len(read.encode(errors="replace")) <= _FEW_BYTES * len(read):
        words = read.split()
        english = sum(map(_ONLY_ENGLISH.__contains__, words))
        foreign = sum(map(_NOT_ENGLISH.__contains__, words))
        if english and foreign <= _FEW_FOREIGN * english:
            return ENGLISH
        if not (english or foreign) and len(words) < _MANY_WORDS and read.isascii():
            return UNKNOWN
    return _most_written(unicodedata.normalize("NFKC", read))


# A claim is compared with several documents, a document with many sentences, of several runs.
_of_sentence = lru_cache(maxsize=256)(language_of)
_of_document = lru_cache(maxsize=1024)(language_of)


def language_of_pair(sentence: str, document: str) -> str:
    """Return the language of a sentence and a document, that of the document where both have one.

    Where one of two is English and the other is not, it is both: "es+en" is a Spanish document. A
    pair that has too few words of any language counts as English.
    """
    ours, theirs = _of_sentence(sentence), _of_document(document)
    if ours == theirs == UNKNOWN:
        theirs = language_of(f"{document}\n{sentence}")
    known = [code for code in (theirs, ours) if code != UNKNOWN] or [ENGLISH]
    return "+".join(dict.fromkeys(known)) if ENGLISH in known else known[0]


def _most_written(text: str) -> str:
    """Return the language of a text by the script of most of its words."""
    sizes: defaultdict[str, float] = defaultdict(float)
    words = Counter(_WORD.findall(text))
    for word, count in words.items():
        if (script := script_of(word[0])) in _SPACELESS:
            for letter in word:
                sizes[script_of(letter)] += count / _LETTERS_OF_A_WORD
        elif len(word) > 1 or word in _LANGUAGES_OF:  # no "π"
            sizes[script] += count
    kana = sizes.pop("katakana", 0) + sizes.pop("hiragana", 0)
    if kana > _LEAST_KANA * sizes["han"]:
        sizes["hiragana"] = kana + sizes.pop("han", 0)
    script = max(sizes, key=sizes.__getitem__, default=_LATIN)
    known = [code for code, own in LANGUAGES.items() if own.script == script]
    found = _weigh(words)
    best = max(known, key=found.__getitem__, default=OTHER)
    if script == _LATIN:
        return _check_latin(words, best, found[best] >= _BY_FAR * found[ENGLISH])
    is_sure = sizes[script] >= _FEWEST_WORDS and len(set("".join(words))) >= _FEWEST_LETTERS
    return best if is_sure else UNKNOWN


def _check_latin(written: Mapping[str, int], best: str, by_far: bool) -> str:
    """Return `best`, likelier than English `by_far`, if the words that are no names show it."""
    words = Counter({word: n for word, n in written.items() if word.islower()})
    of_best = [word for word in words if best in _languages_of(word)]
    of_english = [word for word in words if ENGLISH in _languages_of(word)]
    every = max(1, words.total())
    is_long = every >= _MANY_WORDS
    if best != ENGLISH:
        foreign = [w for w in of_best if len(w.encode()) > 1 and w not in of_english]
        signs = sum(not word.isascii() for word in words)
        is_sure = len(foreign) >= _FEWEST_WORDS or (foreign and signs >= _FEWEST_WORDS)
        share = sum(map(words.__getitem__, of_best)) / every
        is_plenty = share >= (_LEAST_OF_MANY if is_long else _LEAST_SHARE)
        if by_far and is_sure and is_plenty:
            return best
    if is_long and sum(map(words.__getitem__, of_english)) < _LEAST_ENGLISH * every:
        return OTHER
    return UNKNOWN if _ONLY_ENGLISH.isdisjoint(written) else ENGLISH


@lru_cache(maxsize=1 << 14)
def _languages_of(word: str) -> Sequence[str]:
    """Return the languages that have a word as a function word, or hardly share its letters."""
    if word.isascii() or word in _LANGUAGES_OF:
        return _LANGUAGES_OF.get(word, ())
    return min(
        (_LANGUAGES_OF_LETTER[one] for one in word if one in _LANGUAGES_OF_LETTER),
        key=len,
        default=(),
    )


def _weigh(words: Mapping[str, int]) -> defaultdict[str, float]:
    """Return how much words tell of each language: one that several share tells less."""
    found: defaultdict[str, float] = defaultdict(float)
    for word, count in words.items():
        languages = _languages_of(word.lower())
        for code in languages:
            found[code] += count / len(languages)
    return found
