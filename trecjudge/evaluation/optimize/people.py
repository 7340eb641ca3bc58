"""What people say of a judge's items, and whether a judgment agrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trecjudge.evaluation.label_sets import LabelledItem, LabelSet, apart
from trecjudge.inputs.labels import key_of
from trecjudge.inputs.labels.vocabulary import SUPPORT, support_label
from trecjudge.records import GRADES, Item, Judgment


@dataclass(frozen=True, slots=True)
class People:
    """The labels of people by item, in whatever form `agree` reads.

    `kind` is `qrels`, `judgments` or `labels`, as a `LabelSet` has it.
    """

    name: str
    kind: str
    in_support: bool = False
    """Whether their labels are called full, partial and no support."""
    labels: dict[LabelledItem, str] = field(default_factory=dict, repr=False)
    _covered: set[LabelledItem] = field(default_factory=set, repr=False)

    @classmethod
    def of(cls, side: LabelSet) -> People:
        """Return the labels of a side."""
        named = side.people.naming if side.people is not None else side.naming
        people = cls(side.name, side.kind, named is not None and named.target == SUPPORT)
        for topic_id, run_id in side.groups:
            for item, label, _, _ in side.rows((topic_id, run_id)):
                people.labels[topic_id, run_id, *item] = label
                people._covered.update(((topic_id, run_id), (topic_id, run_id, *item[:2])))
        return people

    def label(self, judgment: Judgment) -> str | None:
        """Return the label of people on the item of a judgment, None where there is none."""
        return next((self.labels[key] for key in self._keys(judgment) if key in self.labels), None)

    def said(self, judgment: Judgment) -> str | None:
        """Return the label of a judgment in the words of people; None where it is unjudged."""
        if judgment.label is None:
            return None
        if self.kind == "qrels":
            return str(GRADES.get(judgment.label, judgment.label))
        if judgment.nugget is not None:  # such labels stand for themselves
            return judgment.label
        return (self.in_support and support_label(judgment.label)) or judgment.label

    def covers(self, item: Item) -> bool:
        """Return whether people may have labelled an item, or something in it."""
        topic_id, run_id = item.topic.topic_id, item.run_id
        doc_id = item.citation.doc_id if item.citation else None
        if self.kind == "qrels":
            doc_id = item.document.doc_id if item.document and doc_id is None else doc_id
            return any((topic_id, run, doc_id) in self.labels for run in (run_id, ""))
        if item.sentence_index is None:
            return (topic_id, run_id) in self._covered
        return (topic_id, run_id, item.sentence_index, doc_id) in self._covered

    def _keys(self, judgment: Judgment) -> Sequence[LabelledItem]:
        topic_id, run_id = judgment.topic_id, judgment.run_id
        if self.kind == "qrels":
            return [(topic_id, run, judgment.doc_id) for run in (run_id, "")]
        key = key_of(judgment)
        if self.kind == "judgments":
            return [(*key, apart(judgment))]
        names = judgment.nugget.names if judgment.nugget else ()
        return [key, *((*key[:4], name) for name in names)]


def right(people: People, judgments: Sequence[Judgment]) -> float | None:
    """Return the share of labelled judgments with the label of people; None without any.

    One that is unjudged is not right.
    """
    labelled = [(label, j) for j in judgments if (label := people.label(j)) is not None]
    if not labelled:
        return None
    return sum(people.said(j) == label for label, j in labelled) / len(labelled)


def told(people: People, judgments: Sequence[Judgment]) -> str:
    """Return in words how judgments compare with the labels of people."""
    lines = []
    for judgment in judgments:
        if (label := people.label(judgment)) is None:
            continue
        said = people.said(judgment)
        about = f" on {judgment.about}" if judgment.about else ""
        if said == label:
            lines.append(f"Right{about}: people say {label} too.")
        elif said is None:
            lines.append(f"Wrong{about}: people say {label}, the reply could not be used.")
        else:
            lines.append(f"Wrong{about}: people say {label}, the reply leads to {said}.")
    return "\n".join(lines) or "No label of people is on it."
