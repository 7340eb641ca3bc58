"""The labels of one side, of qrels, judgments or people, and two sides in one shape."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.evaluation.loading import judgments_at
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.labels import key_of, label_duplicate, read_labels, support_label
from trecjudge.inputs.nuggets.assessments import KINDS, is_table
from trecjudge.inputs.packed import Group, PackedRows
from trecjudge.inputs.sources.containers import first_line
from trecjudge.records import GRADES, NONE, NOTHING_TO_CHECK, Judgment, Place
from trecjudge.results.graded_records import NO_GRADE, is_graded_records
from trecjudge.results.jobs import kind_of
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.trec import NO_RUN, is_json_qrels, read_decimal_qrels

LabelledItem = tuple[Any, ...]
"""(topic_id, ...): the key of an item in its file."""
Row = tuple[LabelledItem, str, int | None, float | None]
"""The part of an item's key behind its group, its label, its line, a score where there is one."""


@dataclass(slots=True)
class LabelSet:
    """The labels of one side by item, and scores where its judge gives some.

    `kind` is `qrels`, `judgments` or `labels`. `unjudged` counts items that have no label. Items
    are grouped by topic and run (of qrels, what their second column holds), and packed.
    """

    name: str
    kind: str
    unjudged: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    """How many items have each label."""
    on_nuggets: set[str] = field(default_factory=set)
    """The labels of nuggets: they stand for themselves, also where they read like others."""
    names: Mapping[str, str | None] | None = None
    """What each label means, None for what is not a label; without it they stand for themselves."""
    nuggets: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """Whatever the nuggets of a topic may be called, and what those are called here."""
    _packed: PackedRows = field(default_factory=PackedRows)

    def put(self, group: Group, rows: Sequence[Row]) -> None:
        """Add the labelled items of a group that has none yet."""
        self.counts.update(label for _, label, _, _ in rows)
        self._packed.put(group, rows)

    @property
    def groups(self) -> Iterator[Group]:
        """The groups, (topic_id, run_id), in the order of the file."""
        return iter(self._packed)

    @property
    def labels(self) -> set[str]:
        """The labels that items have."""
        found = self.counts if self.names is None else map(self.names.get, self.counts)
        return {label for label in found if label is not None}

    @property
    def size(self) -> int:
        """How many items have a label."""
        kept = self.names
        counts = self.counts.items()
        return sum(n for label, n in counts if kept is None or kept[label] is not None)

    def rows(self, group: Group) -> list[Row]:
        """Return the labelled items of a group."""
        rows: list[Row] = self._packed.rows(group)
        names = self.names
        if names is None:
            return rows
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


def label_set_at(path: Path, report: OnFinding) -> LabelSet:
    """Return the labels of a file, whose kind its first line decides, or those of a job.

    A job's own qrels are qrels; any other file of a job stands for its judgments. Raises
    InputError.
    """
    if not os.path.isfile(path) or kind_of(path) not in ("", "qrels", "judgments"):
        return _of_judgments(judgments_at(path), report)
    first = first_line(path)
    of_qrels = not first.lstrip().startswith((b"{", b"[")) and not is_table(path)
    if of_qrels or is_json_qrels(path) or is_graded_records(path):
        side = _of_qrels(path, report)
        if side.first is None and first.strip():
            raise InputError(f"{path}: no grades in it; give qrels, a job, or {KINDS}")
        return side
    if _is_header(first):
        return _of_judgments(JudgmentsReader(path), report)
    side = LabelSet(str(path), "labels")
    labels = read_labels(path, report)
    for group in labels.rows:
        found = labels.of(group).items()
        side.on_nuggets.update(label for item, (label, *_) in found if len(item) > 2)
        side.put(group, [(item, label, line, None) for item, (label, line, _) in found])
    _name_labels(side, report)
    return side


def _is_header(line: bytes) -> bool:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(record, dict) and record.get("record") == "header"


def _of_judgments(reader: JudgmentsReader, report: OnFinding) -> LabelSet:
    """Return the labels of the first judge."""
    side = LabelSet(str(reader.path), "judgments")
    judge = next(iter(reader.header.judges))
    line = 1  # behind the header, each response and what it has
    for response, judgments in reader:
        line += 1
        rows: dict[LabelledItem, Row] = {}
        for number, judgment in enumerate(judgments, line + 1):
            if judgment.judge != judge:
                continue
            if judgment.failure is not None:
                side.unjudged += 1
            elif judgment.label not in (None, NOTHING_TO_CHECK):
                key = key_of(judgment)
                item = (*key[2:], apart(judgment))
                for name in judgment.nugget.names if judgment.nugget else ():
                    side.nuggets.setdefault((key[0], name), set()).add(str(key[-1]))
                row = item, judgment.label, number, _score(judgment)
                if judgment.nugget is not None:
                    side.on_nuggets.add(judgment.label)
                _take(side, (response.topic_id, response.run_id), rows, row, report)
        line += len(judgments)
        side.put((response.topic_id, response.run_id), list(rows.values()))
    _name_labels(side, report)
    return side


def _take(
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
        graded.add((row.topic_id, row.iteration), (row.doc_id, row.grade, grade))
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


def _name_labels(side: LabelSet, report: OnFinding) -> None:
    """Give labels of support their one name each, and leave grades as they are.

    Where most are of support, or grades, one that is neither cannot be compared with them: it is
    reported and left out. Labels that are of another kind altogether stay as they are.
    """
    others = {label: n for label, n in side.counts.items() if label not in side.on_nuggets}
    every = sum(others.values())
    for vocabulary in (support_label, _grade):
        names = {label: vocabulary(label) for label in others}
        known = sum(n for label, n in others.items() if names[label])
        # More than half: a few bad labels must not decide what the others are.
        if known * 2 > every and (
            vocabulary is _grade or known == every or _are_of_support(names.values())
        ):
            break
    else:
        return
    wanted = "grade" if vocabulary is _grade else "label of support (full, partial, none)"
    bad = {label for label, name in names.items() if name is None}
    for group in side.groups if bad else ():
        for _, label, line, _ in side.rows(group):
            if label in bad:
                message = f"{label!r} is no {wanted}"
                report(Finding("label_unusable", side.place(line), message, label))
    side.names = names | {label: label for label in side.on_nuggets}


def _are_of_support(names: Iterable[str | None]) -> bool:
    """Return whether labels are of support: `no` may also be the opposite of `yes`."""
    return bool(set(names) - {NONE, None})


def _grade(label: str) -> str | None:
    return label if label.removeprefix("-").isdecimal() else None


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
    sides = [side if side.kind == "qrels" else _as_qrels(side) for side in (truth, predicted)]
    named = [{run_id for _, run_id in side.groups} - NO_RUN for side in sides]
    # Runs in common: then grades are compared by run; else over all runs, as classic qrels are.
    if named[0] & named[1]:
        return sides[0], sides[1]
    return _pooled(sides[0]), _pooled(sides[1])


def _by_key(
    side: LabelSet, names: Mapping[tuple[str, str], set[str]], report: OnFinding
) -> LabelSet:
    """Return a side with items as labels of people name them; the first of several counts.

    A nugget gets the name that judgments call it by, whichever of its `names` a label has.
    """
    found = LabelSet(side.name, side.kind, side.unjudged)
    for group in side.groups:
        rows: dict[LabelledItem, Row] = {}
        for item, label, line, score in side.rows(group):
            # The last part of a judgment's item tells items of one key apart.
            judged = side.kind == "judgments"
            for key in (item[:-1],) if judged else _named(item, group[0], names):
                _take(side, group, rows, (key, label, line, score), report)
        found.put(group, list(rows.values()))
    return found


def _named(
    key: LabelledItem, topic_id: str, names: Mapping[tuple[str, str], set[str]]
) -> Iterable[LabelledItem]:
    """Return the items that a label is on: two nuggets may be called alike, as by their answer."""
    index, doc_id, *nugget = key
    if not nugget:
        return (key,)
    own = names.get((topic_id, nugget[0]))
    return ((index, doc_id, name) for name in sorted(own)) if own else (key,)


def _as_qrels(side: LabelSet) -> LabelSet:
    """Return labels of sentences as grades of documents, the best of each run's sentences."""
    found = LabelSet(side.name, "qrels", side.unjudged)
    for group in side.groups:
        best: dict[str, str] = {}
        scores: dict[str, float | None] = {}
        for (_, doc_id, *_), label, _, score in side.rows(group):
            if doc_id is not None:
                grade = str(GRADES.get(label, label))
                if not grade.lstrip("-").isdigit():
                    message = f"label {label!r} is no grade; qrels hold grades"
                    raise InputError(f"{side.name}: {message}")
                best[doc_id] = max(best.get(doc_id, grade), grade, key=int)
                before = scores.setdefault(doc_id, score)
                known = None if before is None or score is None else max(before, score)
                scores[doc_id] = known
        found.put(group, [((d,), grade, None, scores[d]) for d, grade in best.items()])
    return found


def _pooled(side: LabelSet) -> LabelSet:
    """Return the grades of documents over all runs, the best one each."""
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
