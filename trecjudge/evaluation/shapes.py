"""Two sides of labels with items of one shape: by sentence and document, or grades of documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from shlex import quote

from trecjudge.errors import InputError
from trecjudge.evaluation.label_sets import LabelledItem, LabelSet, Row, take_label
from trecjudge.findings import OnFinding
from trecjudge.inputs.packed import Group
from trecjudge.records import FULL, GRADES, PARTIAL


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
    return _pooled(sides[0]), _pooled(sides[1])


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
