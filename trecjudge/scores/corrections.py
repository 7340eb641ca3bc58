"""Correct a judge's scores with a few human labels: what each response would have by them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from trecjudge.errors import JudgmentFailed
from trecjudge.inputs.labels import (
    ItemKey,
    TakesLabels,
    TakesNuggetLabels,
    label_of,
)
from trecjudge.inputs.labels.vocabulary import OF_NUGGETS, SCALES
from trecjudge.judging.judge import Judge
from trecjudge.measures import DIGITS, LeaderboardSpec, MeasureSpec
from trecjudge.records import Citation, Item, Judgment, Response, Topic
from trecjudge.scores.response_scores import compute_measure
from trecjudge.stats.labelled import Labellable, row_of

EQUAL = 1e-9
"""Changes that differ by less are equal but for rounding."""
SCORED = "0123"
"""The grades of a text, each a label."""
MEANS = ("mean_of_floats", "mean_of_bools")
"""Aggregates that labels of people can correct."""


@dataclass(slots=True)
class Labelled:
    """What is known of a measure by labels: sums by response, of its items and of it as one."""

    responses: list[tuple[str, str]] = field(default_factory=list)
    """(run_id, topic_id)"""
    rows: array[float] = field(default_factory=lambda: array("d"))
    whole: array[float] = field(default_factory=lambda: array("d"))
    """The same by response: Row after Row."""
    is_additive: bool = True
    """Whether each item counts for itself, in every response."""
    is_partial: bool = False
    """Whether people have labelled a part of a response."""
    unknown: set[str] = field(default_factory=set)
    """Runs with a response on which the measure cannot be put between its worst and its best."""

    def add(self, found: MeasuredResponse) -> None:
        """Add a response."""
        floor, top, now = found.at_best(()), found.at_best(found.places), found.value({})
        if floor is None or top is None or now is None:
            if (floor, top, now) != (None, None, None):  # else no label could change it
                self.unknown.add(found.response.run_id)
            return
        items = found.items(floor, top, now)
        self.is_additive &= items is not None
        one, is_whole = found.as_one(floor, top, now)
        self.is_partial |= not is_whole
        self.responses.append((found.response.run_id, found.response.topic_id))
        self.rows.extend(row_of(floor, items or ()))
        self.whole.extend(row_of(floor if one else now, one))

    @property
    def table(self) -> array[float] | None:
        """The sums to estimate by, Row after Row; None where a measure needs all labels."""
        if self.is_additive:
            return self.rows
        return None if self.is_partial else self.whole


@dataclass(slots=True)
class HumanLabels:
    """Labels of people, the judges that take them, and what they say of each measure."""

    labels: Mapping[ItemKey, str]
    takers: Mapping[str, Judge]
    by_measure: dict[str, Labelled] = field(default_factory=dict)
    effects: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the labels show of the judge, by measure; known once they have corrected its means."""
    matched: int = 0
    """Labels of items that were judged, and are known."""
    unusable: dict[ItemKey, str] = field(default_factory=dict)
    """Labels that no judge knows, and why."""

    def add(self, spec: LeaderboardSpec, response: Response, judgments: Sequence[Judgment]) -> None:
        """Take a response with its judgments."""
        people = [self._human_judgment(judgment) for judgment in judgments]
        labelled = (own for own, human in zip(judgments, people, strict=True) if human)
        # Two judges, or two claims, may have one item.
        self.matched += len({label_of(self.labels, own)[0] for own in labelled})
        if spec.fill is None:
            return
        items = [
            _Item(own, human, spec.fill(own, False), spec.fill(own, True))
            for own, human in zip(judgments, people, strict=True)
        ]
        for measure in spec.measures:
            own = [one for one in items if measure.judge in ("", one.own.judge)]
            places = [
                i
                for i, one in enumerate(own)
                if one.human or can_be_labelled(self.takers.get(one.own.judge), one.own)
            ]
            if places and measure.aggregate in MEANS:
                found = MeasuredResponse(measure, response, own, places)
                self.by_measure.setdefault(measure.name, Labelled()).add(found)

    def counts(self, measure: str) -> dict[str, Any]:
        """Return the numbers of labels: all, those of judged items, and those that no judge knows.

        `effect` is what they show of the judge by a measure, None where they cannot correct it.
        """
        return {
            "given": len(self.labels),
            "of_judged_items": self.matched,
            "unusable": len(self.unusable),
            "effect": self.effects.get(measure),
        }

    def _human_judgment(self, judgment: Judgment) -> Judgment | None:
        (key, label), judge = label_of(self.labels, judgment), self.takers.get(judgment.judge)
        if label is None or judge is None or key in self.unusable:
            return None
        try:
            made = _judgment_by_label(judge, _item_of(judgment), judgment, label)
        except JudgmentFailed as failed:
            self.unusable[key] = failed.message
            return None
        return replace(made, judge=judgment.judge)


def can_be_labelled(judge: Judge | None, judgment: Judgment) -> bool:
    """Return whether people could label an item: a citation of no document nobody can.

    Nor what the judge decides itself; None is a judge that takes no labels.
    """
    if judge is None or judgment.exists is False:
        return False
    # By name: to check a protocol takes as long as the measure, and there are a million items.
    decides_itself = getattr(judge, "decides_itself", None)
    return decides_itself is None or not decides_itself(_item_of(judgment))


def labels_taken(judge: Judge, judgment: Judgment) -> Sequence[str]:
    """Return the labels that a judge takes on an item: of those known the first that all stay."""
    item, own = _item_of(judgment), tuple(getattr(judge, "label_names", ()))
    for scale in (own, tuple(SCORED), *SCALES, *OF_NUGGETS):
        with suppress(JudgmentFailed):
            taken = [_judgment_by_label(judge, item, judgment, label).label for label in scale]
            if taken and taken == list(scale):
                return scale
    return ()


def _item_of(judgment: Judgment) -> Item:
    cited = None
    if judgment.citation is not None or judgment.doc_id is not None:
        cited = Citation(judgment.doc_id, judgment.citation or judgment.doc_id or "")
    return Item(
        topic=Topic(judgment.topic_id),
        run_id=judgment.run_id,
        text="",
        sentence_index=judgment.sentence_index,
        citation=cited,
        exists=judgment.exists,
        opponent=judgment.opponent,
    )


def _judgment_by_label(judge: Judge, item: Item, judgment: Judgment, label: str) -> Judgment:
    if isinstance(judge, TakesNuggetLabels):
        made = judge.given_nugget(item, judgment.nugget, label)
        return replace(made, sentence_index=judgment.sentence_index, nugget=judgment.nugget)
    assert isinstance(judge, TakesLabels)
    return judge.given(item, label)


class _Item(NamedTuple):
    """A judge's judgment, that of people where they made one, and it at its worst and best."""

    own: Judgment
    human: Judgment | None
    worst: Judgment
    best: Judgment


@dataclass(frozen=True, slots=True)
class MeasuredResponse:
    """A measure on a response between its worst and its best; `places` can be labelled."""

    measure: MeasureSpec
    response: Response
    judged: Sequence[_Item]
    places: Sequence[int]

    def value(self, changed: Mapping[int, Judgment]) -> float | None:
        """Return the measure with some judgments changed, the others as the judge made them."""
        made = [changed.get(i, one.own) for i, one in enumerate(self.judged)]
        return compute_measure(self.measure, self.response, made)

    def among_worst(self, changed: Mapping[int, Judgment]) -> float | None:
        """Return the measure with some changed, all others that people can label at their worst."""
        return self.value({i: changed.get(i, self.judged[i].worst) for i in self.places})

    def at_best(self, places: Iterable[int]) -> float | None:
        """Return the measure with these items at their best, all others at their worst."""
        return self.among_worst({i: self.judged[i].best for i in places})

    @property
    def people(self) -> dict[int, Judgment]:
        """The judgments that people made, by place."""
        return {i: human for i in self.places if (human := self.judged[i].human) is not None}

    def as_one(self, floor: float, top: float, now: float) -> tuple[list[Labellable], bool]:
        """Return the response as one item, none where no label moves it.

        It is labelled only as a whole; the second is False where people labelled a part.
        """
        people, reach = self.people, top - floor
        said = self.value(people) if len(people) == len(self.places) else None
        is_whole = not people or said is not None
        if abs(reach) <= EQUAL:
            return [], is_whole
        judged = (now - floor) / reach
        label = None if said is None else (said - floor) / reach
        return [Labellable(reach, judged, judged, label)], is_whole

    def items(self, floor: float, top: float, now: float) -> list[Labellable] | None:
        """Return the items with where the judge and people put them.

        None unless each counts for itself: what the items add is then the measure.
        """
        reaches = self._reaches(floor, top)
        if reaches is None:
            return None
        moving = {i: r for i, r in zip(self.places, reaches, strict=True) if abs(r) > EQUAL}
        whole = math.fsum(reaches)
        middle = (now - floor) / whole if abs(whole) > EQUAL else 0.0
        sighted = {i: own for i in moving if (own := self.judged[i].own).judged}
        share = _Shares(self, floor)
        shares = {i: share.of(i, own, moving[i]) for i, own in sighted.items()}

        def missing() -> float:
            return abs(
                floor + math.fsum(r * shares.get(i, middle) for i, r in moving.items()) - now
            )

        if missing() > EQUAL:  # some are in no numerator and no denominator
            shares = {i: self._own_share(i, now, middle) for i in sighted}
            if missing() > EQUAL:
                return None
        people = {
            i: share.of(i, human, moving[i]) for i, human in self.people.items() if i in moving
        }
        expected = {i: own.expected for i, own in sighted.items() if own.expected is not None}
        return [
            Labellable(
                reach,
                judged := shares.get(i, middle),
                expected.get(i, judged),
                people.get(i),
                blind=i not in shares,
            )
            for i, reach in moving.items()
        ]

    def _reaches(self, floor: float, top: float) -> list[float] | None:
        """Return by how much each item moves the measure, None unless it counts for itself.

        Then the changes of single items add up to those of several at a time: of all, and of those
        whose number has a bit, which tell any two items apart.
        """
        count = len(self.places)
        together = [
            [n for n in range(count) if n >> bit & 1] for bit in range((count - 1).bit_length())
        ]
        changes = [*(self._change(numbers, floor) for numbers in together), top - floor]
        together.append(list(range(count)))

        def add_up(reaches: Sequence[float | None]) -> bool:
            return all(
                change is not None
                and abs(change - math.fsum(reaches[n] or 0.0 for n in numbers)) <= EQUAL
                for numbers, change in zip(together, changes, strict=True)
            )

        equal: list[float | None] = [(top - floor) / count] * count
        # As a rule all items weigh the same: then one by one is not needed.
        found = equal if add_up(equal) else [self._change([n], floor) for n in range(count)]
        return [reach or 0.0 for reach in found] if None not in found and add_up(found) else None

    def _change(self, numbers: Iterable[int], floor: float) -> float | None:
        """Return by how much items, by their number among `places`, move the measure together."""
        value = self.at_best(self.places[n] for n in numbers)
        return None if value is None else value - floor

    def _own_share(self, place: int, now: float, middle: float) -> float:
        """Return where the judge put an item, among the others as it judged them."""
        one = self.judged[place]
        worst, best = (self.value({place: end}) for end in (one.worst, one.best))
        if worst is None or best is None or abs(best - worst) <= EQUAL:
            return middle
        return (now - worst) / (best - worst)


@dataclass(slots=True)
class _Shares:
    """Where judgments put items between their worst and their best, 0 to 1; equal ones once."""

    response: MeasuredResponse
    floor: float
    known: dict[tuple[object, ...], float] = field(default_factory=dict)

    def of(self, place: int, judgment: Judgment, reach: float) -> float:
        """Return where a judgment puts an item that moves the measure by `reach`."""
        by_weight = self.response.measure.expected_of != ""
        weights = (judgment.expected, judgment.p_full) if by_weight else ()
        key = (judgment.label, judgment.grade, judgment.value, weights, round(reach, DIGITS))
        if key not in self.known:
            value = self.response.among_worst({place: judgment})
            self.known[key] = ((self.floor if value is None else value) - self.floor) / reach
        return self.known[key]
