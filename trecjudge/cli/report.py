"""`report`: one HTML file from the leaderboard to the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trecjudge.cli import command_options as own
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits, warning_printer
from trecjudge.cli.lazy import Later
from trecjudge.cli.printing import print_json, print_lines
from trecjudge.errors import InputError
from trecjudge.results.jobs import judged_job, outcome
from trecjudge.show.html.output import ReportInputs

if TYPE_CHECKING:  # numpy and jinja2: not for --help
    from trecjudge.evaluation import loading
    from trecjudge.show.html import writing
    from trecjudge.stats import alignment
    from trecjudge.stats.scores import Scores
else:
    loading = Later("trecjudge.evaluation.loading")
    writing = Later("trecjudge.show.html.writing")
    alignment = Later("trecjudge.stats.alignment")


@exits
def report_output(
    job: own.JudgedJob,
    name: own.JobName = None,
    responses: flag.Responses = None,
    topics: flag.Topics = None,
    documents: flag.Documents = None,
    dataset: flag.Dataset = "auto",
    compare: own.Compare = None,
    truth: own.Truth = None,
    truth_measure: own.TruthMeasure = None,
    truth_format: common.TruthFormat = "auto",
    document_text: own.ReportText = None,
    max_size: own.MaxSize = 20,
    trust: own.Trust = False,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Write NAME.report.html, a job's results to browse offline.

    It has the leaderboard, responses, evidence and charts, in one file.
    """
    if truth_measure and truth is None:
        raise InputError("--truth-measure: give the leaderboard that has it, --truth FILE")
    printer = common.FindingPrinter(quiet)
    given = ReportInputs(topics, tuple(responses or ()), tuple(documents or ()), dataset)
    wanted = writing.Wanted(
        outputs=judged_job(job, name).outputs,
        inputs=given if topics or responses or documents else None,
        document_text=document_text,
        compare=judged_job(compare).outputs if compare else None,
        truth=_truth(truth, printer, truth_format) if truth else None,
        truth_measures=truth_measure or (),
        most=max_size,
        trust=trust,
    )
    # Locked as by a job: a job that rewrites these files meanwhile would mix two results.
    with wanted.outputs.held(warning_printer(quiet)):
        written = writing.write_report(wanted)
    printer.close()
    common.print_sources([wanted.truth] if wanted.truth else [], quiet)
    if as_json:
        print_json([written.as_dict()])
    elif not quiet:
        print_lines(report_lines(written))
    return printer.status()


def _truth(path: Path, printer: common.FindingPrinter, format_name: str) -> Scores:
    """Return the scores of the truth; `all` rows that contradict their topics are recomputed."""
    scores = loading.scores_at(outcome(path), printer, format_name)
    alignment.report_unjudged(scores, scores.measures, printer)
    return scores.without_all(scores.disputed)


def report_lines(written: writing.Written) -> list[str]:
    """Return lines on what a report leaves out, and where it is."""
    beside = (
        f", and {written.beside} files in {written.path.with_suffix('')}" if written.beside else ""
    )
    size = f"{written.size / 1e6:.1f} MB{beside}"
    return [*(f"note: {note}" for note in written.notes), f"report: {written.path} ({size})"]
