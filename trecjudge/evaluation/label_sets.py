"""The labels of qrels, judgments or people; two sides in one shape and the same words."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.evaluation.comparing import judgments_at
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.labels import (
    Labels,
    is_other_side,
    key_of,
    label_duplicate,
    not_understood,
    votes_at,
)
from trecjudge.inputs.labels.label_files import KINDS, is_label_table
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
from trecjudge.inputs.labels.workbooks import is_workbook
from trecjudge.inputs.packed import Group, PackedRows
from trecjudge.inputs.sources.containers import first_line
from trecjudge.records import FULL, GRADES, NONE, NOTHING_TO_CHECK, PARTIAL, Judgment, Place
from trecjudge.results.jobs import kind_of
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.trec import (
    NO_GRADE,
    is_graded_records,
    is_json_qrels,
    is_row,
    read_decimal_qrels,
)

# The labels of one side, of qrels, judgments or people, and two sides in one shape.
LabelledItem = tuple[Any, ...]
"""(topic_id, ...): the key of an item in its file."""
Row = tuple[LabelledItem, str, int | None, float | None]
"""The part of an item's key behind its group, its label, its line, a score where there is one."""


@dataclass(slots=True)
class LabelSet:
    """The labels of one side by item, and scores where its judge gives some.

    `kind` is `qrels`, `judgments` or `labels`, `judge` whose judgments they are. `unjudged` counts
    items that have no label. Items are grouped by topic and run (of qrels, no text
    where they are of none), and packed.
    """

    name: str
    kind: str
    unjudged: int = 0
    judge: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    """How many items have each label."""
    nugget_counts: Counter[str] = field(default_factory=Counter)
    """The same of nuggets, whose labels may read like others."""
    people: Labels | None = None
    """What people say, where the labels are theirs: the rows are what most of them say."""
    nuggets: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """Whatever the nuggets of a topic may be called, and what those are called here."""
    naming: Naming | None = None
    """What the labels that are no people's are called; without it they stand for themselves."""
    _packed: PackedRows = field(default_factory=PackedRows)

    @classmethod
    def of_people(cls, labels: Labels, name: str) -> LabelSet:
        """Return the labels of people, before it is known what they are called."""
        side = cls(name, "labels", people=labels)
        side.counts, side.nugget_counts = labels.counts, labels.nugget_counts
        return side

    def put(self, group: Group, rows: Sequence[Row]) -> None:
        """Add the labelled items of a group that has none yet."""
        self.counts.update(label for _, label, _, _ in rows)
        self._packed.put(group, rows)

    @property
    def groups(self) -> Iterator[Group]:
        """The groups, (topic_id, run_id), in the order of the file."""
        return iter(self._packed if self.people is None else self.people.rows)

    @property
    def labels(self) -> set[str]:
        """The labels that items have."""
        found: Iterable[str | None] = self.counts
        if self.people is not None:
            namings = (self.people.naming, self.people.nugget_naming)
            found = [name for one in namings if one for name in one.names.values()]
        elif self.naming is not None:
            found = map(self.naming.names.get, self.counts)
        return {label for label in found if label is not None}

    @property
    def other_counts(self) -> Counter[str]:
        """How many items other than nuggets have each label."""
        return self.counts if self.people is not None else self.counts - self.nugget_counts

    @property
    def size(self) -> int:
        """How many items have a label."""
        if self.people is not None:
            return len(self.people)
        kept = self.naming.names if self.naming else None
        counts = self.counts.items()
        return sum(n for label, n in counts if kept is None or kept[label] is not None)

    @property
    def tied(self) -> int:
        """How many items have no label because people are divided."""
        return self.people.tied if self.people is not None else 0

    def rows(self, group: Group) -> list[Row]:
        """Return the labelled items of a group."""
        if self.people is not None:
            found = self.people.of(group).items()
            return [(item, label, line, None) for item, (label, line, *_) in found]
        rows: list[Row] = self._packed.rows(group)
        if self.naming is None:
            return rows
        names = self.naming.names
        return [
            (item, name, line, score)
            for item, label, line, score in rows
            if (name := names[label]) is not None
        ]

    def place(self, line: int | None) -> Place:
        """Return where a label stands, as far as that is known."""
        return Place(self.name, line)

    @property
    def first(self) -> LabelledItem | None:
        """The key of the first item."""
        return next(
            ((*group, *row[0]) for group in self.groups for row in self.rows(group)[:1]), None
        )


def label_sets_at(path: Path, report: OnFinding, words: Words | None = None) -> list[LabelSet]:
    """Return the labels of a file, whose kind its first line decides, or those of a job.

    Of judgments, those of each judge, by name. A job's own qrels are qrels; any other file of a job
    stands for its judgments. Raises InputError.
    """
    if not os.path.isfile(path) or kind_of(path) not in ("", "qrels", "judgments"):
        inside = list(path.iterdir()) if os.path.isdir(path) else []
        if inside and not any(map(kind_of, inside)):  # labels, such as a file of each person
            return [LabelSet.of_people(votes_at(path, report, words), str(path))]
        return _of_judgments(judgments_at(path), report)
    if is_workbook(path):
        return [LabelSet.of_people(votes_at(path, report, words), str(path))]
    first = first_line(path)
    # Four columns with a number last are no JSON and no header, whatever a topic is called.
    of_qrels = is_row(first) or not (
        first.lstrip().startswith((b"{", b"[")) or is_label_table(path)
    )
    if of_qrels or is_json_qrels(path) or is_graded_records(path):
        side = _of_qrels(path, report)
        if side.first is None and first.strip():
            raise InputError(f"{path}: no grades in it; give qrels, a job, or {KINDS}")
        return [side]
    if _is_header(first):
        return _of_judgments(JudgmentsReader(path), report)
    return [LabelSet.of_people(votes_at(path, report, words), str(path))]


def _is_header(line: bytes) -> bool:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(record, dict) and record.get("record") == "header"


def _of_judgments(reader: JudgmentsReader, report: OnFinding) -> list[LabelSet]:
    names = sorted(reader.header.judges)
    sides = {name: LabelSet(str(reader.path), "judgments", judge=name) for name in names}
    line = 1  # behind the header, each response and what it has
    for response, judgments in reader:
        line += 1
        group = response.topic_id, response.run_id
        rows: dict[str, dict[LabelledItem, Row]] = {}
        for number, judgment in enumerate(judgments, line + 1):
            if (side := sides.get(judgment.judge)) is not None:
                own = rows.setdefault(judgment.judge, {})
                _take_judgment(side, group, own, judgment, number, report)
        line += len(judgments)
        for name, own in rows.items():
            sides[name].put(group, list(own.values()))
    return list(sides.values())


def _take_judgment(
    side: LabelSet,
    group: Group,
    rows: dict[LabelledItem, Row],
    judgment: Judgment,
    line: int,
    report: OnFinding,
) -> None:
    if judgment.failure is not None:
        side.unjudged += 1
    elif is_other_side(judgment):
        return  # a battle is one item, and its label that of the run that sorts first
    elif judgment.label is not None and judgment.label != NOTHING_TO_CHECK:
        key = key_of(judgment)
        for name in judgment.nugget.names if judgment.nugget else ():
            side.nuggets.setdefault((key[0], name), set()).add(str(key[-1]))
        if judgment.nugget is not None:
            side.nugget_counts[judgment.label] += 1
        row = (*key[2:], apart(judgment)), judgment.label, line, _score(judgment)
        take_label(side, group, rows, row, report)


def take_label(
    side: LabelSet, group: Group, rows: dict[LabelledItem, Row], row: Row, report: OnFinding
) -> None:
    """Add an item to the rows of a group: the first of several labels counts.

    One that is labelled twice, not alike, is reported.
    """
    item, label, line, score = row
    _, before, where, known = first = rows.setdefault(item, row)
    if before != label:
        second = label, side.place(line)
        report(label_duplicate((*group, *item), second, (before, side.place(where))))
    elif known is None and score is not None:
        rows[item] = (*first[:3], score)


def _score(judgment: Judgment) -> float | None:
    """Return the value of a judgment, else the weight to be expected, None without either.

    What no attester was asked about, such as a document that is not there, certainly counts 0.
    """
    if judgment.value is not None or judgment.expected is not None:
        return judgment.expected if judgment.value is None else judgment.value
    return 0.0 if judgment.label == NONE and not judgment.attester else None


def apart(judgment: Judgment) -> str | None:
    """Return what distinguishes items of one label key: claim, nugget, citation, or measure.

    A judgment that measures a whole response has the name of the measure as its label.
    """
    if judgment.identity:
        return judgment.identity
    measured = judgment.value is not None and judgment.grade is None
    return judgment.label if measured else judgment.citation


def _of_qrels(path: Path, report: OnFinding) -> LabelSet:
    """Return grades of documents, the best of each; decimal ones are scores, and rounded labels."""
    side = LabelSet(str(path), "qrels")
    decimal = False
    graded = PackedRows()

    def counting(finding: Finding) -> None:
        side.unjudged += finding.kind == NO_GRADE
        report(finding)

    for row, grade in read_decimal_qrels(path, counting):
        graded.add((row.topic_id, row.run_id), (row.doc_id, row.grade, grade))
        decimal = decimal or row.grade != grade
    for group in graded:
        best: dict[str, tuple[int, float]] = {}
        for doc_id, rounded, grade in graded.rows(group):
            label, score = best.get(doc_id, (rounded, grade))
            best[doc_id] = max(label, rounded), max(score, grade)
        side.put(
            group,
            [
                ((doc_id,), str(label), None, score if decimal else None)
                for doc_id, (label, score) in best.items()
            ],
        )
    return side


def in_one_shape(
    truth: LabelSet, predicted: LabelSet, report: OnFinding
) -> tuple[LabelSet, LabelSet]:
    """Return both sides with items of one shape."""
    kinds = {truth.kind, predicted.kind}
    if kinds == {"judgments", "labels"}:
        names = truth.nuggets | predicted.nuggets
        return _by_key(truth, names, report), _by_key(predicted, names, report)
    if "qrels" not in kinds:
        return truth, predicted
    grades = (truth if truth.kind == "qrels" else predicted).labels
    sides = [
        side if side.kind == "qrels" else _as_qrels(side, grades) for side in (truth, predicted)
    ]
    named = [{run_id for _, run_id in side.groups if run_id} for side in sides]
    # Runs in common: then grades are compared by run; else over all runs, as classic qrels are.
    if named[0] & named[1]:
        return sides[0], sides[1]
    return _pool_runs(sides[0]), _pool_runs(sides[1])


def _by_key(
    side: LabelSet, names: Mapping[tuple[str, str], set[str]], report: OnFinding
) -> LabelSet:
    """Return a side with items as labels of people name them; the first of several counts.

    A nugget gets the name that judgments call it by, whichever of its `names` a label has.
    """
    found = LabelSet(side.name, side.kind, side.unjudged, side.judge)
    for group in side.groups:
        rows: dict[LabelledItem, Row] = {}
        for item, label, line, score in side.rows(group):
            # The last part of a judgment's item tells items of one key apart.
            judged = side.kind == "judgments"
            for key in (item[:-1],) if judged else named_items(item, group[0], names):
                take_label(side, group, rows, (key, label, line, score), report)
        found.put(group, list(rows.values()))
    return found


def named_items(
    key: LabelledItem, topic_id: str, names: Mapping[tuple[str, str], set[str]]
) -> Iterable[LabelledItem]:
    """Return the items that a label is on: two nuggets may be called alike, as by their answer."""
    index, doc_id, *nugget = key
    if not nugget:
        return (key,)
    own = names.get((topic_id, nugget[0]))
    return ((index, doc_id, name) for name in sorted(own)) if own else (key,)


def _as_qrels(side: LabelSet, grades: Collection[str]) -> LabelSet:
    """Return labels of sentences as grades of documents, the best of each run's sentences.

    Full support is 2; but 1 by people who know no partial support, beside `grades` of 0 and 1.
    """
    found = LabelSet(side.name, "qrels", side.unjudged, side.judge)
    two = side.people is not None and {*grades} <= {"0", "1"} and PARTIAL not in side.labels
    numbers = dict(GRADES) | ({FULL: 1} if two else {})
    for group in side.groups:
        best: dict[str, str] = {}
        scores: dict[str, float | None] = {}
        for (_, doc_id, *_), label, _, score in side.rows(group):
            if doc_id is not None:
                grade = str(numbers.get(label, label))
                if not grade.lstrip("-").isdigit():
                    message = f"label {label!r} is no grade; qrels hold grades"
                    hint = f"say what it means: --map {quote(label)}=GRADE"
                    raise InputError(f"{side.name}: {message}: {hint}")
                best[doc_id] = max(best.get(doc_id, grade), grade, key=int)
                before = scores.setdefault(doc_id, score)
                known = None if before is None or score is None else max(before, score)
                scores[doc_id] = known
        found.put(group, [((d,), grade, None, scores[d]) for d, grade in best.items()])
    return found


def _pool_runs(side: LabelSet) -> LabelSet:
    found = LabelSet(side.name, side.kind, side.unjudged)
    runs: dict[str, list[Group]] = {}
    for group in side.groups:
        runs.setdefault(group[0], []).append(group)
    for topic_id, groups in runs.items():
        best: dict[LabelledItem, tuple[str, float | None]] = {}
        for item, label, _, score in (row for group in groups for row in side.rows(group)):
            first, known = best.setdefault(item, (label, score))
            scores = [one for one in (known, score) if one is not None]
            best[item] = max(first, label, key=int), max(scores, default=None)
        rows = [(item, label, None, score) for item, (label, score) in best.items()]
        found.put((topic_id,), rows)
    return found


# What the labels of two sides are called, so that they can be compared.
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
    said = own in ((), SCALES[-1]) and name_labels(counts, SUPPORT, words).understands(counts)
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
        if not found.understands(own):
            raise InputError(f"{side.name}: {not_understood(own, found)}")
    if side.people is not None:
        side.people.call(named, nuggets, report)
    elif side.kind == "judgments":
        # Whatever else a judge says stands for itself.
        names = {label: name or label for label, name in named.names.items()}
        side.naming = Naming(names | {one: one for one in side.nugget_counts}, target)
