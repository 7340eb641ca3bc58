"""Judgments on nuggets, written as the files in which the tracks exchange them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.files import whole
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.labels.label_files import RANK, RUBRIC_RANK
from trecjudge.records import Judgment, Place, Response
from trecjudge.results.judgments import JudgmentsReader

Judged = tuple[Response, Sequence[Judgment]]
FAILED = "failed"
"""What AutoNuggetizer writes where no label was given."""


def write_assessments(path: Path, target: Path, to: str, report: OnFinding) -> int:
    """Write the judgments of a file in a track's format; return how many labels were written.

    A failed judgment is written without a label, and reported. Raises InputError where no judgment
    fits the format.
    """
    lines = list(WRITERS[to](JudgmentsReader(path), report))
    if not any(count for _, count in lines):
        raise InputError(f"{path}: has no judgments for {to}; its judge must be {JUDGES[to]}")
    with whole(target) as file:
        file.writelines(text.encode() for text, _ in lines)
    return sum(count for _, count in lines)


def _answers(read: Iterable[Judged], report: OnFinding) -> Iterator[tuple[str, int]]:
    """Yield the lines of DRAGUN's assessments of short answers."""
    yield _line("topic_id", "run_tag", "answer_id", "auto_assessment", "auto_rationale"), 0
    for _, judgments in read:
        for j in judgments:
            _missing(j, report)
            if j.nugget is not None and j.nugget.answer and j.sentence_index is None:
                answer = j.nugget.answer_id or j.nugget.answer
                yield _line(j.topic_id, j.run_id, answer, j.label or "", j.reason), 1


def _pairs(read: Iterable[Judged], report: OnFinding) -> Iterator[tuple[str, int]]:
    """Yield the lines of DRAGUN's comparisons of a run's questions with those of the rubric."""
    yield _line("topic_id", "run_tag", RANK, RUBRIC_RANK, "auto_assessment"), 0
    for _, judgments in read:
        for j in judgments:
            if j.nugget is not None and j.sentence_index is not None:
                _missing(j, report)
                rank = j.nugget.answer_id.removeprefix("rank-")
                yield _line(j.topic_id, j.run_id, j.sentence_index + 1, rank, j.label or ""), 1


def _forms(read: Iterable[Judged], report: OnFinding) -> Iterator[tuple[str, int]]:
    """Yield the lines of DRAGUN's decisions on which questions are compound."""
    yield _line("topic_id", "run_tag", RANK, "auto_compound_question_assessment"), 0
    for _, judgments in read:
        for j in judgments:
            if j.nugget is None and j.sentence_index is not None:
                _missing(j, report)
                yield _line(j.topic_id, j.run_id, j.sentence_index + 1, j.label or ""), 1


def _assignments(read: Iterable[Judged], report: OnFinding) -> Iterator[tuple[str, int]]:
    """Yield the lines of AutoNuggetizer's assignments, one a response."""
    for response, judgments in read:
        nuggets = []
        for j in judgments:
            _missing(j, report)
            if j.nugget is not None and not (j.nugget.answer or j.nugget.answer_id):
                nugget = {"text": j.nugget.text, "importance": j.nugget.importance}
                nuggets.append(nugget | {"assignment": j.label or FAILED})
        if nuggets:
            record = {"qid": response.topic_id, "run_id": response.run_id}
            words = {"answer_text": response.shown, "response_length": len(response.shown.split())}
            line = json.dumps({**record, **words, "nuggets": nuggets}, ensure_ascii=False)
            yield f"{line}\n", len(nuggets)


WRITERS: Mapping[str, Callable[[Iterable[Judged], OnFinding], Iterator[tuple[str, int]]]] = {
    "dragun_assessments": _answers,
    "dragun_questions": _pairs,
    "dragun_compound": _forms,
    "nuggetizer_assignments": _assignments,
}
JUDGES = {
    "dragun_assessments": "rubric",
    "dragun_questions": "rubric with task=questions",
    "dragun_compound": "rubric with task=questions",
    "nuggetizer_assignments": "nuggets",
}
"""The judge whose judgments each format holds."""


def _missing(judgment: Judgment, report: OnFinding) -> bool:
    """Return whether a judgment failed, and report it if so."""
    if judgment.judged:
        return False
    assert judgment.failure is not None
    name = next(iter(judgment.nugget.names), "") if judgment.nugget else "the response"
    message = f"run {judgment.run_id!r}: {name!r} is unjudged: {judgment.failure.message}"
    place = Place(f"topic {judgment.topic_id}")
    report(Finding("assessment_missing", place, message, run_id=judgment.run_id))
    return True


def _line(*cells: object) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
