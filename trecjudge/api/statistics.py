"""Statistics from Python: compare, agree and meta-evaluate, on results, files and data frames."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from trecjudge.api.inputs import InputFiles, PathLike, json_line, names, object_of, warn
from trecjudge.api.result import Result
from trecjudge.api.tables import WANTED, Board, boards, is_frame, is_missing, records_of
from trecjudge.errors import InputError, unknown
from trecjudge.evaluation import agreement as agreeing
from trecjudge.evaluation import comparing
from trecjudge.evaluation.agreement import Agreement
from trecjudge.evaluation.comparing import Comparison
from trecjudge.findings import Finding, OnFinding, brief
from trecjudge.inputs.labels.said import said_in
from trecjudge.results.jobs import only_one
from trecjudge.stats import meta
from trecjudge.stats.alignment import AllRows, OneSidedRuns, Rules
from trecjudge.stats.correlation import DEFAULT
from trecjudge.stats.meta import Correlated
from trecjudge.stats.scores import Duplicates, Scores

Labels: TypeAlias = "PathLike | Result | Iterable[Mapping[str, Any]] | Any"
"""A file of labels, qrels or judgments, a result, a data frame, or records as in such a file."""


def compare(
    *leaderboards: Board,
    measures: str | Collection[str] = (),
    runs: str | Collection[str] = (),
    against: str = "",
    duplicates: Duplicates = "first",
    format_name: str = "auto",
    on_finding: OnFinding = warn,
) -> Comparison:
    """Return how systems, or two judgments of one, differ by each measure, paired over topics.

    Runs that all leaderboards have are compared with themselves, else every run with `against`, or
    the first. Raises InputError where nothing can be compared.
    """
    _check_given(leaderboards)
    _check_choice("duplicates", duplicates, Duplicates)
    tables, jobs = boards(leaderboards, on_finding, duplicates, format_name)
    return comparing.compare(tables, jobs, on_finding, names(measures), names(runs), against)


@dataclass(frozen=True, slots=True)
class MetaEvaluation:
    """Each measure of the leaderboards beside each of the truth, those of one name first."""

    pairs: tuple[Correlated, ...]
    truth: Scores
    leaderboards: tuple[Scores, ...]


def meta_evaluate(
    *leaderboards: Board,
    truth: Board,
    truth_measures: str | Sequence[str] = (),
    measures: str | Sequence[str] = (),
    correlations: str | Sequence[str] = (),
    on_missing: OneSidedRuns = "error",
    all_rows: AllRows = "checked",
    duplicates: Duplicates = "first",
    format_name: str = "auto",
    truth_format: str = "auto",
    on_finding: OnFinding = warn,
) -> MetaEvaluation:
    """Return how far leaderboards order the runs as one that people made.

    Raises InputError for runs on one side only, unless `on_missing` allows them, and for fewer than
    three in common.
    """
    _check_given(leaderboards)
    _check_choice("duplicates", duplicates, Duplicates)
    _check_choice("on_missing", on_missing, OneSidedRuns)
    _check_choice("all_rows", all_rows, AllRows)
    asked = (names(one) for one in (correlations or DEFAULT, truth_measures, measures))
    rules = Rules(on_missing, all_rows, *asked)
    people, jobs = boards([truth], on_finding, duplicates, truth_format)
    only_one(truth, jobs, "leaderboards")
    tables, _ = boards(leaderboards, on_finding, duplicates, format_name)
    found = [one for t in tables for one in meta.meta_evaluate(people[0], t, rules, on_finding)]
    found.sort(key=lambda one: not one.of_one_name)
    return MetaEvaluation(tuple(found), people[0], tuple(tables))


def agree(
    truth: Labels,
    predicted: Labels,
    *,
    threshold: int = 1,
    on_missing: Literal["common", "zero", "error"] = "common",
    judge: str = "",
    mapped: Mapping[str, str] | None = None,
    on_finding: OnFinding = warn,
) -> Agreement:
    """Return how far two sets of labels agree on the same items.

    Of several judges, `judge` says which; `mapped` is what labels of people mean to it, where that
    is not known. Rows of frames and records without a label are left out, as an item that nobody
    labelled. Raises InputError where nothing is in common, and for several judges of whom none is
    named.
    """
    _check_choice("on_missing", on_missing, agreeing.OneSidedItems)
    with tempfile.TemporaryDirectory(prefix="trecjudge-") as folder:
        given = InputFiles(Path(folder))
        sides = _labels(truth, given.folder, "truth"), _labels(predicted, given.folder, "predicted")

        def report(finding: Finding) -> None:
            on_finding(given.plain(finding))

        with given.plainly():
            return agreeing.agree(*sides, report, threshold, on_missing, judge, mapped)


def _check_given(leaderboards: Sequence[Board]) -> None:
    if not leaderboards:
        raise InputError(f"there is no leaderboard: {WANTED}")


def _check_choice(name: str, value: object, choices: Any) -> None:
    """Raise InputError for what is none of the choices of an argument, a Literal."""
    if value not in get_args(choices):
        raise InputError(unknown(name, value, get_args(choices)))


def _labels(given: Labels, folder: Path, name: str) -> Path:
    """Return the file of a side; records become one in `folder`."""
    if isinstance(given, Result):
        given.responses()  # whether they are still there
        return given.files["judgments"]
    if isinstance(given, str | os.PathLike):
        return Path(given)
    if isinstance(given, Mapping) or (not isinstance(given, Iterable) and not is_frame(given)):
        raise InputError(f"{name}: {brief(given)}: {WANTED}, or a list of records")
    records = records_of(given) if is_frame(given) else list(given)
    path = folder / f"{name}.jsonl"
    with path.open("wb") as file:
        for number, record in enumerate(records, 1):
            entries = object_of(record, name, number).items()
            fields = {key: None if is_missing(value) else value for key, value in entries}
            if said_in(fields):
                file.write(json_line(fields, name, number))
    return path
