"""Function words: a sentence that has only these has nothing that can be looked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from functools import cache
from pathlib import Path

from trecjudge.text.tokens import read_forms

_FILE = Path(__file__).with_name("function_words.txt")


def _read(path: Path) -> dict[str, list[str]]:
    """Return the words of each language."""
    found: dict[str, list[str]] = {}
    words: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.endswith(":"):
            words = found.setdefault(line[:-1], [])
        elif not line.startswith("#"):
            words += line.split()
    return found


_WORDS = _read(_FILE)
# Without spaces between words, a text is of these only if it can be cut into them.
_SPACELESS = ("chinese", "japanese", "thai", "korean")
_GRAMMAR = frozenset(word for lang in _SPACELESS for word in _WORDS[lang] if len(word) == 1)
_KANA = re.compile("[\u3041-\u309f]")
# One word in three, which is more than a text of another language has by chance.
_PLENTY = 3
_FORMS: Mapping[str, frozenset[str]] = {
    language: frozenset(read_forms(" ".join(words))[1])
    for language, words in _WORDS.items()
    if language not in _SPACELESS
}
ENGLISH = _FORMS["english"]
_FOREIGN = frozenset().union(*_FORMS.values()) - ENGLISH


@cache
def _cuts() -> list[re.Pattern[str]]:
    """Return a pattern of a run of function words, for each language written without spaces."""
    longest = (sorted(_WORDS[language], key=len, reverse=True) for language in _SPACELESS)
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
