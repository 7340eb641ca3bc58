"""The main job: judge runs, once for each variant or point of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from typer import Context, Exit

from trecjudge.cli.exits import exit_status, print_errors, warning_printer
from trecjudge.cli.flags import JobFlags
from trecjudge.cli.jobs import choice_of, request_jobs
from trecjudge.cli.parameters import argument, bind_flags
from trecjudge.cli.printing import (
    print_json,
    print_lines,
    print_plans,
    print_summaries,
    progress_shown,
    report_written,
)
from trecjudge.errors import InputError
from trecjudge.inputs.labels.vocabulary import parse_label_map
from trecjudge.inputs.pipelines.fields import use_record_keys
from trecjudge.job.judges import check_jobs
from trecjudge.job.request import Job, warn_without_model
from trecjudge.job.run import plan_job, run_job, run_part
from trecjudge.job.shards.merging import part_name
from trecjudge.job.shards.shard import parse_shard, parse_workers
from trecjudge.judging.panel import make_panel, panel_spec
from trecjudge.models.opening import CommandState
from trecjudge.results.history import keep_job
from trecjudge.results.jobs import files_of
from trecjudge.results.outputs import Outputs
from trecjudge.scores.summary import INCOMPLETE, Summary
from trecjudge.settings.limits import apply_limits
from trecjudge.settings.plugins import find_in_working_folder
from trecjudge.show.closing import TableOptions, part_lines

MOST_HELD = 100
"""Points of a sweep that are locked from the start; further ones only while they are judged."""
OF_WHOLE_JOBS = {
    "history": "`gate --move-baseline` keeps what `job merge` writes",
    "human": "`job merge` takes it",
    "report": "the command `report` makes one of what `job merge` writes",
    "workers": "a part is judged by one process; take more parts",
    "all_variants": "a part is of one job: name one by --variant",
    "sweep": "a part is of one job",
}
"""Flags that a part of a job cannot have, by their names in `JobFlags`, and why."""


class RunsFlags(JobFlags):
    """The flags of the main job, with the runs as words."""

    responses: Sequence[Path] = argument(
        "Run files, or folders of them at any depth.", metavar="RUN", old=("--rag-responses",)
    )


@bind_flags(RunsFlags)
def judge_runs(_: Context, flags: RunsFlags) -> None:
    """Judge runs; write qrels, leaderboard, judgments and log.

    Flags in place of a command do the same: `--rag-responses RUN...`.
    """
    raise Exit(exit_status(lambda: judge(flags)))


def judge(flags: JobFlags) -> int:
    """Run the main job, once for each variant or sweep point; return the exit status."""
    with apply_limits(flags.limit), use_record_keys(flags.keys):
        return _judge(flags)


def _judge(flags: JobFlags) -> int:
    _check_part(flags)
    find_in_working_folder()  # for the user's own judges, measures and prompts
    jobs = jobs_asked_for(flags)
    wanted = TableOptions.of(flags.measures, flags.wide, flags.show_all)
    check_jobs(jobs)  # all of them, before the first one spends anything
    _check_measures(jobs, wanted)
    if flags.plan:
        return print_plans([_plan(job, flags) for job in jobs], flags.as_json)
    warn = warning_printer(flags.quiet)
    if message := warn_without_model(jobs):
        warn(message)
    # All are locked before the first is judged: a clash must not show after hours of work.
    command = jobs[0].model.command  # which all of them share
    with ExitStack() as held:
        for job in jobs[:MOST_HELD]:
            held.enter_context(job.outputs.lock(warn))
        if flags.history is not None:
            replace(jobs[0].outputs, folder=flags.history).prepare()  # before hours of work
        if flags.shard:
            return _with_refusal(max(_part(job, flags) for job in jobs), command, flags.quiet)
        summaries = [_summary(job, flags) for job in jobs[:MOST_HELD]]
        # Each lock holds an open file, and a process may open only some hundreds.
        for job in jobs[MOST_HELD:]:
            with job.outputs.lock(warn):
                summaries.append(_summary(job, flags))
    print_summaries(summaries, flags.quiet, flags.as_json, wanted)
    # Printed after the closing table too, since -q leaves the table out.
    print_errors(f"error: {summary.name}: {summary.bug}" for summary in summaries if summary.bug)
    return _with_refusal(max(s.exit_status for s in summaries), command, flags.quiet)


def _with_refusal(status: int, command: CommandState, quiet: bool) -> int:
    """Return the exit status where what was paid for could not be kept: said in any case."""
    if command.refused and quiet:
        print_errors([f"error: {command.refused}"])
    return max(status, INCOMPLETE) if command.refused else status


def _check_part(flags: JobFlags) -> None:
    """Raise InputError for a flag that a part of a job would pass over."""
    for name, why in OF_WHOLE_JOBS.items() if flags.shard else ():
        if getattr(flags, name) not in (None, False, "1"):
            flag = "--labels" if name == "human" else f"--{name.replace('_', '-')}"
            raise InputError(f"--shard: leave out {flag}: {why}")


def _check_measures(jobs: Sequence[Job], wanted: TableOptions) -> None:
    """Raise InputError for a measure to show that a job does not have."""
    for job in jobs if wanted.measures else ():
        panel = make_panel(job.judges, job.settings, job.made)
        spec = panel_spec(panel, job.workflow.leaderboard, job.workflow.measures)
        wanted.check([measure.name for measure in spec.measures])


def jobs_asked_for(flags: JobFlags) -> list[Job]:
    """Return the jobs that the command line asks for."""
    choice = choice_of(
        flags,
        also=flags.also,
        variant=flags.variant,
        all_variants=flags.all_variants,
        sweep=flags.sweep,
    )
    asked = parse_workers(flags.workers)
    return request_jobs(
        flags,
        _outputs(flags),
        choice,
        log=flags.log if flags.debug_log else "none",
        words=parse_label_map(flags.mapped),
        workers=asked.count,
        cluster=asked.cluster,
        shard=parse_shard(flags.shard) if flags.shard else None,
    )


def _outputs(flags: JobFlags) -> Outputs:
    """Return where a job writes; a part of one has files of its own."""
    name = part_name(flags.name, *parse_shard(flags.shard)) if flags.shard else flags.name
    return Outputs(flags.out_dir, name, flags.compress)


def _plan(job: Job, flags: JobFlags) -> dict[str, Any]:
    """Return what a job would ask."""
    with progress_shown(flags.quiet, flags.as_json) as watcher:
        return {"name": job.outputs.name} | plan_job(job, watcher)


def _part(job: Job, flags: JobFlags) -> int:
    """Judge a part of a job, say what to do with it, and return the exit status."""
    with progress_shown(flags.quiet, flags.as_json) as watcher:
        written = run_part(job, watcher)
    if flags.as_json:
        print_json([{"name": job.outputs.name} | written.as_dict()])
    elif not flags.quiet:
        print_lines(part_lines(job.outputs, written))
    return written.exit_status


def _summary(job: Job, flags: JobFlags) -> Summary:
    """Run a job and, where it is asked for, keep it in a history and write its report."""
    with progress_shown(flags.quiet, flags.as_json) as watcher:
        summary = run_job(job, watcher)
        if flags.report:
            summary.files["report"] = report_written(job.outputs, watcher.notify)
        if flags.history is not None and not summary.bug:
            files = files_of(job.outputs)
            kept = keep_job(files, flags.history, watcher.notify, with_report=flags.report)
            summary.files["history"] = str(kept)
        return summary
