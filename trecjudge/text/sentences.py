"""Sentences of running text, by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trecjudge.text.abbreviations import may_end

CITATION = r"\[\^?\d+(?:\s*[,;–-]\s*\^?\d+)*\]"
"""Pattern of a citation mark: "[1]", "[^2]", "[1, 3]", "[1-3]"."""

_CITATIONS = rf"(?:\s*{CITATION})*"
_CLOSERS = "[\"'”’»)\\]}」』）】》〉*_]*"
_STOPS = "。！？｡।॥؟۔։።፧។៕။།༎"
_SPACELESS = "[\u3005-\u30ff\u3400-\u9fff]"
_BEFORE = f"[]{_SPACELESS[1:]}"
# A stop with the closing quotes and citation marks that stay with its sentence; or a break of
# the layout: an empty line, or a line that opens a list item. The look-behind keeps a long run of
# spaces from being tried at every space. In Chinese and Japanese "?" and "." need no space after.
_BOUNDARY = re.compile(
    rf"(?P<stop>[.!?…]+{_CLOSERS}{_CITATIONS})(?:\s+|$)"
    rf"|(?P<full>(?:[{_STOPS}]+(?:\s+[།༎]+)*|．+(?!\d)){_CLOSERS}{_CITATIONS}"
    rf"|(?<={_BEFORE})[.!?]+{_CLOSERS}{_CITATIONS}(?={_SPACELESS}))\s*"
    r"|(?<!\s)\s*\n\s*(?:\n\s*|(?=[-*•‣]\s|\d{1,3}[.)]\s))"
)
# Where a boundary can begin: looking for these first is three times faster than trying everywhere.
# Of several stops in a row only the first is tried: if no boundary begins there, none follows.
_CANDIDATE = re.compile(rf"[.!?…]+|[{_STOPS}]|．+|\n\s*")
_FIRST_WORD = re.compile(r"[\"'“‘«(\[¿¡*_]*(\w+)?")
_LOOKED_AT = 40  # characters beside a stop
_THAI = "[ก-ฺเ-๎ກ-ຽເ-ໆ່-ໍໜ-ໟ]"  # and Lao: neither has stops, or spaces between words
_HAS_THAI = re.compile(_THAI)
_THAI_GAP = re.compile(
    rf"(?<!\s)(?P<marks>(?:\s*{CITATION})+)\s*(?={_THAI})|(?<={_THAI})\s+(?={_THAI})"
)
_THAI_GOES_ON = re.compile(
    "และ|หรือ|แต่|ที่|ซึ่ง|โดย|เพราะ|เนื่องจาก|เพื่อ|รวม|ทั้ง(?!นี้)|อัน|ของ|กับ|แล้ว|ว่า|จึง|ด้วย|ตั้งแต่|จน|เมื่อ|คือ|ได้แก่|เช่น"
    "|ແລະ|ຫຼື|ແຕ່|ທີ່|ຊຶ່ງ|ໂດຍ|ເພາະ|ເພື່ອ|ຂອງ|ກັບ"
)
_THAI_CLAUSE = 20  # characters of Thai before a space that may end a sentence
_THAI_RUN = re.compile(f"{_THAI}{{10}}")  # what stands after it, without a space


def split_sentences(text: str) -> list[str]:
    """Return the sentences of `text` without white space around them.

    Nothing but white space is lost. Abbreviations, initials and decimals do not end a sentence;
    closing quotes and citation marks such as "[1]" after a stop stay with the sentence before.
    """
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the `(start, end)` of every sentence: character offsets, ordered, not empty.

    Thai and Lao have no stops: a sentence ends at citation marks, and at a space with twenty of
    their letters before it and ten after it, unless a word such as "and" follows.
    """
    spans = _spans_by_stops(text)
    return spans if text.isascii() or not _HAS_THAI.search(text) else _cut_at_gaps(text, spans)


def _spans_by_stops(text: str) -> Iterator[tuple[int, int]]:
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


def _cut_at_gaps(text: str, spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans, cut at the spaces between sentences of Thai."""
    for start, end in spans:
        letters, counted_to = 0, start
        for gap in _THAI_GAP.finditer(text, start, end):
            letters += len(_HAS_THAI.findall(text, counted_to, gap.start()))
            counted_to = gap.end()
            enough = gap["marks"] or (
                letters >= _THAI_CLAUSE and _THAI_RUN.match(text, gap.end(), end)
            )
            if letters and enough and not _THAI_GOES_ON.match(text, gap.end(), end):
                yield start, gap.start() + len(gap["marks"] or "")
                start, letters = gap.end(), 0
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
    near = text[max(start, match.start() - _LOOKED_AT) : match.start()]
    return may_end(near, text[match.end() : match.end() + _LOOKED_AT], following)
