"""Sentences of running text, by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

CITATION = r"\[\^?\d+(?:\s*[,;–-]\s*\^?\d+)*\]"
"""Pattern of a citation mark: "[1]", "[^2]", "[1, 3]", "[1-3]"."""

_CITATIONS = rf"(?:\s*{CITATION})*"
_CLOSERS = "[\"'”’»)\\]}」』）】》〉*_]*"
# A stop with the closing quotes and citation marks that stay with its sentence; or a break of
# the layout: an empty line, or a line that opens a list item. The look-behind keeps a long run of
# spaces from being tried at every space.
_BOUNDARY = re.compile(
    rf"(?P<full>[。！？｡।॥؟۔։።]+{_CLOSERS}{_CITATIONS})\s*"
    rf"|(?P<stop>[.!?…]+{_CLOSERS}{_CITATIONS})(?:\s+|$)"
    r"|(?<!\s)\s*\n\s*(?:\n\s*|(?=[-*•‣]\s|\d{1,3}[.)]\s))"
)
# Where a boundary can begin: looking for these first is three times faster than trying everywhere.
# Of several stops in a row only the first is tried: if no boundary begins there, none follows.
_CANDIDATE = re.compile(r"[.!?…]+|[。！？｡।॥؟۔։።]|\n\s*")
_LAST_WORD = re.compile(r"(?:[^\W\d_]|[.'’-])*[^\W\d_]$")
_FIRST_WORD = re.compile(r"[\"'“‘«(\[¿¡*_]*(\w+)?")
_ABBREVIATIONS = frozenset(
    """
    mr mrs ms mx dr prof rev hon sr jr st mt ft gen col maj capt lt sgt cmdr adm gov sen rep pres
    supt messrs mme mlle vs etc al cf viz approx v est dept univ assn bros inc ltd co corp
    fig figs eq eqs sec ch vol no nos pp ed eds trans jan feb mar apr jun jul aug sep sept oct
    nov dec mon tue tues wed thu thur thurs fri sat sun ave blvd rd bzw usw nr bd hr sra dra
    т г им ул
    """.split()  # noqa: SIM905
)
# These end a sentence as often as they stand inside one.
_OFTEN_LAST = frozenset({"etc", "al", "inc", "ltd", "co", "corp", "jr", "sr", "usw"})
# After an initialism ("the U.S. The") only such a word opens a new sentence.
_OPENERS = frozenset(
    """
    the a an this that these those it its he she they we i you his her their our in on at by for
    from with as if when while after before since although however but and or so yet there here
    who what why how where many most some all both each other another one two moreover meanwhile
    according additionally furthermore overall despite during such to no not
    """.split()  # noqa: SIM905
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of `text` without white space around them.

    Nothing but white space is lost. Abbreviations, initials and decimals do not end a sentence;
    closing quotes and citation marks such as "[1]" after a stop stay with the sentence before.
    """
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the `(start, end)` of every sentence: character offsets, ordered, not empty."""
    start = _skip_space(text, 0)
    for match in _boundaries(text):
        if match["stop"] is not None and not _ends_sentence(text, start, match):
            continue
        end = match.start() + len(match["full"] or match["stop"] or "")
        if end > start:
            yield start, end
            start = match.end()
    end = len(text.rstrip())
    if end > start:
        yield start, end


def _boundaries(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of the boundary pattern, in order and apart."""
    done = 0
    for candidate in _CANDIDATE.finditer(text):
        begin = candidate.start()
        if begin < done:
            continue
        if text[begin] == "\n":
            while begin > done and text[begin - 1].isspace():
                begin -= 1
        match = _BOUNDARY.match(text, begin)
        if match:
            done = match.end()
            yield match


def _skip_space(text: str, position: int) -> int:
    return len(text) - len(text[position:].lstrip()) if position < len(text) else position


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    """Return whether the stop of `match` ends the sentence that begins at `start`."""
    opener = _FIRST_WORD.match(text, match.end())
    following = (opener[1] or "") if opener else ""
    if match[0].count("\n") > 1:
        return True
    if match["stop"][0] != "." or match["stop"].startswith(".."):
        return not following[:1].islower()
    if following[:1].islower():
        return False
    # A citation mark or a quote after the stop ends the sentence: abbreviations are not cited.
    if "]" in match["stop"]:
        return True
    # Only the text after the last space, since the pattern is slow on more.
    near = re.split(r"\s", text[max(start, match.start() - 40) : match.start()])[-1]
    before = _LAST_WORD.search(near)
    return before is None or _word_may_end(before[0], following)


def _word_may_end(word: str, following: str) -> bool:
    """Return whether a sentence ends after "`word`." when the next word is `following`."""
    lower = word.lower()
    if "." in word or lower in _OFTEN_LAST:
        return not following or following.lower() in _OPENERS
    if lower in _ABBREVIATIONS:
        return not following or (lower == "no" and following.isalpha())
    if len(word) == 1 and word.isupper():
        return not following or following.lower() in _OPENERS - {"a", "i"}
    return True
