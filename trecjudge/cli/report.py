"""`report`: one HTML file from the leaderboard to the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trecjudge.cli.exits import Later, warning_printer
from trecjudge.cli.flags import (
    TRUTH,
    JudgedJobFlags,
    PrintFlags,
    RunFlags,
    TrustFlags,
    TruthFormatFlags,
)
from trecjudge.cli.parameters import command_with, option, part, several
from trecjudge.cli.printing import FindingPrinter, print_json, print_lines, print_sources
from trecjudge.errors import InputError
from trecjudge.results.config import RecordedInputs
from trecjudge.results.history import is_entry
from trecjudge.results.jobs import JobFiles, jobs_at, judged_job, only_one
from trecjudge.text.credentials import public

if TYPE_CHECKING:  # numpy, pydantic and jinja2: not for --help
    from trecjudge.evaluation import comparing
    from trecjudge.show.html import nights, writing
else:
    nights = Later("trecjudge.show.html.nights")
    comparing = Later("trecjudge.evaluation.comparing")
    writing = Later("trecjudge.show.html.writing")


class HtmlReportFlags(JudgedJobFlags, RunFlags, TruthFormatFlags, TrustFlags, PrintFlags):
    """The job, and what its report shows beside it."""

    compare: Path | None = option(
        "Another job on the same runs, to show which judgments differ.",
        None,
        "--against",
        old=("--compare",),
    )
    truth: Path | None = part("--truth", "", TRUTH)
    truth_measure: Sequence[str] = part(
        "--truth",
        "measure",
        "The one to compare with: THEIRS for the one that ranks, or OURS=THEIRS; by default the"
        " one of the same name.",
        (),
    )
    document_text: bool | None = option(
        "Include document text in the report; by default as in the job.",
        None,
        "--document-text/--no-document-text",
    )
    max_size: float = part(
        "--max", "size", "MB of the file, above which details go into a folder (20).", 20, min=0
    )
    note: Sequence[str] = several("A sentence that stands on the page, first of its notes.")
    for_run: Sequence[str] = several(
        "Write a sheet for the team of these runs instead: all of their own, and of other runs only"
        " the best, median and worst value.",
        "--run",
        old=("--for-run",),
    )
    each_run: Path | None = option(
        "Write a sheet for each run (of --run, where given) into this folder.", metavar="DIR"
    )


@command_with(HtmlReportFlags)
def report_output(flags: HtmlReportFlags) -> int:
    """Write NAME.report.html, a job's results to browse offline.

    It has the leaderboard, responses, evidence and charts, in one file. With --run or --each-run it
    is a sheet for a team, which names no other run. Of a folder with several jobs, as --history
    fills one, it is index.html: how runs stand from job to job, with links to the reports.
    """
    jobs = [job for job in jobs_at(flags.job) if job.judgments and flags.name is None]
    if len(jobs) > 1 or (flags.job.is_dir() and any(map(is_entry, jobs))):
        return _index(flags, jobs)
    sheets = bool(flags.for_run or flags.each_run)
    if sheets and (flags.compare or flags.truth):
        other = "--against" if flags.compare else "--truth"
        raise InputError(f"{other}: shows all runs; a sheet of --run or --each-run has none")
    if flags.truth_measure and flags.truth is None:
        raise InputError(
            "--truth: give the leaderboard that has the measure, --truth FILE measure=NAME"
        )
    printer, truth = FindingPrinter(flags.quiet), flags.truth
    given = RecordedInputs.given(flags.topics, flags.responses, flags.documents, flags.dataset)
    wanted = writing.ReportOptions(
        outputs=judged_job(flags.job, flags.name).outputs,
        inputs=given,
        document_text=flags.document_text,
        compare=judged_job(flags.compare).outputs if flags.compare else None,
        truth=comparing.truth_at(truth, printer, flags.truth_format) if truth else None,
        truth_measures=flags.truth_measure,
        most=flags.max_size,
        trust=flags.trust,
        told=[public(note) for note in flags.note],
        runs=flags.for_run,
        sheets=flags.each_run,
    )
    # Locked as by a job: a job that rewrites these files meanwhile would mix two results.
    with wanted.outputs.lock(warning_printer(flags.quiet)):
        files = writing.write_sheets(wanted) if sheets else [writing.write_report(wanted)]
    printer.close()
    print_sources([wanted.truth] if wanted.truth else [], flags.quiet)
    if flags.as_json:
        found = [written.as_dict() for written in files]
        print_json([{"sheets": found}] if sheets else found)
    elif not flags.quiet:
        print_lines(line for written in files for line in report_lines(written))
    return printer.status()


def _index(flags: HtmlReportFlags, jobs: Sequence[JobFiles]) -> int:
    if flags.compare or flags.truth or flags.for_run or flags.each_run:
        only_one(flags.job, jobs, "jobs")
    printer = FindingPrinter(flags.quiet)
    path = nights.write_nights(flags.job, jobs, printer)
    printer.close()
    if flags.as_json:
        print_json([{"index": str(path), "jobs": [str(job.place) for job in jobs]}])
    elif not flags.quiet:
        print_lines(nights.index_lines(path, jobs))
    return printer.status()


def report_lines(written: writing.Written) -> list[str]:
    """Return lines on what a report leaves out, and where it is."""
    beside = (
        f", and {written.beside} files in {written.path.with_suffix('')}" if written.beside else ""
    )
    size = f"{written.size / 1e6:.1f} MB{beside}"
    return [*(f"note: {note}" for note in written.notes), f"report: {written.path} ({size})"]
