"""Verdicts read from a model's wording: yes, no or unsure, which must be its first word."""

from __future__ import annotations

import re

YES, NO, UNSURE = "yes", "no", "unsure"
_WORDS = {
    YES: "yes supported true faithful entailed agrees",
    NO: "no contradicted false contradicts contradiction",
    UNSURE: "unsure unclear unsupported unknown idk neither undetermined undecided",
}
_VERDICTS = {word: verdict for verdict, words in _WORDS.items() for word in words.split()}
_FIRST = re.compile(r"[\s\"'*`(\[]*([^\W\d_]+)")


def read_verdict(wording: object) -> str | None:
    """Return `yes`, `no` or `unsure`, or None where the wording opens with none of them.

    "No, but yes in part" is no. Words further on decide nothing: "I cannot say yes" is None.
    """
    found = _FIRST.match(wording) if isinstance(wording, str) else None
    return _VERDICTS.get(found[1].lower()) if found else None
