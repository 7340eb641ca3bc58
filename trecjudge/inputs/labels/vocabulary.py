"""Labels in other words: which label of a judge the words and numbers of people stand for."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from trecjudge.errors import InputError, WorkflowError
from trecjudge.records import FULL, GRADES, NONE, PARTIAL

AGAINST: Final = "contradicted"
"""What a document says that contradicts a sentence: no support, where a judge has no such label."""
_WORDS = {
    FULL: "full fullsupport fully support supports supported entailment entailed entails"
    " attributable attributed consistent faithful grounded correct true yes met",
    PARTIAL: "partial partialsupport partially partly partiallyattributable partiallyattributed"
    " partiallycorrect partlycorrect mixed",
    NONE: "none no nosupport notsupport notsupported unsupported neutral notenoughinfo"
    " notenoughevidence nei irrelevant extrapolatory notentailment notentailed notattributable"
    " notattributed unattributable unattributed inconsistent unfaithful notfaithful ungrounded"
    " notgrounded hallucinated hallucination incorrect notcorrect false"
    " unmet notmet",
    AGAINST: "refuted refutes refute contradiction contradicted contradicts contradictory",
}
_SENSES = {word: sense for sense, words in _WORDS.items() for word in words.split()}
# `fully supported` and `partially entailed` are made of two.
_SENSES |= {
    f"{adverb}{word}": sense
    for sense, adverbs in ((FULL, ("fully",)), (PARTIAL, ("partially", "partly")))
    for adverb in adverbs
    for word in ("supported", "support", "supports", "entailed", "entailment", "attributable")
}
_TRACK = frozenset(("full", "fullsupport", "partial", "partialsupport", "none", "no", "nosupport"))
"""The words of the TREC RAG track, and our own: they are labels of support and nothing else."""

Words = Mapping[str, str]
"""What labels are to be called, by what they are, as `--map` gives it."""
Counts = Mapping[str, int]
"""How many items have each label."""
SUPPORT: Final = tuple(GRADES)
GRADED: Final = ("grade",)
"""The target of labels that are to be numbers."""
SCALES: Final = (
    SUPPORT,
    ("UNATTRIBUTED", "AMBIGUOUS", "ATTRIBUTED", "CONTRADICTED"),
    ("no", "unsure", "yes"),
)
OF_NUGGETS: Final = (
    ("not_support", "partial_support", "support"),
    ("none", "partial", "contradicts", "supports"),
    ("unmet", "partial", "met"),
    ("compound", "not-compound"),
    ("very-similar", "similar", "different", "very-different"),
)
"""Labels that are known together: of citations, claims and steps, and of nuggets and rubrics."""


def plain(label: str) -> str:
    """Return the letters of a label: `Partial support` and `[PARTIAL-SUPPORT]` are one."""
    return "".join(filter(str.isalpha, unicodedata.normalize("NFKC", label).casefold()))


@cache
def sense_of(label: str) -> str | None:
    """Return what a word says of support: full, partial or none, or AGAINST; None for others."""
    return _SENSES.get(plain(label))


@cache
def support_label(label: str) -> str | None:
    """Return the label of support that a word stands for, None for anything else.

    Words are known in any case, with anything but letters between and around them: `FULL`,
    `not_supported`, `Partially entailed`. Numbers are not: all of a file say what a 1 is.
    """
    sense = sense_of(label)
    return NONE if sense == AGAINST else sense


def label_among(label: str, target: Sequence[str]) -> str | None:
    """Return the label of a target that a word stands for, by its letters or by its sense.

    None for any other, and for numbers: all labels of a file say what these mean.
    """
    return next(_names([label], target)) if number_of(label) is None else None


def number_of(label: str) -> float | None:
    """Return the number that a label is, None for a word."""
    try:
        return float(label) if label.strip("+-.0123456789eE") == "" else None
    except ValueError:
        return None


def weights_of(numbers: Collection[float]) -> dict[float, float] | None:
    """Return the weight of support that each number means; None where they are no such scale.

    Full support is 2 where a label is 2, else 1; so all labels of a file decide.
    """
    scale = 2.0 if 2.0 in numbers else 1.0
    found = {number: number / scale for number in numbers}
    return found if set(found.values()) <= {0.0, 0.5, 1.0} else None


@dataclass(frozen=True, slots=True)
class Naming:
    """What each label of a side is called; None where that cannot be told.

    `target` are the labels that they were to be; it is empty where they stand for themselves.
    """

    names: Mapping[str, str | None]
    target: Sequence[str] = ()

    @property
    def renamings(self) -> dict[str, str]:
        """The labels that are called by another word, sorted: the map to show."""
        return {
            label: name
            for label, name in sorted(self.names.items())
            if name and plain(label) != plain(name) and plain(label) not in _TRACK
        }

    @property
    def in_words(self) -> str:
        """The map in words, empty where nothing is called otherwise."""
        said = ", ".join(f"{label} -> {name}" for label, name in self.renamings.items())
        if said and self.target == SUPPORT and PARTIAL not in self.names.values():
            said += f"; {PARTIAL} is none of them, and agrees with none"
        return said

    @property
    def wanted(self) -> str:
        """What a label was to be, in words."""
        if self.target == GRADED:
            return "grade"
        if self.target == SUPPORT:
            return "label of support (full, partial, none)"
        return f"label of these: {', '.join(self.target)}"

    def understands(self, counts: Counts) -> bool:
        """Return whether more than half of the items have a label that is understood."""
        known = sum(n for label, n in counts.items() if self.names[label] is not None)
        return known * 2 > sum(counts.values()) or not counts


def target_of(counts: Counts, scales: Sequence[Sequence[str]] = SCALES) -> Sequence[str]:
    """Return the known labels that most of these belong to, GRADED for numbers, none for others."""
    every = sum(counts.values())
    for least in (every, every // 2 + 1):  # a few bad labels do not decide what the others are
        if every and sum(n for label, n in counts.items() if _is_grade(label)) >= least:
            return GRADED
        for scale in scales:
            words = _TRACK if scale is SUPPORT else {plain(one) for one in scale}
            own = {label: n for label, n in counts.items() if plain(label) in words}
            # `no` may also be the opposite of `yes`.
            alone = scale is SUPPORT and {plain(label) for label in own} <= {"no"}
            if own and sum(own.values()) >= least and not alone:
                # `partly` beside `yes` and `no` is no stray word.
                others = least < every and SUPPORT in scales and all(map(sense_of, counts))
                return SUPPORT if others else scale
    numbers = {number for label in counts if (number := number_of(label)) is not None}
    are_numbers = counts and all(number_of(label) is not None for label in counts)
    return SUPPORT if are_numbers and weights_of(numbers) else ()


def _is_grade(label: str) -> bool:
    return label.removeprefix("-").isdecimal()


def name_labels(labels: Iterable[str], target: Sequence[str], words: Words) -> Naming:
    """Return what labels are called among those of a target; without one they are themselves.

    A label that is none of them by its letters, its sense or its number is unknown. `words` come
    first. Raises InputError where these lead to no label of the target.
    """
    own = list(labels)
    asked = {fold_label(label): _mapped_label(name, target) for label, name in words.items()}
    rest = [label for label in own if fold_label(label) not in asked]
    names = dict(zip(rest, _names(rest, target), strict=True))
    names |= {label: asked[fold_label(label)] for label in own if fold_label(label) in asked}
    return Naming(names, target)


def named_alike(labels: Iterable[str], theirs: Iterable[str], words: Words) -> Naming:
    """Return what labels are called where nobody knows the other side's: as there, if they can."""
    found = name_labels(labels, tuple(theirs), words)
    return Naming({label: name or label for label, name in found.names.items()})


def fold_label(label: str) -> str:
    """Return a label as `--map` knows it: whatever its case, and without space around it."""
    return label.strip().casefold()


def _mapped_label(name: str, target: Sequence[str]) -> str:
    """Return the label that a map leads to. Raises InputError for none of the target's."""
    found = next(_names([name], target))
    if found is None:
        choices = "a grade" if target == GRADED else ", ".join(target)
        raise InputError(f"--map: {name!r} is none of the other side's labels; give {choices}")
    return found


def _names(labels: Sequence[str], target: Sequence[str]) -> Iterator[str | None]:
    """Yield what each label is called, None where that is unknown."""
    if target == GRADED:
        yield from (label if _is_grade(label) else None for label in labels)
        return
    first: dict[str, str] = {}
    if not target:
        yield from (first.setdefault(fold_label(label), label) for label in labels)
        return
    by_word = {plain(one): one for one in target if plain(one)}
    by_sense: dict[str, str] = {}
    for one in target:
        if of_target := sense_of(one):
            by_sense.setdefault(of_target, one)
    for sense, other in ((AGAINST, NONE), (NONE, AGAINST)):
        if other in by_sense:
            by_sense.setdefault(sense, by_sense[other])
    numbers = [number_of(label) for label in labels]
    weights = weights_of({number for number in numbers if number is not None}) or {}
    for label, number in zip(labels, numbers, strict=True):
        said = sense_of(label) if number is None else SENSES.get(weights.get(number, -1.0))
        word = label if label in target else by_word.get(plain(label))
        yield word or (by_sense.get(said) if said else None)


SENSES: Final = {0.0: NONE, 0.5: PARTIAL, 1.0: FULL}


def parse_label_map(texts: Iterable[str]) -> dict[str, str]:
    """Return what `--map` says: `LABEL=LABEL`, or several with commas. Raises WorkflowError."""
    found = {}
    for text in texts:
        parts = text.split(",")
        for part in parts if all("=" in one for one in parts) else [text]:
            label, _, name = map(str.strip, part.rpartition("="))
            if not (label and name):
                raise WorkflowError(f"--map {text}: give LABEL=LABEL, such as good=full_support")
            found[label] = name
    return found
