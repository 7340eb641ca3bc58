"""Statistics from Python: compare, agree and meta-evaluate, on results, files and data frames."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson

from trecjudge.api.given import PathLike
from trecjudge.api.reading import warn
from trecjudge.api.result import Result
from trecjudge.api.tables import Board, boards, is_frame, is_missing, records_of
from trecjudge.errors import InputError
from trecjudge.evaluation import agreement as agreeing
from trecjudge.evaluation import comparing
from trecjudge.evaluation.agreement import Agreement
from trecjudge.evaluation.comparing import Comparison
from trecjudge.findings import OnFinding
from trecjudge.stats import meta
from trecjudge.stats.alignment import AllRows, OneSidedRuns, Rules
from trecjudge.stats.cells import Duplicates
from trecjudge.stats.correlation import DEFAULT
from trecjudge.stats.meta import Correlated
from trecjudge.stats.scores import Scores

Labels: TypeAlias = "PathLike | Result | Iterable[Mapping[str, Any]] | Any"
"""A file of labels, qrels or judgments, a result, a data frame, or records as in such a file."""


def compare(
    *leaderboards: Board,
    measures: Collection[str] = (),
    runs: Collection[str] = (),
    against: str = "",
    duplicates: Duplicates = "first",
    format_name: str = "auto",
    on_finding: OnFinding = warn,
) -> Comparison:
    """Return how systems, or two judgments of one, differ by each measure, paired over topics.

    Runs that all leaderboards have are compared with themselves, else every run with `against`, or
    the first. Raises InputError where nothing can be compared.
    """
    tables, jobs = boards(leaderboards, on_finding, duplicates, format_name)
    return comparing.compare(tables, jobs, on_finding, measures, runs, against)


@dataclass(frozen=True, slots=True)
class MetaEvaluation:
    """Every measure of each leaderboard beside every measure of the truth."""

    pairs: tuple[Correlated, ...]
    truth: Scores
    leaderboards: tuple[Scores, ...]


def meta_evaluate(
    *leaderboards: Board,
    truth: Board,
    truth_measures: Sequence[str] = (),
    measures: Sequence[str] = (),
    correlations: Sequence[str] = (),
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
    rules = Rules(on_missing, all_rows, correlations or DEFAULT, truth_measures, measures)
    people, jobs = boards([truth], on_finding, duplicates, truth_format)
    if len(people) > 1:
        names = ", ".join(str(job.place) for job in jobs)
        message = f"there are {len(people)} leaderboards in it; give one of {names}"
        raise InputError(f"{truth}: {message}")
    tables, _ = boards(leaderboards, on_finding, duplicates, format_name)
    found = [one for t in tables for one in meta.meta_evaluate(people[0], t, rules, on_finding)]
    return MetaEvaluation(tuple(found), people[0], tuple(tables))


def agree(
    truth: Labels,
    predicted: Labels,
    *,
    threshold: int = 1,
    on_missing: Literal["common", "zero", "error"] = "common",
    on_finding: OnFinding = warn,
) -> Agreement:
    """Return how far two sides give the same labels to the same items.

    Rows of frames and records without a label are left out, as an item that nobody labelled. Raises
    InputError where nothing is in common.
    """
    with tempfile.TemporaryDirectory(prefix="trecjudge-") as folder:
        sides = _labels(truth, Path(folder), "truth"), _labels(predicted, Path(folder), "predicted")
        return agreeing.agree(*sides, on_finding, threshold, on_missing)


def _labels(given: Labels, folder: Path, name: str) -> Path:
    """Return the file of a side; records become one in `folder`."""
    if isinstance(given, Result):
        given.responses()  # whether they are still there
        return given.files["judgments"]
    if isinstance(given, str | os.PathLike):
        return Path(given)
    records = records_of(given) if is_frame(given) else [dict(record) for record in given]
    path = folder / f"{name}.jsonl"
    with path.open("wb") as file:
        for record in records:
            fields = {key: None if is_missing(v) else v for key, v in record.items()}
            if fields.get("label") is not None:
                option = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY
                file.write(orjson.dumps(fields, option=option))
    return path
