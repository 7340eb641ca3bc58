"""A grade from what a model, or anybody, wrote: exactly one integer from 0 to 3, or none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

MAX_GRADE = 3
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
_OPEN = "�"
"""Stands for several numbers of which one is meant: "1 or 2", "between 1 and 2"."""

_OF = r"\s*(?:/|out of|of)\s*"
_NUMBER = rf"(?<![\w.,])(?:[-+](?=\d))?\d+(?:[.,]\d+)*%?(?:{_OF}\d+(?:\.\d+)?)?(?![\w+])"
_TO = r"\s*(?:-|~|\.\.+|to|or|and|through|versus|vs\.?)\s*(?:(?:maybe|perhaps|even|an?)\s+)*"
_SCALE = re.compile(rf"\(?\b0{_TO}3(?![\w.,]*\d)\)?")
_LEGEND = re.compile(r"\(?\b0\s*[,;/]\s*1\s*[,;/]\s*2\s*[,;/]?\s*(?:(?:and|or)\s*)?3\b\)?")
_RANGE = re.compile(rf"\b\d+{_TO}\d+\b|(?:at least|at most|(?:more|less) than)\s+{_NUMBER}")
_DENIED = re.compile(rf"\b(?:not|never|nor|rather than|instead of)\s+(?:an?\s+)?{_NUMBER}", re.I)
_DENIED_LOOSELY = re.compile(
    rf"\b(?:not|never|no|cannot|hardly|\w+n't)\b[^.,;:()\n-]{{0,40}}?{_NUMBER}", re.I
)
_REFUSED = re.compile(
    r"\b(?:i|we)(?:'m| am| are|'re)?\s+(?:sorry|unable|cannot|can't|can not|won't|will not|refuse"
    r"|decline|not able)\b|\bsorry\b|\bas an ai\b|\b(?:cannot|can't|can not) be"
    r" (?:graded|judged|rated|assessed|scored|determined)\b",
    re.I,
)

_VALUE = rf"(?P<value>{_NUMBER}|{_OPEN})"
_NOUN = r"(?:relevance\s+)?(?:grade|score|rating|mark|relevance|verdict|label)"
_SEP = r"[\s:=*_\"'`()#|>-]*?(?:(?:is|was|of|as|at|would be|should be)\s+)?(?:an?\s+)?[*_\"'`(]*"
_NAMED = re.compile(rf"\b{_NOUN}\b{_SEP}{_VALUE}", re.I)
_FINAL = re.compile(rf"\b(?:final|overall)\s+{_NOUN}\b{_SEP}{_VALUE}", re.I)
_END = r"[*_\"'`]*(?=\s*(?:$|[.,;:!)(\n]|-|because\b|since\b|as\b))"
_ALONE = re.compile(rf"^[\s*_\"'`(]*{_VALUE}[\s*_\"'`).!]*$")
_LEADING = re.compile(rf"^[\s*_\"'`(]*{_VALUE}[*_\"'`)]*(?=\s*(?:[.,;:!(\n]|-\s))")
_LISTED = re.compile(r"(?:^|\s)\d+[.)]\s")
_SAID = re.compile(
    rf"(?:\b(?:is|as|an?|be|but|say|gives?|given|it|this|assign|deserves?|rated?|graded?|scored?)"
    rf"\s+|[:=>(]\s*)[*_\"'`(]*{_VALUE}{_END}",
    re.I,
)


def grade_of(written: object) -> int | None:
    """Return the grade that `written` states, 0 to 3; None where it states none, or several.

    `written` is a number or a text. A text states a grade by being it ("2", "2/3", "two"), by
    naming it ("final score: 2", before "grade: 1"), by beginning with it ("2, since ...") or in a
    sentence ("this is a 2"), looked for in this order; the scale ("0 to 3") and what is denied
    ("not 3") are no statements. Two that differ, a range, another scale, a refusal, or a number
    beyond the scale leave it unread.
    """
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        return None
    if not isinstance(written, str):
        return int(written) if written in range(MAX_GRADE + 1) else None
    text = _plain(written)
    if _REFUSED.search(text):
        return None
    for found in _statements(text):
        if found:  # a plainer statement decides, also that there are two different grades
            grades = {_value(value) for value in found}
            return grades.pop() if len(grades) == 1 else None
    return None


def _statements(text: str) -> Iterator[list[str]]:
    """Yield the values stated in each way, the plainest way first."""
    yield _values(_ALONE, text)
    yield _values(_FINAL, text)
    yield _values(_NAMED, text)
    yield [] if len(_LISTED.findall(text)) > 1 else _values(_LEADING, text)
    yield _values(_SAID, _DENIED_LOOSELY.sub(" ", text))


def _values(pattern: re.Pattern[str], text: str) -> list[str]:
    return [match["value"] for match in pattern.finditer(text)]


def _plain(written: str) -> str:
    """Return the text in NFKC, numbers as digits, without the scale and without what is denied."""
    text = unicodedata.normalize("NFKC", written).replace("’", "'")
    text = re.sub("[\u2010-\u2015\u2212]", "-", text)
    text = _WORD.sub(lambda word: str(_WORDS.index(word[0].lower())), text)
    text = _LEGEND.sub(" ", _SCALE.sub(" ", text))
    return _RANGE.sub(_OPEN, _DENIED.sub(" ", text))


def _value(written: str) -> int | None:
    """Return the grade of a number as written: "2", "2.0", "2/3"; None beyond the scale."""
    number, *scale = re.split(_OF, written)
    try:
        value = float(number)
        known = not scale or float(scale[0]) == MAX_GRADE
    except ValueError:
        return None
    return int(value) if known and value in range(MAX_GRADE + 1) else None
