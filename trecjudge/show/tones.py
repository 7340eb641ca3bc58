"""The tone, sign and word of a judgment: its meaning never depends on colour only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from trecjudge.records import FULL, NONE, PARTIAL, Judgment

Tone = Literal["good", "part", "bad", "against", "missing", "unjudged", "plain"]

SIGNS: Final[Mapping[Tone, str]] = {
    "good": "✓",
    "part": "◐",
    "bad": "✗",
    "against": "≠",
    "missing": "∅",
    "unjudged": "?",
    "plain": "·",
}
MEANINGS: Final[Mapping[Tone, str]] = {
    "good": "supported",
    "part": "supported in part",
    "bad": "not supported",
    "against": "contradicted",
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

NUGGET_LABELS: Final[Mapping[str, tuple[Tone, str]]] = {
    "support": ("good", "stated"),
    "supports": ("good", "stated"),
    PARTIAL: ("part", "stated in part"),
    "partial": ("part", "stated in part"),
    "not_support": ("bad", "not stated"),
    "none": ("bad", "not stated"),
    "contradicts": ("against", "contradicted"),
    "met": ("good", "met"),
    "unmet": ("bad", "not met"),
    "very-similar": ("good", "very similar"),
    "similar": ("part", "similar"),
    "different": ("bad", "different"),
    "very-different": ("bad", "very different"),
}
"""Tone and word of a judgment on a nugget, by label in lower case."""


def tone(judgment: Judgment) -> Tone:
    """Return how a judgment looks; a citation of no document is missing, even with a label."""
    if judgment.failure is not None:
        return "unjudged"
    if judgment.exists is False and judgment.citation is not None:
        return "missing"
    if (known := _of_nugget(judgment)) is not None:
        return known[0]
    return TONES.get((judgment.label or "").lower(), "plain")


def word(judgment: Judgment) -> str:
    """Return a judgment in a word or two."""
    found = tone(judgment)
    if found in ("missing", "unjudged"):
        return MEANINGS[found]
    if (known := _of_nugget(judgment)) is not None:
        return known[1]
    label = judgment.label or ""
    if label.isdigit():
        return f"grade {label}"
    return WORDS.get(label, label.replace("_", " "))


def _of_nugget(judgment: Judgment) -> tuple[Tone, str] | None:
    if judgment.nugget is None:
        return None
    return NUGGET_LABELS.get((judgment.label or "").lower())


def together(tones: Iterable[Tone]) -> Tone:
    """Return the tone of a sentence with several judgments.

    All good is good; some good, or some in part, is in part. What is unjudged adds nothing: it
    stands only where nothing was judged. Plain where there is no judgment at all.
    """
    # What is unjudged must not darken or brighten a sentence: it has a sign of its own.
    every = set(tones)
    found: Collection[Tone] = every - {"plain", "unjudged"}
    if not found:
        return "unjudged" if "unjudged" in every else "plain"
    for only in ("good", "missing"):
        if found == {only}:
            return only
    return "part" if {"good", "part"} & set(found) else "bad"


@dataclass(frozen=True, slots=True)
class SentenceMarks:
    """The signs beside the sentences, for one judge.

    `tones` has the tone of each judged sentence, `open` the sentences of which the judge left
    something unjudged while the rest has a tone.
    """

    tones: Mapping[int, Tone]
    open: Sequence[int]


def marks_of(judgments: Iterable[Judgment]) -> dict[str, SentenceMarks]:
    """Return the marks of a response's sentences, by judge.

    A sentence that states a nugget need not be right: judgments on nuggets give it no mark.
    """
    found: dict[str, dict[int, list[Tone]]] = {}
    for judgment in judgments:
        by_sentence = found.setdefault(judgment.judge, {})
        if judgment.sentence_index is not None and judgment.nugget is None:
            by_sentence.setdefault(judgment.sentence_index, []).append(tone(judgment))
    return {judge: _marks(dict(sorted(every.items()))) for judge, every in found.items()}


def _marks(every: Mapping[int, list[Tone]]) -> SentenceMarks:
    tones = {index: together(found) for index, found in every.items()}
    left = [i for i, found in every.items() if "unjudged" in found and tones[i] != "unjudged"]
    return SentenceMarks(tones, left)
