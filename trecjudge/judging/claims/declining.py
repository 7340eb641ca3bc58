"""Sentences that decline to answer, in English and in the other languages of the tracks."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from trecjudge.text.tables import ExpressionGroup, expression, read_expressions

_FILE = Path(__file__).with_name("declining.txt")
_ENGLISH = "english"
_LATIN = (_ENGLISH, "german", "french", "spanish", "other latin")
_OTHERS = ("chinese", "russian", "persian", "arabic", "japanese or korean")
# All characters that `lack` matches in a language written in Latin letters.
_WORD = re.compile(r"[\w'’/]+")
_ZERO_WIDTH = re.compile("\u200c")
# The letters outside ASCII that match one of ASCII where case is ignored.
_LIKE_ASCII = str.maketrans("İıſK", "iisk")


class DecliningLanguage:
    """A language: its named parts, how a sentence that declines begins, and what it may have."""

    def __init__(self, section: ExpressionGroup) -> None:
        self.parts = section.parts
        self.opening = "|".join(one for one in section.expressions if one.startswith("^"))
        within = [one for one in section.expressions if not one.startswith("^")]
        # Those that begin with a word are one alternative: its border is then looked for once.
        words = "|".join(one for one in within if one.startswith(r"\b"))
        others = (one for one in within if not one.startswith(r"\b"))
        self.within = "|".join((*([f"(?:{words})"] if words else ()), *others))

    def has(self, part: str, text: str) -> bool:
        """Return whether a text has the part of that name, such as `lack`."""
        return expression(self.parts[part], re.IGNORECASE).search(text) is not None

    def declines(self, sentence: str) -> bool:
        """Return whether a sentence that has `lack` states that an answer is lacking."""
        opens = self.opening and expression(self.opening, re.IGNORECASE).match(sentence)
        return bool(opens or expression(self.within, re.IGNORECASE).search(sentence))


class English(DecliningLanguage):
    """English, which has the most expressions: most are tried only beside a word of sources."""

    def declines(self, sentence: str) -> bool:
        """Return whether a sentence that has `lack` states that an answer is lacking."""
        plain = sentence if sentence.isascii() else sentence.translate(_LIKE_ASCII)
        # In small letters, since to ignore case takes twice as long.
        lower = expression(self.parts["apology"]).sub("", plain.lower())
        if expression(self.opening).match(lower):
            return True
        about = expression(self.parts["about"]).search(lower)
        return bool(about and expression(self.within).search(lower))


@cache
def _languages() -> dict[str, DecliningLanguage]:
    kinds = {_ENGLISH: English}
    read = read_expressions(_FILE)
    return {one.name: kinds.get(one.name, DecliningLanguage)(one) for one in read}


def declines(sentence: str) -> bool:
    """Return whether a sentence, or a part of one, states that an answer is lacking."""
    lacking = {one for word in set(_WORD.findall(sentence)) for one in _languages_lacking(word)}
    languages = _languages()
    if _ENGLISH in lacking and languages[_ENGLISH].declines(sentence):
        return True
    plain = sentence if sentence.isascii() else _ZERO_WIDTH.sub(" ", sentence)
    if any(languages[name].declines(plain) for name in lacking if name != _ENGLISH):
        return True
    if sentence.isascii():
        return False
    others = (languages[name] for name in _OTHERS)
    return any(one.has("lack", plain) and one.declines(plain) for one in others)


# Word by word, since a search of whole sentences takes ten times as long.
@lru_cache(maxsize=1 << 14)
def _languages_lacking(word: str) -> tuple[str, ...]:
    """Return the languages in Latin letters in which a word may say that something is lacking."""
    return tuple(name for name in _LATIN if _languages()[name].has("lack", word))


def may_decline(sentence: str) -> bool:
    """Return whether a sentence in which a model found no claim can be read as declining."""
    english = _languages()[_ENGLISH]
    lacking = english.has("lack", sentence) and english.has("answering", sentence)
    return lacking or declines(sentence)


def without_lead_in(sentence: str) -> str:
    """Return a sentence without an opener that says nothing, such as "Please note that"."""
    lead_in = _languages()[_ENGLISH].parts["lead_in"]
    return expression(lead_in, re.IGNORECASE).sub("", sentence)
