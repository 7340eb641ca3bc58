"""Agreement of two files of labels."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from trecjudge.errors import InputError, unknown
from trecjudge.evaluation.label_sets import (
    LabelledItem,
    LabelSet,
    call_both,
    in_one_shape,
    label_sets_at,
    named_items,
)
from trecjudge.evaluation.people import (
    PeopleAgreement,
    TimeSpent,
    compare_people,
    rounded,
    time_spent,
)
from trecjudge.findings import Finding, OnFinding, ignore, plural
from trecjudge.inputs.labels.vocabulary import OF_NUGGETS, Words
from trecjudge.inputs.labels.vocabulary import SCALES as KNOWN
from trecjudge.inputs.packed import Group
from trecjudge.judging.nuggets import NOT_STATED, PARTLY, STATED
from trecjudge.measures import DIGITS
from trecjudge.records import GRADES
from trecjudge.records.battles import OUTCOMES, TIE, WIN, Battle
from trecjudge.stats.agreement import (
    Agreed,
    LabelPair,
    LabelPairs,
    agreement,
)
from trecjudge.stats.battles import BattleTable, tau_of_boards

OneSidedItems = Literal["common", "zero", "error"]
SCALES: Sequence[Mapping[str, int]] = (GRADES, {NOT_STATED: 0, PARTLY: 1, STATED: 2})
"""Labels in order: of support by a document, and of nuggets."""
MOST_GRADES = 50
"""Grades farther apart are ordered only: a matrix of all between them would be huge."""


class SharedItem(NamedTuple):
    """An item with a label on both sides, and the score of the predicted one, if it has any.

    `group` is (topic_id, run_id), `item` the key of the item in it.
    """

    group: Group
    item: LabelledItem
    truth: str
    predicted: str
    score: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Agreement:
    """Agreement of two sides: figures and the confusion matrix, rows the truth.

    `only_truth` and `only_predicted` count the items of one side. `judge` is whose judgments they
    are, `maps` what each side's labels are called where that is otherwise than in its file.
    `people` are the persons of the truth, where they are several, `time` is what labels took them.
    """

    truth: LabelSet
    predicted: LabelSet
    labels: Sequence[str]
    confusion: Sequence[Sequence[int]]
    figures: Sequence[Agreed]
    items: int
    topics: int
    only_truth: int
    only_predicted: int
    tied: tuple[int, int] = (0, 0)
    """Items of either side on which people are divided."""
    judge: str = ""
    maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    people: PeopleAgreement | None = None
    time: Sequence[TimeSpent] = ()

    def __repr__(self) -> str:
        named = {figure.name: figure.pooled for figure in self.figures if figure.pooled is not None}
        found = "".join(f", {n} {named[n]:.3f}" for n in ("accuracy", "kappa") if n in named)
        return f"<Agreement of {plural(self.items, 'item')}{found}>"

    def shared_items(self) -> Iterator[SharedItem]:
        """Yield the items that have a label on both sides, in one order whatever was judged."""
        for group in self.truth.groups:
            theirs = {item: (label, score) for item, label, _, score in self.predicted.rows(group)}
            for item, label, _, _ in self.truth.rows(group):
                if (there := theirs.get(item)) is not None:
                    yield SharedItem(group, item, label, *there)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "truth": self.truth.name,
            "predicted": self.predicted.name,
            "items": self.items,
            "topics": self.topics,
            "only_truth": self.only_truth,
            "only_predicted": self.only_predicted,
            "judge": self.judge or None,
            "unjudged": [self.truth.unjudged, self.predicted.unjudged],
            "tied": list(self.tied),
            "called": self.maps,
            "labels": self.labels,
            "confusion": self.confusion,
            "figures": [figure.as_dict() for figure in self.figures],
            "people": self.people.as_dict() if self.people is not None else None,
            "time": [one.as_dict() for one in self.time],
        }


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """How two files of labels are compared.

    An item of one side only is left out (`common`), has the lowest label on the other (`zero`), or
    is an error. Without `threshold`, the lowest relevant grade, there are no figures of what is
    relevant. `judge` is the one that is compared, where there are several. `words` are what labels
    are to be called.
    """

    threshold: int | None = 1
    on_missing: OneSidedItems = "common"
    judge: str = ""
    words: Words | None = None


USUAL = AgreementOptions()


def agree(
    truth: Path, predicted: Path, report: OnFinding, options: AgreementOptions = USUAL
) -> Agreement:
    """Return how two files of labels agree.

    See `agreements`. Raises InputError where there are several judges and none is named.
    """
    pairs = _sides(truth, predicted, report, options)
    if len(pairs) > 1:
        names = ", ".join(right.judge or left.judge for left, right in pairs)
        raise InputError(f"{predicted}: has several judges: {names}; name one (judge)")
    return _agreement(*pairs[0], report, options)


def agreements(
    truth: Path,
    predicted: Path,
    report: OnFinding,
    options: AgreementOptions = USUAL,
    notify: Callable[[str], None] = ignore,
) -> list[Agreement]:
    """Return how two files of labels agree, for each judge by name, or for the one that is named.

    Items are (topic, document) of qrels, and (topic, run, document) where both name runs; (topic,
    run, sentence, document) of judgments and labels, and the nugget where they are on one. Of
    several judges, those that cannot be compared go to `notify`. Raises InputError where none can.
    """
    pairs = _sides(truth, predicted, report, options)
    found, failed = [], []
    for left, right in pairs:
        try:
            if len(pairs) > 1:
                _check_meeting(left, right)
            found.append(_agreement(left, right, report, options))
        except InputError as error:
            if len(pairs) == 1:
                raise
            failed.append(f"judge {right.judge or left.judge}: {error}")
    if not found:
        raise InputError("; ".join(failed))
    for why in failed:
        notify(why)
    return found


def pairwise_agreements(
    files: Sequence[Path],
    report: OnFinding,
    options: AgreementOptions = USUAL,
    notify: Callable[[str], None] = ignore,
) -> list[Agreement]:
    """Return how each two of several files of labels agree, as `agreements` does.

    What is found in a file is reported once. Raises InputError.
    """
    known: set[Finding] = set()

    def once(finding: Finding) -> None:
        if finding not in known:
            known.add(finding)
            report(finding)

    pairs = itertools.combinations(files, 2)
    return [found for pair in pairs for found in agreements(*pair, once, options, notify)]


def _sides(
    truth: Path, predicted: Path, report: OnFinding, options: AgreementOptions
) -> list[tuple[LabelSet, LabelSet]]:
    """Return the pairs to compare: judges of one name, or the one side with each judge."""
    left, right = (label_sets_at(path, report, options.words) for path in (truth, predicted))
    if judge := options.judge:
        names = sorted({side.judge for side in (*left, *right)} - {""})
        if judge not in names:
            raise InputError(unknown("judge", judge, names))
        left, right = ([s for s in sides if s.judge == judge] or sides for sides in (left, right))
    if len(left) > 1 and len(right) > 1:
        pairs = [(ours, theirs) for ours in left for theirs in right if ours.judge == theirs.judge]
        if not pairs:
            ours, theirs = (", ".join(side.judge for side in sides) for sides in (left, right))
            raise InputError(f"no judge in common: {truth} has {ours}; {predicted} has {theirs}")
        return pairs
    return [(ours, theirs) for ours in left for theirs in right]


def _agreement(
    truth: LabelSet, predicted: LabelSet, report: OnFinding, options: AgreementOptions
) -> Agreement:
    maps = call_both(truth, predicted, options.words or {}, report)
    left, right = in_one_shape(truth, predicted, report)
    given = left.labels | right.labels
    # The lowest label of whichever kind the two sides have.
    scale = _scale(given)
    zero = min(scale, key=scale.__getitem__) if scale else "0"
    _check_labelled(left, right)
    missing_are_zero = options.on_missing == "zero"
    labels, ordered = in_order(given | {zero} if missing_are_zero else given)
    pairs, shared = _pairs(left, right, labels, zero if missing_are_zero else None)
    _check_shared(left, right, shared, options.on_missing)
    if missing_are_zero and not ordered:
        given_labels = ", ".join(sorted(given))
        raise InputError(f"--rows missing=zero: {given_labels} are no grades: none of them is 0")
    confusion = pairs.confusion(len(labels)).sum(axis=0)
    if not ordered:
        _check_words(left, right, labels, confusion)
    relevant = None
    if ordered and options.threshold is not None:
        relevant = first_relevant(labels, options.threshold)
    of_battles = set(labels) <= {*OUTCOMES} and WIN in labels
    boards = [_board_tau(left, right)] if of_battles else []
    tie = labels.index(TIE) if of_battles and TIE in labels else None
    people = None
    if truth.people is not None and truth.people.several:
        names = truth.nuggets | predicted.nuggets
        people = compare_people(
            truth.people,
            # Grades of documents are no items of people.
            lambda group: {} if right.kind == "qrels" else {i: n for i, n, *_ in right.rows(group)},
            lambda item, topic_id: named_items(item, topic_id, names),
            in_order,
        )
    return Agreement(
        truth=left,
        predicted=right,
        labels=labels,
        confusion=confusion.astype(int).tolist(),
        figures=[*agreement(pairs, len(labels), ordered, relevant, tie), *boards],
        items=len(pairs),
        topics=len(pairs.topics),
        only_truth=left.size - shared,
        only_predicted=right.size - shared,
        judge=predicted.judge or truth.judge,
        maps=maps,
        tied=(truth.tied, predicted.tied),
        people=people,
        time=time_spent(truth.people),
    )


def _board_tau(left: LabelSet, right: LabelSet) -> Agreed:
    """Return Kendall's tau-b of the boards that all battles of either side make."""
    tau, interval = tau_of_boards(*(BattleTable.of(_battles_of(side)) for side in (left, right)))
    return Agreed("tau_of_boards", rounded(tau), interval.round_to(DIGITS), {})


def _battles_of(side: LabelSet) -> Iterator[Battle]:
    for topic_id, run_id in side.groups:
        for item, label, _, score in side.rows((topic_id, run_id)):
            if item[1] is not None:
                yield Battle(topic_id, run_id, str(item[1]), label, points=score)


def _check_meeting(left: LabelSet, right: LabelSet) -> None:
    """Raise InputError where no item is on both sides: what labels mean is no question then."""
    if "qrels" in (left.kind, right.kind):
        return
    for group in left.groups:
        ours, theirs = (
            {item[:2] for item in side.people.votes(group)}
            if side.people is not None
            else {item[:2] for item, *_ in side.rows(group)}
            for side in (left, right)
        )
        if ours & theirs:
            return
    raise InputError(_nothing_in_common(left, right))


def _nothing_in_common(left: LabelSet, right: LabelSet) -> str:
    return (
        f"{left.name} and {right.name} have no item in common: there {_example(left)}, here"
        f" {_example(right)}"
    )


def _check_words(
    left: LabelSet, right: LabelSet, labels: Sequence[str], confusion: npt.NDArray[np.float64]
) -> None:
    """Raise InputError where most items have labels that the other side does not have at all."""
    if any({*labels} <= {*scale} for scale in (*KNOWN, *OF_NUGGETS)):
        return
    ours, theirs = left.labels, right.labels
    known = np.array([label in ours and label in theirs for label in labels])
    odd = confusion[~known][:, ~known].sum()
    if odd * 2 > confusion.sum():
        raise InputError(
            f"labels in other words: {left.name} has {', '.join(sorted(ours))}; {right.name} has"
            f" {', '.join(sorted(theirs))}: say which are the same: --map"
            f" {quote(min(ours - theirs))}=LABEL"
        )


def _check_labelled(left: LabelSet, right: LabelSet) -> None:
    for side in (left, right):
        if not side.size:
            raise InputError(f"{side.name}: no labels in it; give qrels, labels or a job")


def _check_shared(left: LabelSet, right: LabelSet, shared: int, on_missing: OneSidedItems) -> None:
    missing = (left.size - shared, right.size - shared)
    if any(missing) and on_missing == "error":
        raise InputError(
            f"{missing[0]} items are only in {left.name}, {missing[1]} only in {right.name}"
            " (--rows missing=error)"
        )
    if not shared:
        raise InputError(_nothing_in_common(left, right))


def _pairs(
    left: LabelSet, right: LabelSet, labels: Sequence[str], zero: str | None
) -> tuple[LabelPairs, int]:
    """Return the labels of items on both sides, and how many such items there are.

    With `zero`, an item of one side has that label on the other.
    """
    at = {label: place for place, label in enumerate(labels)}
    shared = 0

    def every() -> Iterator[LabelPair]:
        nonlocal shared
        for group in dict.fromkeys((*left.groups, *right.groups)):
            theirs = {item: (label, score) for item, label, _, score in right.rows(group)}
            for item, label, _, _ in left.rows(group):
                if (there := theirs.pop(item, None)) is not None:
                    shared += 1
                    yield LabelPair(group[0], at[label], at[there[0]], there[1])
                elif zero is not None:
                    yield LabelPair(group[0], at[label], at[zero], 0.0)
            for label, score in theirs.values() if zero is not None else ():
                yield LabelPair(group[0], at[zero or ""], at[label], score)

    return LabelPairs.of(every()), shared


def in_order(labels: set[str]) -> tuple[list[str], bool]:
    """Return the labels, the lowest grade first, and whether they are grades at all."""
    if scale := _scale(labels):
        return sorted(labels, key=lambda label: scale[label]), True
    if all(label.lstrip("-").isdigit() for label in labels):
        grades = sorted(map(int, labels))
        if grades[-1] - grades[0] < MOST_GRADES:
            # A grade that nobody gave keeps its distance from the others.
            return list(map(str, range(grades[0], grades[-1] + 1))), True
        return list(map(str, grades)), True
    return sorted(labels), False


def _scale(labels: set[str]) -> Mapping[str, int] | None:
    return next((scale for scale in SCALES if labels <= set(scale)), None)


def first_relevant(labels: Sequence[str], threshold: int) -> int | None:
    scale = _scale(set(labels))
    grades = [scale[label] if scale else int(label) for label in labels]
    return next((place for place, grade in enumerate(grades) if grade >= threshold), len(grades))


def _example(side: LabelSet) -> str:
    return "none" if side.first is None else f"such as {side.first}"
