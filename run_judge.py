"""Judge the output of retrieval-augmented generation systems in batch: the command line."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trecjudge import options as flag
from trecjudge.commands.agree import agree
from trecjudge.commands.cache import cache_app
from trecjudge.commands.calibrate import calibrate
from trecjudge.commands.check import check_runs
from trecjudge.commands.compare import compare
from trecjudge.commands.convert import convert
from trecjudge.commands.ending import (
    exits,
    guarded,
    print_listing,
    print_plans,
    print_summaries,
    warned,
)
from trecjudge.commands.gate import gate
from trecjudge.commands.label_next import label_next
from trecjudge.commands.meta_evaluate import meta_evaluate
from trecjudge.commands.report import report_output
from trecjudge.commands.show import show_response
from trecjudge.commands.statistics import Heard

if TYPE_CHECKING:
    from trecjudge.job import Job
    from trecjudge.llm.opening import ModelOptions
    from trecjudge.progress import ConsoleWatcher
    from trecjudge.summary import Summary

SEVERAL = ("--rag-responses", "--documents", "--cache-from")
MOST_HELD = 100
"""Points of a sweep whose files are locked from the beginning to the end; others in their turn."""


app = typer.Typer(
    help="Judge RAG runs of TREC RAG, RAGTIME and DRAGUN, the way TREC does.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def main(
    ctx: typer.Context,
    responses: flag.Responses = None,
    topics: flag.Topics = None,
    documents: flag.Documents = None,
    own_documents: flag.OwnDocuments = False,
    qrels: flag.Qrels = None,
    dataset: flag.Dataset = "auto",
    only_topics: flag.OnlyTopics = None,
    only_runs: flag.OnlyRuns = None,
    max_topics: flag.MaxTopics = None,
    max_runs: flag.MaxRuns = None,
    check: flag.Check = True,
    strict: flag.Strict = False,
    judge: flag.JudgeName = None,
    also: flag.Also = None,
    judgments_from: flag.JudgmentsFrom = None,
    calibration: flag.CalibrationFile = None,
    human: flag.Human = None,
    workflow: flag.WorkflowFile = None,
    settings: flag.Settings = None,
    variant: flag.Variant = None,
    all_variants: flag.AllVariants = False,
    sweep: flag.Sweep = None,
    use_env_llm: flag.UseEnvLlm = False,
    cache_dir: flag.CacheDir = None,
    cache_from: flag.CacheFrom = None,
    refresh: flag.Refresh = False,
    offline: flag.Offline = False,
    plan: flag.Plan = False,
    max_calls: flag.MaxCalls = None,
    max_tokens: flag.MaxTokens = None,
    max_cost: flag.MaxCost = None,
    out_dir: flag.OutDir = Path("out"),
    name: flag.Name = "default",
    qrels_pool: flag.QrelsPool = False,
    debug_log: flag.DebugLogFlag = True,
    document_text: flag.DocumentText = True,
    report: flag.Report = False,
    quiet: flag.Quiet = False,
    as_json: flag.AsJson = False,
) -> None:
    """Judge runs; write qrels, leaderboard, debug log, judgments and config."""
    if ctx.invoked_subcommand is not None:
        return
    if not responses:
        raise typer.BadParameter(
            "it is missing: give run files or folders, or a command (--help)",
            param_hint="--rag-responses",
        )
    raise typer.Exit(guarded(lambda: _run(ctx.params)))


@app.command()
@exits
def judges() -> int:
    """List the judges."""
    from trecjudge.errors import PluginError
    from trecjudge.judge import judge_class, judge_names, summary_of

    rows = []
    for name in judge_names():
        try:
            rows.append((name, summary_of(judge_class(name))))
        except PluginError as error:
            rows.append((name, f"broken: {error}"))
    return print_listing(rows)


@app.command()
@exits
def formats() -> int:
    """List the run formats."""
    from trecjudge.formats.registry import all_formats

    return print_listing([(f.NAME, f"({f.DATASET}) {f.SUMMARY}") for f in all_formats()])


@app.command()
@exits
def rescore(
    job: flag.JudgedJob,
    out_dir: Annotated[
        Path | None, typer.Option(help="Where to write; else beside the judgments.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The name of the files; else as before.")] = None,
    human: flag.Human = None,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Write qrels and leaderboards anew from the judgments of a job, with no model."""
    from trecjudge.judgments import JudgmentsReader
    from trecjudge.labels import read_labels
    from trecjudge.leaderboards.outcomes import judged_job
    from trecjudge.outputs import Outputs
    from trecjudge.scoring import score

    judged = judged_job(job)
    reader = JudgmentsReader(judged.judgments)
    outputs = Outputs(out_dir or judged.place.parent, name or judged.place.name)
    with outputs.held(warned(quiet)):
        heard = Heard(quiet)
        labels = read_labels(human, heard) if human else None
        summary = score(reader, outputs, labels, heard)
        heard.close()
    print_summaries([summary], quiet, as_json)
    return max(summary.exit_status, heard.status())


def _run(options: dict[str, Any]) -> int:
    """Run the main job, once for each variant or sweep point; return the exit status."""
    from trecjudge.pipeline import check_jobs

    jobs = _jobs(options)
    check_jobs(jobs)
    if options["plan"]:
        return print_plans([_plan(job, options) for job in jobs], options["as_json"])
    warn = warned(options["quiet"])
    with ExitStack() as held:
        for job in jobs[:MOST_HELD]:
            held.enter_context(job.outputs.held(warn))
        summaries = [_summary(job, options) for job in jobs[:MOST_HELD]]
        for job in jobs[MOST_HELD:]:
            with job.outputs.held(warn):
                summaries.append(_summary(job, options))
    print_summaries(summaries, options["quiet"], options["as_json"])
    return max(summary.exit_status for summary in summaries)


@contextmanager
def _watched(options: dict[str, Any]) -> Iterator[ConsoleWatcher]:
    """Yield what shows a job's progress; what a judge prints must not stand in the JSON."""
    from rich.console import Console

    from trecjudge.progress import ConsoleWatcher

    apart = redirect_stdout(sys.stderr) if options["as_json"] else nullcontext()
    with apart, ConsoleWatcher(Console(stderr=True), quiet=options["quiet"]) as watcher:
        yield watcher


def _plan(job: Job, options: dict[str, Any]) -> dict[str, Any]:
    """Return what a job would ask."""
    from trecjudge.pipeline import plan_job

    with _watched(options) as watcher:
        return {"name": job.outputs.name} | plan_job(job, watcher)


def _summary(job: Job, options: dict[str, Any]) -> Summary:
    """Run a job and, where it is asked for, write its report."""
    from trecjudge.pipeline import run_job

    with _watched(options) as watcher:
        summary = run_job(job, watcher)
        if options["report"]:
            summary.files["report"] = _report(job, watcher)
        return summary


def _report(job: Job, watcher: ConsoleWatcher) -> str:
    """Write the report of a finished job; return its path."""
    from trecjudge.report.writing import Wanted, write_report

    written = write_report(Wanted(job.outputs))
    for note in written.notes:
        watcher.said(f"report: {note}")
    return str(written.path)


def _jobs(options: dict[str, Any]) -> list[Job]:
    """Return the jobs that the command line asks for."""
    from trecjudge.job import Job
    from trecjudge.outputs import Outputs
    from trecjudge.panel import check_settings, check_workflow
    from trecjudge.points import Names, points, read_overrides
    from trecjudge.workflow import Workflow, find_workflow, read_workflow

    path = options["workflow"]
    shipped = Path(__file__).parent / "workflows"
    workflow = read_workflow(find_workflow(path, shipped)) if path else Workflow()
    names = Names.of(workflow, options["judge"] or (), options["also"] or ())
    overrides = read_overrides(options["settings"] or (), names)
    check_workflow(workflow, names)
    check_settings(overrides.values())
    which = (options["variant"], options["all_variants"], options["sweep"])
    same = {
        key: options[key]
        for key in (
            "topics",
            "own_documents",
            "qrels",
            "dataset",
            "max_topics",
            "max_runs",
            "debug_log",
            "document_text",
            "calibration",
            "qrels_pool",
            "check",
            "strict",
        )
    }
    model = _model_options(options)
    outputs = Outputs(options["out_dir"], options["name"])
    return [
        Job(
            judges=names.judges,
            labels=options["judgments_from"],
            human=options["human"],
            runs=options["responses"],
            documents=options["documents"] or (),
            outputs=outputs.of(point.suffix),
            workflow=point.workflow,
            settings=point.settings,
            model=model,
            only_topics=options["only_topics"] or (),
            only_runs=options["only_runs"] or (),
            command_line=tuple(sys.argv),
            **same,
        )
        for point in points(workflow, names, overrides, *which)
    ]


def _model_options(options: dict[str, Any]) -> ModelOptions:
    """Return how the jobs may use a model. Raises WorkflowError for flags that need one."""
    from trecjudge.errors import WorkflowError
    from trecjudge.llm.opening import Command, ModelOptions
    from trecjudge.llm.spending import Budget

    same = {key: options[key] for key in ("refresh", "offline", "plan")}
    most = {key: options[key] for key in ("max_calls", "max_tokens", "max_cost")}
    given = [key for key, value in (same | most).items() if value not in (None, False)]
    if given and not options["use_env_llm"]:
        flags = ", ".join(f"--{key.replace('_', '-')}" for key in given)
        raise WorkflowError(f"{flags}: only with --use-env-llm")
    if options["refresh"] and options["offline"]:
        raise WorkflowError("give one of --refresh and --offline")
    return ModelOptions(
        use=options["use_env_llm"],
        cache_folder=options["cache_dir"],
        cache_from=options["cache_from"] or (),
        command=Command(Budget(**most)),
        **same,
    )


def cli() -> None:
    """Run the command line; one `--rag-responses` may be followed by several files."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None where it is closed
            stream.reconfigure(errors="backslashreplace")
    with suppress(OSError):  # the folder may be gone
        sys.path.append(str(Path.cwd()))  # for the user's own judges, measures and prompts
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    app(list(repeated(sys.argv[1:])))


def repeated(args: list[str]) -> Iterator[str]:
    """Yield the arguments with the flag repeated before each further value."""
    flag, values = "", 0
    for arg in args:
        if arg.startswith("-") and arg != "-":
            flag, values = (arg if arg in SEVERAL else ""), 0
        elif flag:
            values += 1
            if values > 1:
                yield flag
        yield arg


app.command("calibrate")(calibrate)
app.command("check")(check_runs)
app.command("report")(report_output)
app.command("show")(show_response)
for command in (compare, gate, meta_evaluate, agree, label_next, convert):
    app.command()(command)
app.add_typer(cache_app, name="cache")

if __name__ == "__main__":
    cli()
