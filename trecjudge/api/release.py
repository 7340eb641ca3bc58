"""A gate for releases and the report of a job, from Python."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from trecjudge.api.inputs import PathLike, names, warn
from trecjudge.api.result import Result
from trecjudge.errors import InputError
from trecjudge.evaluation.comparing import truth_at
from trecjudge.evaluation.gating import Gate, GateRequest, check_release
from trecjudge.findings import OnFinding, brief
from trecjudge.results.jobs import JobFiles, judged_job, outcome
from trecjudge.results.outputs import Outputs
from trecjudge.show.failing import write_junit
from trecjudge.show.html.writing import MOST, ReportOptions, write_report
from trecjudge.stats.alignment import AllRows
from trecjudge.stats.scores import Duplicates

Judged: TypeAlias = "Result | PathLike"
Limits: TypeAlias = Mapping[str, float]


def gate(
    found: Judged,
    *,
    min: Limits | None = None,
    max: Limits | None = None,
    baseline: Judged | None = None,
    max_drop: float | Limits | None = None,
    move_baseline: bool = False,
    lower_is_better: str | tuple[str, ...] = (),
    strict: bool = False,
    all_rows: AllRows = "error",
    duplicates: Duplicates = "error",
    format_name: str = "auto",
    junit: PathLike | None = None,
    on_finding: OnFinding = warn,
) -> Gate:
    """Return whether the runs of a result or leaderboard keep rules: `.passed` and `.broken`.

    The arguments are the flags of the command. `max_drop` is a number for the measure that ranks
    the runs, or numbers by measure, by `all` for each that has a better side and bounds. As a text
    a gate has a line for each broken rule, so that `assert found.passed, found` says why. Raises
    InputError, and WorkflowError for a rule that cannot be understood.
    """
    request = GateRequest(
        minimum=tuple(_rules(min)),
        maximum=tuple(_rules(max)),
        baseline=_place(baseline, "baseline") if baseline is not None else None,
        max_drop=tuple(_rules(max_drop)),
        lower_is_better=names(lower_is_better),
        strict=strict,
        all_rows=all_rows,
        duplicates=duplicates,
        format_name=format_name,
        move_baseline=move_baseline,
    )
    place = _place(found, "found")
    gated = check_release(outcome(place) if isinstance(place, Path) else place, request, on_finding)
    if junit is not None:
        write_junit(Path(junit), gated)
    return gated


def _rules(given: float | Limits | None) -> Iterator[str]:
    """Yield rules as the flags of the command have them."""
    if isinstance(given, Mapping):
        yield from (f"{measure}={limit}" for measure, limit in given.items())
    elif given is not None:
        yield str(given)


def _place(given: Judged, name: str) -> JobFiles | Path:
    if isinstance(given, Result):
        return given.outcome()
    if isinstance(given, str | os.PathLike):
        return Path(given)
    raise InputError(f"{name}: {brief(given)}: give a result or a path")


def report(
    found: Judged,
    *,
    compare: Judged | None = None,
    truth: PathLike | None = None,
    document_text: bool | None = None,
    max_size: float = MOST,
    trust: bool = False,
    on_finding: OnFinding = warn,
) -> Path:
    """Write NAME.report.html of a result or job beside its files, and return its path.

    The arguments are the flags of the command. A result that has no `out_dir` lies in a temporary
    folder, and its report with it: `write` the result first. Raises InputError, and OutputError
    where it cannot be written.
    """
    options = ReportOptions(
        outputs=_outputs(found),
        document_text=document_text,
        compare=_outputs(compare) if compare is not None else None,
        truth=truth_at(Path(truth), on_finding) if truth is not None else None,
        most=max_size,
        trust=trust,
    )
    with options.outputs.lock():
        return write_report(options).path


def _outputs(given: Judged) -> Outputs:
    place = _place(given, "job")
    return given.outputs if isinstance(given, Result) else judged_job(Path(str(place))).outputs
