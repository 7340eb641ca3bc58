"""The labels of one side, of qrels, judgments or people, and two sides in one shape."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.evaluation.loading import judgments_at
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.labels import key_of, label_duplicate, placed_labels, support_label
from trecjudge.inputs.sources.containers import lines
from trecjudge.records import GRADES, NONE, Judgment, Place
from trecjudge.results.jobs import kind_of
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.trec import NO_RUN, is_json_qrels, read_decimal_qrels

LabelledItem = tuple[Any, ...]
"""(topic_id, ...): the key of an item in its file."""


@dataclass(slots=True)
class LabelSet:
    """The labels of one side by item, and scores where its judge gives some.

    `kind` is `qrels`, `judgments` or `labels`. `unjudged` counts items that have no label.
    """

    name: str
    kind: str
    labels: dict[LabelledItem, str] = field(default_factory=dict)
    scores: dict[LabelledItem, float] = field(default_factory=dict)
    unjudged: int = 0
    places: dict[LabelledItem, Place] = field(default_factory=dict)
    """Where labels stand, as far as that is known."""

    def take(self, labels: dict[LabelledItem, tuple[str, Place]], report: OnFinding) -> None:
        """Make these the labels, with their places."""
        self.labels = _known(labels, report)
        self.places = {item: place for item, (_, place) in labels.items()}


def label_set_at(path: Path, report: OnFinding) -> LabelSet:
    """Return the labels of a file, whose kind its first line decides, or those of a job.

    A job's own qrels are qrels; any other file of a job stands for its judgments. Raises
    InputError.
    """
    if not os.path.isfile(path) or kind_of(path) not in ("", "qrels", "judgments"):
        return _of_judgments(judgments_at(path), report)
    first = next(lines(path), (0, b""))[1]
    if not first.lstrip().startswith((b"{", b"[")) or is_json_qrels(path):
        return _of_qrels(path, report)
    if _is_header(first):
        return _of_judgments(JudgmentsReader(path), report)
    side = LabelSet(str(path), "labels")
    side.take(dict(placed_labels(path, report)), report)
    return side


def _is_header(line: bytes) -> bool:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(record, dict) and record.get("record") == "header"


def _of_judgments(reader: JudgmentsReader, report: OnFinding) -> LabelSet:
    """Return the labels of the first judge."""
    labels: dict[LabelledItem, tuple[str, Place]] = {}
    side = LabelSet(str(reader.path), "judgments")
    judge = next(iter(reader.header.judges))
    for place, judgment in _placed(reader):
        if judgment.judge != judge:
            continue
        item = (*key_of(judgment), _apart(judgment))
        if judgment.failure is not None:
            side.unjudged += 1
        elif judgment.label is not None:
            first = labels.setdefault(item, (judgment.label, place))
            if first[0] != judgment.label:
                report(label_duplicate(item, (judgment.label, place), first))
            elif judgment.value is not None:
                side.scores.setdefault(item, judgment.value)
    side.take(labels, report)
    return side


def _apart(judgment: Judgment) -> str | None:
    """Return what distinguishes items of one label key: claim, citation as written, or measure.

    A judgment that measures a whole response has the name of the measure as its label.
    """
    if judgment.claim is not None:
        return judgment.claim.text
    measured = judgment.value is not None and judgment.grade is None
    return judgment.label if measured else judgment.citation


def _placed(reader: JudgmentsReader) -> Iterator[tuple[Place, Judgment]]:
    """Yield every judgment with its line: behind the header, each response and what it has."""
    line = 1
    for _, judgments in reader:
        line += 1
        for judgment in judgments:
            line += 1
            yield Place(str(reader.path), line), judgment


def _of_qrels(path: Path, report: OnFinding) -> LabelSet:
    """Return grades of documents, the best of each; decimal ones are scores, and rounded labels."""
    side = LabelSet(str(path), "qrels")
    decimal = False
    for row, grade in read_decimal_qrels(path, report):
        item = (row.topic_id, row.iteration, row.doc_id)
        side.labels[item] = max(side.labels.get(item, str(row.grade)), str(row.grade), key=int)
        side.scores[item] = max(side.scores.get(item, grade), grade)
        decimal = decimal or row.grade != grade
    if not decimal:
        side.scores.clear()
    return side


def _known(
    labels: dict[LabelledItem, tuple[str, Place]], report: OnFinding
) -> dict[LabelledItem, str]:
    """Return labels of support by their one name each, grades as they are.

    Where most are of support, or grades, one that is neither cannot be compared with them: it is
    reported and left out. Labels that are of another kind altogether stay as they are.
    """
    known: dict[LabelledItem, str] = {}
    for vocabulary in (support_label, _grade):
        known = {i: name for i, (label, _) in labels.items() if (name := vocabulary(label))}
        # More than half: a few bad labels must not decide what the others are.
        if len(known) * 2 > len(labels) and (vocabulary is _grade or _is_of_support(known, labels)):
            break
    else:
        return {item: label for item, (label, _) in labels.items()}
    for item in labels.keys() - known.keys():
        label, place = labels[item]
        wanted = "grade" if vocabulary is _grade else "label of support (full, partial, none)"
        report(Finding("label_unusable", place, f"{label!r} is no {wanted}", label))
    return known


def _is_of_support(known: dict[LabelledItem, str], labels: dict[LabelledItem, Any]) -> bool:
    """Return whether labels are of support: `no` may also be the opposite of `yes`."""
    return len(known) == len(labels) or bool(set(known.values()) - {NONE})


def _grade(label: str) -> str | None:
    return label if label.removeprefix("-").isdecimal() else None


def in_one_shape(
    truth: LabelSet, predicted: LabelSet, report: OnFinding
) -> tuple[LabelSet, LabelSet]:
    """Return both sides with items of one shape."""
    kinds = {truth.kind, predicted.kind}
    if kinds == {"judgments", "labels"}:
        return _by_key(truth, report), _by_key(predicted, report)
    if "qrels" not in kinds:
        return truth, predicted
    sides = [side if side.kind == "qrels" else _as_qrels(side) for side in (truth, predicted)]
    named = [{item[1] for item in side.labels} - NO_RUN for side in sides]
    # Runs in common: then grades are compared by run; else over all runs, as classic qrels are.
    if named[0] & named[1]:
        return sides[0], sides[1]
    return _pooled(sides[0]), _pooled(sides[1])


def _by_key(side: LabelSet, report: OnFinding) -> LabelSet:
    """Return a side with items as labels of people name them; the first of several counts."""
    found = LabelSet(side.name, side.kind, unjudged=side.unjudged)
    for item, label in side.labels.items():
        # The last part of a judgment's item tells items of one key apart.
        key = item[:-1] if side.kind == "judgments" else item
        place = side.places.get(item, Place(side.name))
        first = found.labels.setdefault(key, label), found.places.setdefault(key, place)
        if first[0] != label:
            report(label_duplicate(key, (label, place), first))
        elif item in side.scores:
            found.scores.setdefault(key, side.scores[item])
    return found


def _as_qrels(side: LabelSet) -> LabelSet:
    """Return labels of sentences as grades of documents, the best of each run's sentences."""
    found = LabelSet(side.name, "qrels", unjudged=side.unjudged)
    for (topic_id, run_id, _, doc_id, *_), label in side.labels.items():
        if doc_id is None:
            continue
        grade = str(GRADES.get(label, label))
        if not grade.lstrip("-").isdigit():
            raise InputError(f"{side.name}: label {label!r} is no grade; qrels hold grades")
        item = (topic_id, run_id, doc_id)
        found.labels[item] = max(found.labels.get(item, grade), grade, key=int)
    return found


def _pooled(side: LabelSet) -> LabelSet:
    """Return the grades of documents over all runs, the best one each."""
    found = LabelSet(side.name, side.kind, unjudged=side.unjudged)
    for (topic_id, run_id, doc_id), grade in side.labels.items():
        item = (topic_id, doc_id)
        found.labels[item] = max(found.labels.get(item, grade), grade, key=int)
        score = side.scores.get((topic_id, run_id, doc_id))
        if score is not None:
            found.scores[item] = max(found.scores.get(item, score), score)
    return found
