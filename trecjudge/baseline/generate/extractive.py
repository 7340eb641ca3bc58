"""Answers without a model: whole sentences of the passages that cover the question best."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from trecjudge.baseline.generate.limits import AnswerLimits
from trecjudge.baseline.records import AnswerSentence, RetrievedPassage, Support
from trecjudge.baseline.terms import terms_of
from trecjudge.evaluation.banks.extracting import is_telling
from trecjudge.text.frequencies import Frequencies, read_frequencies
from trecjudge.text.sentences import CITATION, sentence_spans
from trecjudge.text.steering.instructions import instruction_like
from trecjudge.text.tokens import is_spaceless, read_forms

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
class QuotableSentence:
    """A sentence of a passage; `start` and `end` count in the document's `full_text`.

    `text` is it on one line, without marks of citations; `forms` are its content words.
    """

    passage: RetrievedPassage
    start: int
    end: int
    text: str
    forms: frozenset[str]

    @property
    def quote(self) -> str:
        """The sentence as its document has it."""
        begin = self.passage.chunk.start
        return self.passage.chunk.text[self.start - begin : self.end - begin]


def quotable_sentences(passages: Iterable[RetrievedPassage]) -> Iterator[QuotableSentence]:
    """Yield the sentences that can stand by themselves, each text once, passage by passage."""
    known: set[str] = set()
    for passage in passages:
        chunk = passage.chunk
        for start, end in _spans(chunk.text, _body(passage)):
            text = on_one_line(chunk.text[start:end])
            if text not in known and stands_alone(text):
                known.add(text)
                forms = frozenset(terms_of(text))
                yield QuotableSentence(passage, chunk.start + start, chunk.start + end, text, forms)


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


def _body(passage: RetrievedPassage) -> int:
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


AGAIN = 0.5
"""What a word of the question is still worth each time that it was covered before."""
SAME = 0.7
"""The share of the shorter one's words from which on two sentences say the same."""
LEAST = 0.02
"""A sentence must bring this share of what the first one brought."""
TRUST = 20
"""The rank at which a passage counts about half of the first."""


@dataclass(slots=True)
class _Choice:
    """A sentence that may be taken, and how far the most similar one taken is like it, 0 to 1."""

    sentence: QuotableSentence
    forms: frozenset[str]
    like: float = 0.0

    def gain(self, weights: Mapping[str, float], covered: Counter[str]) -> float:
        """Return what it adds: new weight of the question, less what repeats (MMR)."""
        new = sum(weights[form] * AGAIN ** covered[form] for form in self.forms & weights.keys())
        rank = self.sentence.passage.rank
        trust = TRUST / (TRUST - 1 + max(rank, 1))
        return new * trust * (1 - self.like) / math.sqrt(max(len(self.forms), 1))


def extract_answer(
    question: str, passages: Sequence[RetrievedPassage], limits: AnswerLimits
) -> tuple[AnswerSentence, ...]:
    """Return whole sentences of the passages; none where no sentence has a word of the question.

    Each next one is that with the greatest gain: greedy weighted coverage with maximal marginal
    relevance (Carbonell and Goldstein, 1998). They stand by document, that of the first one first.
    """
    weights = weighted_terms(question)
    choices = [_Choice(s, s.forms) for s in quotable_sentences(passages)]
    taken = _choose_sentences([c for c in choices if c.forms & weights.keys()], weights, limits)
    return tuple(_cite_sentence(sentence, passages, limits) for sentence in _in_order(taken))


def weighted_terms(question: str) -> dict[str, float]:
    """Return how much each word of a question counts: its rarity, more where it is repeated."""
    frequencies, counts = _frequencies(), terms_of(question)
    written = dict(zip(*reversed(read_forms(question)), strict=True))
    return {
        # Words of the request ("I want to know") count less than one.
        form: frequencies.weight(form, written.get(form, form))
        * (1 + math.log(count) if count >= 1 else count)
        for form, count in counts.items()
    }


@cache
def _frequencies() -> Frequencies:
    return read_frequencies()


def _choose_sentences(
    choices: list[_Choice], weights: Mapping[str, float], limits: AnswerLimits
) -> list[QuotableSentence]:
    taken: list[QuotableSentence] = []
    covered: Counter[str] = Counter()
    least = 0.0
    while choices:
        # Of equal ones the first counts: it stands in the better passage.
        best = max(choices, key=lambda choice: choice.gain(weights, covered))
        gain = best.gain(weights, covered)
        if gain <= least:
            break
        choices.remove(best)
        if not limits.fit([s.text for s in _in_order([*taken, best.sentence])]):
            continue  # a shorter one may fit
        least = least or LEAST * gain
        taken.append(best.sentence)
        covered.update(best.forms)
        choices = _drop_similar(choices, best)
    return taken


def _drop_similar(choices: Iterable[_Choice], taken: _Choice) -> list[_Choice]:
    """Return the choices that do not say the same as the one taken."""
    kept = []
    for choice in choices:
        shorter = min(len(choice.forms), len(taken.forms)) or 1
        choice.like = max(choice.like, len(choice.forms & taken.forms) / shorter)
        if choice.like < SAME:
            kept.append(choice)
    return kept


def _in_order(taken: Iterable[QuotableSentence]) -> list[QuotableSentence]:
    """Return sentences by document, that taken first before the others, and as they stand there."""
    by_document: dict[str, list[QuotableSentence]] = {}
    for sentence in taken:
        by_document.setdefault(sentence.passage.chunk.doc_id, []).append(sentence)
    each = by_document.values()
    return [s for listed in each for s in sorted(listed, key=lambda s: s.start)]


def _cite_sentence(
    sentence: QuotableSentence, passages: Sequence[RetrievedPassage], limits: AnswerLimits
) -> AnswerSentence:
    """Return a sentence with the documents that have it word for word, its own first."""
    support = {sentence.passage.chunk.doc_id: _support(sentence.passage, sentence.start, sentence)}
    for passage in passages:
        at = passage.chunk.text.find(sentence.quote)
        if at >= 0 and len(support) < limits.citations:
            found = _support(passage, passage.chunk.start + at, sentence)
            support.setdefault(passage.chunk.doc_id, found)
    return AnswerSentence(sentence.text, tuple(support.values()))


def _support(passage: RetrievedPassage, start: int, sentence: QuotableSentence) -> Support:
    return Support(passage, start, start + len(sentence.quote), sentence.quote)
