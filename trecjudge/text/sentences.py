"""Sentences of running text, by rules, and those that state nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from trecjudge.text.tables import read_words

# Whether a full stop ends a sentence: not after an abbreviation, an initial, an ordinal number.
_WORDS = read_words(Path(__file__).with_name("abbreviations.txt"))
ABBREVIATIONS = frozenset(_WORDS["abbreviations"])
_ABROAD = frozenset(_WORDS["abroad"])
_OFTEN_LAST = frozenset(_WORDS["often last"])
_NUMBERED = frozenset(_WORDS["numbered"])
_KNOWN = ABBREVIATIONS | _ABROAD | _NUMBERED
_OPENERS = frozenset(_WORDS["openers"])
_OPENERS_ABROAD = _OPENERS | frozenset(_WORDS["openers abroad"])
_ORDERED = frozenset(_WORDS["ordered"])
_LIST_ENDS = frozenset(
    {"т.д", "т.п", "u.s.w", "m.m", "m.fl", "o.ä", "u.ä", "κ.λπ"}
    | {"т. д", "т. п", "s. w", "m. m", "m. fl", "o. ä"}
)
_LAST_WORD = re.compile(r"(?:[^\W\d_]|[.'’-])*[^\W\d_]$")
_PAIR = r"(?:[^\W\d_]|[A-Z]{2}|ej|ex|es|eks|Chr|Kr|Zt|fl|in)"
# The stops of "z. B.", "i. d. R.", "p. ej.", "EE. UU.", each followed by a space.
_SPACED = re.compile(rf"(?<![\w.])[^\W\d_]{{1,2}}\.\s{_PAIR}$")
_FIRST_OF_SPACED = re.compile(r"[^\W\d_A-Z]|[A-Z]{2}")
_NEXT_OF_SPACED = re.compile(rf"{_PAIR}\.")
_UNIT = re.compile(r"\d\s?[^\W\d_]$")
_ORDINAL = re.compile(
    r"(?:(?P<german>\b(?:im|der|das|dem|den|des|vom|zum|zur|beim|seit|bis)\s)|(?<![\w.,]))"
    r"(?:\d{1,3}|[IVX]{1,5})$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:\d{3,4}|[IVX]+)\s?(?:гг?|вв?)$")
_SHORT_OPENING = 16  # characters: "В 1950 г." opens a sentence more often than it is one
_NEAR = 40  # the patterns are slow on more


def may_end(before: str, after: str, following: str) -> bool:
    """Return whether a full stop between `before` and `after` ends a sentence.

    `before` is the sentence so far, or the end of it; `following` the first word after, empty
    where there is none.
    """
    last = before.rpartition(" ")[2]
    if len(last) > 3 and last.islower() and last.isalpha() and last not in _KNOWN:
        return True  # as most are
    near = before[-_NEAR:]
    if before.isdigit() and len(before) < 3:
        return not following  # the number of an item: "2. Second point."
    if _SPACED.search(near):
        ends_list = " ".join(near.split()[-2:]) in _LIST_ENDS
        return ends_list or not following or following.lower() in _OPENERS_ABROAD
    whole = near.split()[-1] if near.strip() else ""
    if (found := _LAST_WORD.search(whole)) is None:
        # The vowel signs of Indian scripts are no letters.
        return whole not in _ABROAD and not _is_ordinal(near, following)
    word = found[0]
    if following[:1].isdigit() and (word.lower() in _NUMBERED or len(word) == 1):
        return bool(_UNIT.search(near))
    if _FIRST_OF_SPACED.fullmatch(word) and _NEXT_OF_SPACED.match(after):
        return False
    if _YEAR.search(near):
        return len(before) > _SHORT_OPENING or not following
    if len(word) == 1 and word.islower() and _UNIT.search(near):
        return True
    return _may_end_word(word, following) and not _is_ordinal(near, following)


def _is_ordinal(near: str, following: str) -> bool:
    """Return whether a number before a stop says which: "am 3. Mai", "der 2. Platz"."""
    found = _ORDINAL.search(near)
    if found is None or not following or following.lower() in _OPENERS_ABROAD:
        return False
    german = found["german"] is not None and following[0].isalpha()
    return german or following.lower() in _ORDERED


def _may_end_word(word: str, following: str) -> bool:
    """Return whether a sentence ends after "`word`." when the next word is `following`."""
    lower = word.lower()
    if lower in _LIST_ENDS:
        return True
    if "." in word or lower in _OFTEN_LAST:
        return not following or following.lower() in _OPENERS_ABROAD
    # "DNA", "BP" are names.
    if lower in ABBREVIATIONS or (lower in _ABROAD and (len(word) == 1 or not word.isupper())):
        return not following or (lower == "no" and following.isalpha())
    if len(word) == 1 and "а" <= word <= "я":  # of one letter: "р. Волга"
        return not following or following.lower() in _OPENERS_ABROAD
    if len(word) == 1 and not word.islower():  # a capital, or of a script without capitals
        caseless = not word.isupper() and not following[:1].isdigit()
        return not following or (not caseless and following.lower() in _OPENERS - {"a", "i"})
    return True


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


# Sentences that state nothing: openings and closings of an answer, headings, marks of a list.
_ONE_CITATION = re.compile(rf"\s*{CITATION}")
_EMPHASIS = re.compile(r"[*_`]+")
_LAYOUT = re.compile(r"^\s*(?:#{1,6}\s*|[-*•‣]\s+|\d{1,3}[.)]\s*|>\s*)+")
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_IS_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s|(?:\d{1,3}[.)]\s*)?(?:\*\*|__)[^*_]+?:?(?:\*\*|__):?\s*$)"
)
_LONGEST_HEADING = 8  # words; a longer line in bold is a sentence
_LONGEST = 160  # characters; no opening or heading is longer, and the patterns stay fast
# A heading with a number or a recognised verb states something, so it is judged.
_SAYS = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|do|did|can|could|will|would|may|might|must|"
    r"should|cannot|won|lost|died|fell|rose|led|made|became|said)\b|n't\b|\w{3,}ed\b",
    re.IGNORECASE,
)
_WHAT = (
    r"(?:summary|overview|answer|response|report|list|outline|breakdown|explanation|synopsis|"
    r"rundown|recap|comparison|points?|facts|findings|takeaways|description|section|essay|article|paragraph|text)"
)
_OF_WHAT = (
    r"(?:passages?|documents?|sources?|context|texts?|information|articles?|materials?|data|"
    r"references?|search\s+results?|question|query|request|instructions?|topic)"
)
_ADJECTIVE = (
    r"(?:a|an|the|my|your|this|that|these|those|all|its|brief|short|concise|quick|detailed|"
    r"comprehensive|following|possible|complete|full|simple|general|structured|provided|given|"
    r"above|below|requested|retrieved|cited|available|key|main|"
    r"\d+[- ]?(?:words?|sentences?|points?))"
)
_LENGTH = (
    r"(?:\s+(?:in|of|with|within|under|about|around|approximately|exactly|\d+|words?|sentences?|"
    r"points?|paragraphs?|bullet|or\s+(?:less|fewer))){0,6}"
)
_BASED = (
    rf"(?:\s*,?\s*(?:based\s+on|according\s+to|from|of|for|to|using|in)"
    rf"(?:\s+{_ADJECTIVE}){{0,4}}\s+{_OF_WHAT}){{0,2}}"
)
_ABOUT = r"(?P<about>\s+(?:of|on|about|regarding|for)(?:\s+[\w'’\"“”&/-]+){1,10}?)?"
_OPENS = re.compile(
    rf"^(?:(?:sure|certainly|of\s+course|okay|ok|yes|absolutely)[,!.]?\s*)?{_BASED},?\s*"
    rf"(?:(?:here(?:\s+is|\s+are|['’]s)|below\s+(?:is|are)|(?:the\s+)?following\s+is|this\s+is)"
    rf"(?:\s+{_ADJECTIVE})*\s+{_WHAT}s?{_LENGTH}{_BASED}{_ABOUT}{_LENGTH}{_BASED})\s*[:.!]?$",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    r"^(?:(?:sure|certainly|of\s+course|absolutely)[!.]?"
    r"|i\s+hope\s+(?:this|that|it)\s+(?:helps?|answers?\s+your\s+questions?|is\s+helpful)"
    r"|(?:please\s+)?(?:let\s+me\s+know|feel\s+free\s+to\s+ask)\s+if\s+you\s+(?:have|need)\s+(?:any|more|"
    r"further|other|additional)(?:\s+(?:other|more|further))?\s+(?:questions?|information|help|details)"
    r"|(?:in\s+(?:summary|conclusion|short)|to\s+(?:summari[sz]e|conclude)|overall|conclusion|summary)"
    r"|thank\s+you(?:\s+for\s+(?:reading|asking|your\s+(?:question|interest)))?"
    r"|word\s+count:?\s*\d+|\(?\d+\s+words\)?)\s*[:,.!]?$",
    re.IGNORECASE,
)
_KINDS_OF_THINGS = (
    r"(?:reasons?|causes?|factors?|ways?|steps?|points?|types?|examples?|(?:dis)?advantages?|"
    r"benefits?|risks?|effects?|results?|findings?|facts?|differences?|features?|options?|"
    r"challenges?|issues?|aspects?|components?|methods?|considerations?|details?|highlights?)"
)
_HOW_MANY = (
    r"(?:\d+|two|three|four|five|six|several|many|some|various|main|major|important|primary|"
    rf"common|possible|other|notable|their|{_ADJECTIVE})"
)
# "There are three main reasons:", "Key factors include:": what they announce is judged.
_ANNOUNCES = re.compile(
    rf"^(?:there\s+(?:are|is)|here\s+are|these\s+are)?(?:\s*\b{_HOW_MANY}){{0,4}}\s*"
    rf"{_KINDS_OF_THINGS}(?P<about>(?:\s+(?:of|for|to|in|behind|why|about)(?:\s+(?:[^\W\d]|['’-])+){{1,10}}?)?)"
    r"(?:\s+(?:are|is|were|was|includes?|included)(?:\s+(?:as\s+follows|the\s+following))?)?\s*:$",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?:```|~~~)[ \t]*(?!(?:markdown|md|text|txt)\b)[a-z]", re.IGNORECASE)


def is_code(sentence: str) -> bool:
    """Return whether a sentence is a block of code in a language that it names."""
    return _CODE.match(sentence) is not None


@lru_cache(maxsize=1024)
def states_nothing(sentence: str) -> bool:
    """Return whether a sentence has nothing that a document could support.

    "Here is a summary in 132 words:", "There are three reasons:", "I hope this helps.", a heading
    by its marks, "**2.", a block of code. A sentence that only looks like one of these is judged:
    one with a number of its own, with a verb, or one that merely ends in a colon.
    """
    if len(sentence) > _LONGEST or sentence.startswith(("```", "~~~")):
        return is_code(sentence)
    bare = _ONE_CITATION.sub("", " ".join(sentence.split()))
    plain = _EMPHASIS.sub("", _LAYOUT.sub("", bare)).strip()
    if not _LETTER.search(plain):
        return bool(bare) and not _DIGIT.search(_LAYOUT.sub("", _EMPHASIS.sub("", bare)))
    if opening := _OPENS.match(plain) or _ANNOUNCES.match(plain):
        return not _SAYS.search(opening["about"] or "")
    if _CLOSES.match(plain):
        return True
    heading = _IS_HEADING.match(bare) and len(plain.split()) <= _LONGEST_HEADING
    return bool(heading) and not _DIGIT.search(plain) and not _SAYS.search(plain)
