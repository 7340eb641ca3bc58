"""What a claim is about: a comparison, a cause, a date, a number, a name, or something else."""

from __future__ import annotations

import re
from typing import Final, Literal

from trecjudge.judging.claims.clauses import subject_of
from trecjudge.judging.offline.wording import wording_of
from trecjudge.records import Judgment
from trecjudge.text.numbers import YEAR, quantities

Kind = Literal["comparison", "cause", "date", "number", "name", "other"]
NOT_STATED: Final = frozenset({"UNATTRIBUTED", "unsupported"})
"""The labels of claims that no document states; a contradicted or unjudged one is neither."""
_COMPARISON = re.compile(
    r"\b(?:more|less|fewer|rather|other|\w{2,}er) than\b|\bas (?:\w+ ){1,3}as\b|\btwice\b"
    r"|\b(?:compared (?:with|to)|in contrast to|unlike|versus|exceed(?:s|ed)?|outperform\w*)\b"
    r"|\bthe (?:most|least|best|worst|\w{2,}est)\b",
    re.IGNORECASE,
)
_NO_COMPARISON = re.compile(
    r"\b(?:more|less|fewer) than (?=[\d$€£])|\bthe (?:west|rest|forest|interest|request|harvest"
    r"|guest|quest|test|priest|protest|contest|chest|nest|invest|latest)\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:because|due to|owing to|thanks to|caus(?:e|es|ed|ing)|le(?:d|ads?) to|result(?:s|ed)? in"
    r"|result(?:s|ed)? from|therefore|consequently|as a result|trigger(?:s|ed)|so that)\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|march|april|june|july|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?) \d|\b\d{1,2}(?:st|nd|rd|th)? (?:may|march|april)\b"
    r"|\bmay \d|\b(?:1\d|20)\d0s\b|\b\d{1,2}(?:st|nd|rd|th) century\b|\b\d{4}-\d\d-\d\d\b",
    re.IGNORECASE,
)


def kind_of_claim(text: str) -> Kind:
    """Return what a claim is about, by its words; of several the first of this order.

    A comparison ("higher than", "the largest", "twice"; a bound such as "more than 3" is none), a
    cause ("because", "led to"), a date (a year, a month with a day, a decade, a century), a number
    as a quantity, a name (a capitalised word that is neither the first one nor of the subject),
    other. Words of comparison and cause are English ones.
    """
    if _COMPARISON.search(_NO_COMPARISON.sub("", text)):
        return "comparison"
    if _CAUSE.search(text):
        return "cause"
    found = quantities(text)
    if _DATE.search(text) or any(quantity.unit == YEAR for quantity in found):
        return "date"
    if found:
        return "number"
    said = text.removeprefix(subject_of(text) or "")
    return "name" if any(term.named for term in wording_of(said).terms) else "other"


def kind_not_stated(judgment: Judgment) -> Kind | None:
    """Return what a claim is about that no document states; None for any other judgment."""
    if judgment.claim is None or not judgment.judged or judgment.label not in NOT_STATED:
        return None
    return kind_of_claim(judgment.claim.text)
