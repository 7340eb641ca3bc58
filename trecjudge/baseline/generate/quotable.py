"""Sentences of passages that can stand in an answer: whole ones, clear without those before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trecjudge.baseline.records import Passage
from trecjudge.baseline.retrieve.questions import terms_of
from trecjudge.evaluation.banks.extracting import is_telling
from trecjudge.text.instructions import instruction_like
from trecjudge.text.sentences import CITATION, sentence_spans
from trecjudge.text.tokens import is_spaceless

SHORTEST, LONGEST = 12, 160
"""Characters of a sentence in a script without spaces."""
SHORT_LINE = 10
"""Words of a line that may be a heading; a longer one is running text that was wrapped."""
PROSE = 0.7
"""The least share of letters and spaces: tables and codes have less."""
_MARKS = re.compile(rf"\s*{CITATION}")
_CONTINUES = re.compile(
    r"(?:however|moreover|therefore|thus|then|also|another|both|furthermore|additionally|hence"
    r"|consequently|instead|meanwhile|similarly|finally|second(?:ly)?|third(?:ly)?|later|yet|either"
    r"|afterwards?|nevertheless|nonetheless|otherwise|likewise|still|indeed|again|besides|who|which"
    r"|if so|as a result|in (?:addition|contrast|turn|fact|short|summary|conclusion|other words)"
    r"|for (?:example|instance)|on the (?:other hand|contrary)|that is|as such"
    r"|the (?:latter|former)"
    r"|(?:in|at|by|for|with|on|from|of|to|during|after|before|under|like|unlike|despite|all|some"
    r"|many|most|one|each|none) (?:of )?(?:this|these|that|those|such|them|it|him|her)"
    r"|(?:\w+ )?(?:day|week|month|year|hour|decade)s? (?:later|earlier|before|after)"
    r"|[\w' -]{1,40}, (?:however|therefore|though|meanwhile|moreover|for (?:example|instance))"
    r"|and|but|or|so|because|it|he|she|they|this|that|these|those|such|here|see|check|my|me|us|let"
    r"|for (?:more|other|further)"
    r"|the (?:study|report|author|researcher|survey|finding|result|article)s? (?:also )?\w+)\b"
    r"|.*\b(?:I'm|I’m|I (?:am|was|have|had|think|believe|would|will|can|do)|my|we|our)\b",
    re.IGNORECASE,
)
_NAVIGATION = re.compile(
    r"\b(?:click|read more|sign (?:up|in)|subscrib\w*|newsletter|cookies?|copyright|log ?in|share"
    r" this|follow us|privacy policy|terms of (?:use|service)|all rights reserved|add to cart"
    r"|see (?:also|below|above|figure|table)|shown (?:below|above)|(?:figure|fig\.|table) \d"
    r"|vote (?:up|down)|this (?:article|page|post|site|section|chapter|book|list)|download"
    r"|advertisement|www\.)|[©»›→]",
    re.IGNORECASE,
)
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence of a passage; `start` and `end` count in the document's `full_text`.

    `text` is it on one line, without marks of citations; `forms` are its content words.
    """

    passage: Passage
    start: int
    end: int
    text: str
    forms: frozenset[str]

    @property
    def quote(self) -> str:
        """The sentence as its document has it."""
        begin = self.passage.chunk.start
        return self.passage.chunk.text[self.start - begin : self.end - begin]


def quotable(passages: Iterable[Passage]) -> Iterator[Quotable]:
    """Yield the sentences that can stand by themselves, each text once, passage by passage."""
    known: set[str] = set()
    for passage in passages:
        chunk = passage.chunk
        for start, end in _spans(chunk.text, _body(passage)):
            text = on_one_line(chunk.text[start:end])
            if text not in known and stands_alone(text):
                known.add(text)
                forms = frozenset(terms_of(text))
                yield Quotable(passage, chunk.start + start, chunk.start + end, text, forms)


def on_one_line(text: str) -> str:
    """Return a sentence on one line, without marks of citations: readers take these for ours."""
    return " ".join(_MARKS.sub("", text).split())


def stands_alone(text: str) -> bool:
    """Return whether a text is a sentence that a reader understands without its neighbours.

    By its form only, and best for English: it begins with no word that points back, has no
    navigation of a page and no open quote, and does not read like an instruction.
    """
    if is_spaceless(text):
        fits = SHORTEST <= len(text) <= LONGEST and text[-1:] in ("。", "！")
    else:
        fits = is_telling(text) and not _CONTINUES.match(text.lstrip("\"'“‘("))
    if not fits or _begins_inside(text) or _NAVIGATION.search(text):
        return False
    return _is_prose(text) and _is_closed(text) and instruction_like(text) is None


def _body(passage: Passage) -> int:
    """Return where the text of the document begins in a passage, behind its title."""
    title = passage.chunk.document.title
    return max(0, len(title) + 1 - passage.chunk.start) if title else 0


def _spans(text: str, begin: int) -> Iterator[tuple[int, int]]:
    """Yield sentences as offsets, without the headings that stand in lines before them."""
    for start, end in sentence_spans(text[begin:]):
        first, last = start + begin, end + begin
        while (line := text.find("\n", first, last)) >= 0:
            rest = line + len(text[line:last]) - len(text[line:last].lstrip())
            if len(text[first:line].split()) > SHORT_LINE or text[rest : rest + 1].islower():
                break
            first = rest
        yield first, last


def _begins_inside(text: str) -> bool:
    """Return whether a text begins in the middle of a sentence: with a small letter or a mark."""
    bare = text.lstrip("\"'“‘«([")
    return not bare[:1].isalnum() or bare[:1].islower()


def _is_prose(text: str) -> bool:
    letters = sum(c.isalpha() or c.isspace() for c in text)
    return letters >= PROSE * len(text)


def _is_closed(text: str) -> bool:
    """Return whether quotes and brackets that are opened are closed."""
    pairs = all(text.count(opened) == text.count(closed) for opened, closed in _PAIRS)
    return pairs and text.count('"') % 2 == 0
