"""Text said otherwise by rules: other spelling, short forms, other words, padding, Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

NEUTRAL = "This is worth noting."
"""A sentence that says nothing about any subject."""
SPELLINGS = (
    *("behaviour/behavior", "centre/center", "colour/color", "defence/defense", "fibre/fiber"),
    *("favour/favor", "harbour/harbor", "honour/honor", "humour/humor", "labour/labor"),
    *("litre/liter", "metre/meter", "neighbour/neighbor", "programme/program", "rumour/rumor"),
    *("theatre/theater", "tumour/tumor", "catalogue/catalog", "dialogue/dialog", "grey/gray"),
    *("analyse/analyze", "organise/organize", "organisation/organization", "realise/realize"),
    *("recognise/recognize", "minimise/minimize", "maximise/maximize", "emphasise/emphasize"),
    *("prioritise/prioritize", "stabilise/stabilize", "utilise/utilize", "criticise/criticize"),
    *("behavioural/behavioral", "travelling/traveling", "modelling/modeling", "ageing/aging"),
    *("labelled/labeled", "cancelled/canceled", "paediatric/pediatric", "anaemia/anemia"),
    *("organised/organized", "recognised/recognized", "analysed/analyzed", "sceptical/skeptical"),
)
"""British and American spellings of one word."""
SHORT_FORMS = (
    *("do not/don't", "does not/doesn't", "did not/didn't", "is not/isn't", "are not/aren't"),
    *("was not/wasn't", "were not/weren't", "cannot/can't", "could not/couldn't"),
    *("would not/wouldn't", "should not/shouldn't", "has not/hasn't", "have not/haven't"),
    *("had not/hadn't", "will not/won't", "it is/it's", "they are/they're", "there is/there's"),
    *("we are/we're", "that is/that's"),
)
"""Long and short forms."""
SYNONYMS = (
    *("big/large", "begin/start", "begins/starts", "began/started", "about/approximately"),
    *("also/additionally", "often/frequently", "however/nevertheless", "many/numerous"),
    *("important/significant", "help/assist", "helps/assists", "show/demonstrate", "use/employ"),
    *("shows/demonstrates", "showed/demonstrated", "need/require", "needs/requires"),
    *("buy/purchase", "but/yet", "although/though", "because/since", "such as/like"),
    *("for example/for instance", "enough/sufficient", "whole/entire", "quick/rapid"),
    *("quickly/rapidly", "near/close to", "various/several", "while/whereas"),
)
"""Words and phrases of one meaning, in the same form."""


@cache
def _swaps(pairs: tuple[str, ...]) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return an expression for either side of pairs, and what each side becomes."""
    found: dict[str, str] = {}
    for one, other in (pair.split("/") for pair in pairs):
        found |= {one: other, other: one}
    sides = "|".join(map(re.escape, sorted(found, key=len, reverse=True)))
    return re.compile(rf"\b({sides})\b", re.IGNORECASE), found


def swap_pairs(text: str, pairs: Iterable[str]) -> str:
    """Return a text with each side of `one/other` pairs replaced by the other side.

    A capital at the beginning is kept; text in capitals stays as it is.
    """
    expression, others = _swaps(tuple(pairs))

    def other(match: re.Match[str]) -> str:
        word = match.group()
        if word.isupper() and len(word) > 1:
            return word
        made = others[word.lower()]
        return made[0].upper() + made[1:] if word[0].isupper() else made

    return expression.sub(other, text)


def other_spelling(text: str) -> str:
    """Return a text in American spelling where it is British, and the reverse."""
    return swap_pairs(text, SPELLINGS)


def other_forms(text: str) -> str:
    """Return a text with short forms for long ones (`do not`: `don't`), and the reverse."""
    return swap_pairs(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"), SHORT_FORMS)


def other_words(text: str) -> str:
    """Return a text with some words replaced by others of the same meaning."""
    return swap_pairs(text, SYNONYMS)


def pad_text(text: str) -> str:
    """Return a text with a sentence behind it that says nothing."""
    return f"{text.rstrip()} {NEUTRAL}" if text.strip() else text


def repeat_text(text: str) -> str:
    """Return a text that says the same twice."""
    return f"{text.rstrip()} {text.strip()}" if text.strip() else text


def in_bold(text: str) -> str:
    """Return a text in Markdown's bold."""
    return f"**{text.strip()}**" if text.strip() else text


def as_bullet(text: str) -> str:
    """Return a text as a bullet of a Markdown list."""
    return f"- {text.strip()}\n" if text.strip() else text
