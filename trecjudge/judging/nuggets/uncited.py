"""What ARGUE asks about a sentence without citations, decided by rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from trecjudge.judging.claims.statements import NoClaim, bare, no_claim, statements
from trecjudge.judging.offline.prepared import prepared_text
from trecjudge.judging.offline.support import compare
from trecjudge.judging.offline.wording import Term, wording_of
from trecjudge.records import FULL
from trecjudge.text.forms import word_form
from trecjudge.text.negation import has_negation
from trecjudge.text.tokens import tokenize

NEGATIVE: Final = "NEGATIVE"
NEEDS_NONE: Final = "NEEDS_NONE"
REPEATED: Final = "REPEATED"
NEEDS_CITATION: Final = "NEEDS_CITATION"
UncitedLabel = Literal["NEGATIVE", "NEEDS_NONE", "REPEATED", "NEEDS_CITATION"]

_WHY: dict[NoClaim, str] = {
    "question": "it is a question",
    "heading": "it is a heading",
    "opinion": "it is an opinion",
    "about_the_answer": "it is about the response itself",
    "code": "it is code",
    "too_short": "it is too short to claim anything",
}
_OF_ITSELF = re.compile(
    r"^(?:in\s+)?th(?:is|e\s+present)\s+(?:answer|response|report|summary|overview|essay|section)\b"
    r"|^let(?:\s+us|['’]s)\b"
    r"|^(?:i|we)\s+(?:(?:will|shall|now|next|first|then)\s+)+"
    r"(?:turn|look|consider|examine|see|begin|go|answer|discuss|describe|explain|address)\b"
    r"|\bthe\s+following\s+(?:\w+\s+)?(?:aspects|points|steps|factors|questions|sections)[.:]$",
    re.IGNORECASE,
)
_NOBODY = frozenset(map(word_form, ("nobody", "nothing", "unknown", "unclear", "unrecorded")))
# "It shone without a keeper" says what is so.
_LACKING = frozenset(map(word_form, "without ohne sans sin sem senza без بدون دون".split()))  # noqa: SIM905
# A negation behind one of these is beside the point: "It closed because copper was not to be had".
_JOINING = (
    "because although though which who whom whose that while whereas if when where unless until"
    " since so making"
)
_SUBORDINATING = frozenset(map(word_form, _JOINING.split()))
_BUT = word_form("but")
_SAME_WEIGHT = 0.5
"""Share of a sentence's weight that an earlier one has which has the same numbers and names."""
_MOST_SAME = 0.75
"""The same of one without numbers: half of the words are often only the same matter."""
_SHARE_ASKED = 0.6
"""Share of a question's weight that a negative sentence has which is about it."""


@dataclass(frozen=True, slots=True)
class Uncited:
    """What a sentence without citations is to ARGUE, the first that holds, and why."""

    label: UncitedLabel
    reason: str


def uncited_by_words(sentence: str, earlier: Sequence[str]) -> Uncited:
    """Return what a sentence without citations is, by rules and by the sentences before it.

    A negative assertion says that something is not known or not so. Questions, headings, opinions,
    what the response says about itself and what has nothing to check need no citation.
    """
    kind = no_claim(sentence)
    if kind == "abstention":
        return Uncited(NEGATIVE, "it says that something is not known")
    plain = bare(sentence)
    if kind is None and _OF_ITSELF.search(plain):
        kind = "about_the_answer"
    if kind is not None:
        return Uncited(NEEDS_NONE, _WHY[kind])
    if _denies(plain):
        return Uncited(NEGATIVE, "its main clause is negated")
    if not statements(sentence) or not wording_of(plain).meaningful:
        return Uncited(NEEDS_NONE, "it has nothing to check")
    before = next((s for s in earlier if says_again(plain, bare(s))), None)
    if before is not None:
        return Uncited(REPEATED, f"an earlier sentence says it: {before}")
    return Uncited(NEEDS_CITATION, "it claims something for the first time")


def _denies(plain: str) -> bool:
    """Return whether the main clause is negated: what stands before a subordinate one."""
    tokens = tokenize(plain)
    if tokens and tokens[0].form in _SUBORDINATING:  # the main clause comes behind
        tokens = tokenize(plain.partition(",")[2])
    end = next((i for i, t in enumerate(tokens) if i and t.form in _SUBORDINATING), len(tokens))
    main = [token for token in tokens[:end] if token.form not in _LACKING]
    if any(token.form == _BUT for token in main):  # "not in the lamp but in the oil" asserts
        return False
    return has_negation(main) or any(token.form in _NOBODY for token in main)


def says_again(sentence: str, earlier: str) -> bool:
    """Return whether an earlier sentence says what this one says, as far as words show it.

    It supports it in full and has most of its words; or there are numbers in it, and it has all of
    them, all names and half of the words. The same names by themselves are only the same matter.
    """
    document = prepared_text(earlier)
    telling = [term for term in wording_of(sentence).terms if _tells(term)]
    there = [term for term in telling if term.form in document.segments_of]
    share = ratio_of(there, telling)
    if share < _SAME_WEIGHT:
        return False
    exact = [term for term in telling if term.number or term.named]
    if any(term.number for term in exact) and all(term in there for term in exact):
        return True
    return share >= _MOST_SAME and compare(sentence, document).label == FULL


def ratio_of(some: Sequence[Term], terms: Sequence[Term]) -> float:
    """Return the share of the terms' weight that some of them have; 0 without terms."""
    whole = sum(term.weight for term in terms)
    return sum(term.weight for term in some) / whole if whole else 0.0


def _tells(term: Term) -> bool:
    return term.content or term.number or term.named


def leaves_open(sentence: str, question: str) -> bool:
    """Return whether a negative sentence is about a question: most of its telling words are there.

    So it confirms that the question cannot be answered.
    """
    asked = [term for term in wording_of(question).terms if _tells(term)]
    document = prepared_text(sentence)
    return ratio_of([t for t in asked if t.form in document.segments_of], asked) >= _SHARE_ASKED
