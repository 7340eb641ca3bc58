"""Sentences that state nothing: openings and closings of an answer, headings, marks of a list."""

from __future__ import annotations

import re
from functools import lru_cache

from trecjudge.text.sentences import CITATION

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
