"""What a judgment says at a glance: its tone, a sign and a word, so that colour is never alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal

from trecjudge.records import FULL, NONE, PARTIAL, Judgment

Tone = Literal["good", "part", "bad", "missing", "unjudged", "plain"]

SIGNS: Final[Mapping[Tone, str]] = {
    "good": "✓",
    "part": "◐",
    "bad": "✗",
    "missing": "∅",
    "unjudged": "?",
    "plain": "·",
}
MEANINGS: Final[Mapping[Tone, str]] = {
    "good": "supported",
    "part": "supported in part",
    "bad": "not supported",
    "missing": "missing document",
    "unjudged": "unjudged",
    "plain": "not judged by label",
}
TONES: Final[Mapping[str, Tone]] = {
    FULL: "good",
    PARTIAL: "part",
    NONE: "bad",
    "attributed": "good",
    "ambiguous": "part",
    "unattributed": "bad",
    "contradicted": "bad",
    "yes": "good",
    "unsure": "part",
    "no": "bad",
    "supported": "good",
    "unsupported": "bad",
    "3": "good",
    "2": "good",
    "1": "part",
    "0": "bad",
}
"""Labels of the judges here, in lower case; any other label is plain."""

WORDS: Final[Mapping[str, str]] = {
    FULL: "supports",
    PARTIAL: "supports in part",
    NONE: "does not support",
}


def tone(judgment: Judgment) -> Tone:
    """Return how a judgment looks; a citation of no document is missing, whatever its label."""
    if judgment.failure is not None:
        return "unjudged"
    if judgment.exists is False and judgment.citation is not None:
        return "missing"
    return TONES.get((judgment.label or "").lower(), "plain")


def word(judgment: Judgment) -> str:
    """Return what a judgment says in a word or two."""
    found = tone(judgment)
    if found in ("missing", "unjudged"):
        return MEANINGS[found]
    label = judgment.label or ""
    if label.isdigit():
        return f"grade {label}"
    return WORDS.get(label, label.replace("_", " "))


def together(tones: Iterable[Tone]) -> Tone:
    """Return the tone of a sentence with several judgments.

    All good is good; some good, or some in part, is in part; unjudged stands only where nothing
    was judged. Plain where there is no judgment at all.
    """
    found: Collection[Tone] = set(tones) - {"plain"}
    if not found:
        return "plain"
    for only in ("good", "unjudged", "missing"):
        if found == {only}:
            return only
    return "part" if {"good", "part"} & set(found) else "bad"
