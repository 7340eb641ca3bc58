"""A few labels of people beside a judge's own decisions: what they would make of each response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from trecjudge.errors import JudgmentFailed
from trecjudge.inputs.labels import ItemKey, TakesLabels, key_of
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.records import Citation, Failure, Item, Judgment, Response, Topic
from trecjudge.scores.leaderboard import measured

EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class ByPeople:
    """A measure on a response if people had judged all of it.

    `estimate` is the judge's value, corrected by the labels that there are; `alone` what these
    labels give without the judge, None where they give nothing.
    """

    estimate: float
    alone: float | None


@dataclass(slots=True)
class HumanLabels:
    """Labels of people, the judges that take them, and what came of them.

    `values` are what they make of a measure on a response, by (run_id, topic_id, measure).
    """

    labels: Mapping[ItemKey, str]
    takers: Mapping[str, TakesLabels]
    values: dict[tuple[str, str, str], ByPeople] = field(default_factory=dict)
    certain: set[tuple[str, str, str]] = field(default_factory=set)
    """Responses with nothing to label: what a measure is there needs no people."""
    untold: set[tuple[str, str, str]] = field(default_factory=set)
    """Responses whose labels do not tell a measure: it needs those of all items, or is not defined.

    The others are no random sample then: it is the short ones that are labelled whole.
    """
    matched: set[ItemKey] = field(default_factory=set)
    unusable: dict[ItemKey, str] = field(default_factory=dict)
    """Labels that no judge knows, and why."""

    def add(self, spec: LeaderboardSpec, response: Response, judgments: Sequence[Judgment]) -> None:
        """Take a response with its judgments."""
        pairs = [(judgment, self._relabelled(judgment)) for judgment in judgments]
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
                self.untold.add(key)

    @property
    def counts(self) -> dict[str, int]:
        """How many labels there are, how many are of judged items, how many mean nothing."""
        return {
            "given": len(self.labels),
            "of_judged_items": len(self.matched),
            "unusable": len(self.unusable),
        }

    def _relabelled(self, judgment: Judgment) -> Judgment | None:
        """Return the judgment that people made on an item, None where they made none."""
        key = key_of(judgment)
        label, judge = self.labels.get(key), self.takers.get(judgment.judge)
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
            made = judge.given(item, label)
        except JudgmentFailed as failed:
            self.unusable[key] = failed.message
            return None
        self.matched.add(key)
        return replace(made, judge=judgment.judge)


Pair = tuple[Judgment, Judgment | None]
"""A judge's own judgment, and that of people where they made one."""


def _can_be_labelled(pair: Pair) -> bool:
    """Tell whether people could label an item: nobody can a citation of no document."""
    own, human = pair
    return human is not None or own.exists is not False


def _by_people(
    spec: LeaderboardSpec, measure: MeasureSpec, response: Response, pairs: Sequence[Pair]
) -> ByPeople | None:
    """Return what a measure would be if people had judged all; None where that cannot be told.

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
    if labelled == wanted:
        return ByPeople(swapped, swapped)
    own = [own for own, _ in pairs]
    value = measured(measure, response, own)
    if value is None or not all(j.judged for j in own):
        return None
    if not _is_additive(spec, measure, response, own):
        return None
    labels = [human or (_open(own) if own.exists is not False else own) for own, human in pairs]
    alone = measured(measure, response, labels)
    return ByPeople(value + (swapped - value) * wanted / labelled, alone)


def _open(judgment: Judgment) -> Judgment:
    """Return a judgment as if nobody had made it: in no numerator and no denominator."""
    nothing = Failure("not_given", "people gave no label")
    return replace(judgment, label=None, grade=None, value=None, failure=nothing)


def _is_additive(
    spec: LeaderboardSpec, measure: MeasureSpec, response: Response, own: Sequence[Judgment]
) -> bool:
    """Tell whether each item counts for itself.

    Then turning one item after the other from its worst to its best changes as much, on its own, as
    turning all; and so does turning them back.
    """
    if spec.fill is None:
        return False
    worst, best = ([spec.fill(judgment, end) for judgment in own] for end in (False, True))
    whole = _change(measure, response, worst, best)
    for start, end, sign in ((worst, best, 1), (best, worst, -1)):
        turned = (
            _change(measure, response, start, [*start[:i], end[i], *start[i + 1 :]])
            for i in range(len(own))
        )
        changes = [change for change in turned if change is not None]
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
