"""What the labels of two sides are called, so that they can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.evaluation.label_sets import LabelSet, label_sets_at
from trecjudge.findings import OnFinding
from trecjudge.inputs.labels import not_understood
from trecjudge.inputs.labels.vocabulary import (
    GRADED,
    OF_NUGGETS,
    SCALES,
    SUPPORT,
    Naming,
    Words,
    name_labels,
    named_alike,
    target_of,
)


def label_set_at(
    path: Path, report: OnFinding, words: Words | None = None, target: Sequence[str] = ()
) -> LabelSet:
    """Return the same where one judge's labels are wanted, called as they are known.

    `target` are the labels of the judge to compare with, where they are known. Raises InputError
    for judgments of several judges.
    """
    sides = label_sets_at(path, report, words)
    if len(sides) > 1:
        raise InputError(
            f"{path}: judgments of {len(sides)} judges; give those of one of"
            f" {', '.join(side.judge for side in sides)}"
        )
    (side,) = sides
    call_labels(
        side, target or _own_target(side), _own_target(side, OF_NUGGETS), words or {}, report
    )
    return side


def _own_target(side: LabelSet, scales: Sequence[Sequence[str]] = SCALES) -> Sequence[str]:
    return target_of(side.nugget_counts if scales is OF_NUGGETS else side.other_counts, scales)


def call_both(
    truth: LabelSet, predicted: LabelSet, words: Words, report: OnFinding
) -> dict[str, dict[str, str]]:
    """Call the labels of both sides alike; return what each side's are called now, if otherwise.

    Words and numbers of people become the labels of the judge. A word that is none of them is
    reported and left out. Raises InputError, with the labels of both sides, where most of a side
    cannot be understood.
    """
    sides = (truth, predicted)
    targets: list[tuple[Sequence[str], Sequence[str]]]
    if "qrels" in (truth.kind, predicted.kind):
        targets = [(_target_beside_grades(side, words), ()) for side in sides]
    else:
        target, of_nuggets = (_common(*sides, scales) for scales in (SCALES, OF_NUGGETS))
        judge = truth if truth.kind == "judgments" != predicted.kind else predicted
        # What nobody knows is called as the judge has it, or else the predicted side.
        own = tuple(sorted(judge.other_counts))
        targets = [(target or (() if side is judge else own), of_nuggets) for side in sides]
    for side, (target, of_nuggets) in zip(sides, targets, strict=True):
        call_labels(side, target, of_nuggets, words, report)
    return {side.name: side.people.renamings() for side in sides if side.people is not None}


def _target_beside_grades(side: LabelSet, words: Words) -> Sequence[str]:
    """Return what the labels of a side are to be that is compared with grades."""
    own = _own_target(side)
    if words or side.kind == "qrels":
        return ()
    counts = side.other_counts
    # `yes` and `no` may be of support too.
    said = own in ((), SCALES[-1]) and name_labels(counts, SUPPORT, words).known(counts)
    return SUPPORT if said else own


def _common(truth: LabelSet, predicted: LabelSet, scales: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return the known labels that both sides are to be compared in; none where nobody knows."""
    ours, theirs = _own_target(truth, scales), _own_target(predicted, scales)
    if GRADED in (ours, theirs):
        other, side = (theirs, truth) if ours == GRADED else (ours, predicted)
        # Grades of qrels and of judges stay grades; numbers of people may be a scale of support.
        return other if other != GRADED and side.people is not None else GRADED
    # People are called as the judge calls it, whichever side they are.
    return ours or theirs if predicted.people is not None is truth.people else theirs or ours


def call_labels(
    side: LabelSet,
    target: Sequence[str],
    of_nuggets: Sequence[str],
    words: Words,
    report: OnFinding,
) -> None:
    """Say what the labels of a side are called. Raises InputError where most are not understood."""
    known = target == GRADED or target in SCALES
    counts = side.other_counts
    named = (name_labels if known or not target else named_alike)(counts, target, words)
    nuggets = name_labels(side.nugget_counts, of_nuggets, words)
    for found, own in (
        ((named, counts), (nuggets, side.nugget_counts)) if side.people is not None else ()
    ):
        if not found.known(own):
            raise InputError(f"{side.name}: {not_understood(own, found)}")
    if side.people is not None:
        side.people.call(named, nuggets, report)
    elif side.kind == "judgments":
        # Whatever else a judge says stands for itself.
        names = {label: name or label for label, name in named.names.items()}
        side.naming = Naming(names | {one: one for one in side.nugget_counts}, target)
