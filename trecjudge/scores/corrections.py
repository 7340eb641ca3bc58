"""Correct a judge's scores with a few human labels: what each response would have by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from trecjudge.errors import NOT_GIVEN, JudgmentFailed
from trecjudge.inputs.labels import ItemKey, TakesLabels, TakesNuggetLabels, label_of
from trecjudge.judging.judge import Judge
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.records import Citation, Failure, Item, Judgment, Response, Topic
from trecjudge.scores.measuring import measured

EQUAL = 1e-9
"""Changes that differ by less are equal but for rounding."""


@dataclass(frozen=True, slots=True)
class ByPeople:
    """A measure on a response if people had judged all of it.

    `estimate` is the judge's value, corrected by the labels that there are; `without_judge` what
    these labels give by themselves, None where they give nothing.
    """

    estimate: float
    without_judge: float | None


@dataclass(slots=True)
class HumanLabels:
    """Labels of people, the judges that take them, and the values that they give.

    `values` are what they make of a measure on a response, by (run_id, topic_id, measure).
    """

    labels: Mapping[ItemKey, str]
    takers: Mapping[str, Judge]
    values: dict[tuple[str, str, str], ByPeople] = field(default_factory=dict)
    certain: set[tuple[str, str, str]] = field(default_factory=set)
    """Responses with nothing to label: what a measure is there needs no people."""
    undetermined: set[tuple[str, str, str]] = field(default_factory=set)
    """Responses with too few labels to compute the measure: it needs all items, or is not defined.

    The others are no random sample then: mostly short responses are labelled completely.
    """
    matched: int = 0
    """Labels of items that were judged, and are known."""
    unusable: dict[ItemKey, str] = field(default_factory=dict)
    """Labels that no judge knows, and why."""

    def add(self, spec: LeaderboardSpec, response: Response, judgments: Sequence[Judgment]) -> None:
        """Take a response with its judgments."""
        pairs = [(judgment, self._relabelled(judgment)) for judgment in judgments]
        # Two judges, or two claims, may have one item.
        found = {label_of(self.labels, own)[0] for own, human in pairs if human is not None}
        self.matched += len(found)
        for measure in spec.measures:
            own = [pair for pair in pairs if measure.judge in ("", pair[0].judge)]
            key = (response.run_id, response.topic_id, measure.name)
            if not any(map(_can_be_labelled, own)):
                self.certain.add(key)
                continue
            value = _by_people(spec, measure, response, own)
            if value is not None:
                self.values[key] = value
            elif any(human is not None for _, human in own):
                self.undetermined.add(key)

    @property
    def counts(self) -> dict[str, int]:
        """Counts of labels: all, those of judged items, and those that no judge knows."""
        return {
            "given": len(self.labels),
            "of_judged_items": self.matched,
            "unusable": len(self.unusable),
        }

    def _relabelled(self, judgment: Judgment) -> Judgment | None:
        """Return the judgment that people made on an item, None where they made none."""
        (key, label), judge = label_of(self.labels, judgment), self.takers.get(judgment.judge)
        if label is None or judge is None or key in self.unusable:
            return None
        cited = None
        if judgment.citation is not None or judgment.doc_id is not None:
            cited = Citation(judgment.doc_id, judgment.citation or judgment.doc_id or "")
        item = Item(
            topic=Topic(judgment.topic_id),
            run_id=judgment.run_id,
            text="",
            sentence_index=judgment.sentence_index,
            citation=cited,
            exists=judgment.exists,
        )
        try:
            made = _made(judge, item, judgment, label)
        except JudgmentFailed as failed:
            self.unusable[key] = failed.message
            return None
        return replace(made, judge=judgment.judge)


def _made(judge: Judge, item: Item, judgment: Judgment, label: str) -> Judgment:
    """Return the judgment that a label makes in a judge's place."""
    if isinstance(judge, TakesNuggetLabels):
        made = judge.given_nugget(item, judgment.nugget, label)
        return replace(made, sentence_index=judgment.sentence_index, nugget=judgment.nugget)
    assert isinstance(judge, TakesLabels)
    return judge.given(item, label)


OwnAndHuman = tuple[Judgment, Judgment | None]
"""A judge's own judgment, and that of people where they made one."""


def _can_be_labelled(pair: OwnAndHuman) -> bool:
    """Return whether people could label an item: a citation of no document nobody can."""
    own, human = pair
    return human is not None or own.exists is not False


def _by_people(
    spec: LeaderboardSpec, measure: MeasureSpec, response: Response, pairs: Sequence[OwnAndHuman]
) -> ByPeople | None:
    """Return what a measure would be if people had judged all; None where that is unknown.

    Where some items are labelled, the change that their labels make stands for all of them, as if
    they had been drawn at random; that holds for a measure in which each item counts for itself.
    """
    labelled = sum(human is not None for _, human in pairs)
    wanted = sum(map(_can_be_labelled, pairs))
    if not labelled:
        return None
    swapped = measured(measure, response, [human or own for own, human in pairs])
    if swapped is None:
        return None
    if labelled == wanted:  # nothing is estimated: the measure may be of any kind
        return ByPeople(swapped, swapped)
    own = [own for own, _ in pairs]
    value = measured(measure, response, own)
    # With unjudged items the judge's value is of other items than the labels.
    if value is None or not all(j.judged for j in own):
        return None
    if not _is_additive(spec, measure, response, own):
        return None
    labels = [human or (_open(own) if own.exists is not False else own) for own, human in pairs]
    without_judge = measured(measure, response, labels)
    # The change that the labelled items made, scaled up to all that could be labelled.
    return ByPeople(value + (swapped - value) * wanted / labelled, without_judge)


def _open(judgment: Judgment) -> Judgment:
    """Return a judgment as if nobody had made it: in no numerator and no denominator."""
    nothing = Failure(NOT_GIVEN, "people gave no label")
    return replace(judgment, label=None, grade=None, value=None, failure=nothing)


def _is_additive(
    spec: LeaderboardSpec, measure: MeasureSpec, response: Response, own: Sequence[Judgment]
) -> bool:
    """Return whether each item counts for itself.

    Then the changes of single items from worst to best add up to the change of all items together;
    and so they do from best to worst.
    """
    if spec.fill is None:
        return False
    worst, best = ([spec.fill(judgment, end) for judgment in own] for end in (False, True))
    whole = _change(measure, response, worst, best)
    # Both ways: one of the two may add up by chance.
    for start, end, sign in ((worst, best, 1), (best, worst, -1)):
        single_changes = (
            _change(measure, response, start, [*start[:i], end[i], *start[i + 1 :]])
            for i in range(len(own))
        )
        changes = [change for change in single_changes if change is not None]
        if whole is None or len(changes) < len(own) or abs(whole - sign * sum(changes)) > EQUAL:
            return False
    return True


def _change(
    measure: MeasureSpec,
    response: Response,
    before: Sequence[Judgment],
    after: Sequence[Judgment],
) -> float | None:
    """Return by how much a measure changes; None where it is not defined."""
    old, new = measured(measure, response, before), measured(measure, response, after)
    return None if old is None or new is None else new - old
