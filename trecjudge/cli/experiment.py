"""`experiment`: variants of retrieval and answers, made, checked, judged and compared."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from trecjudge.cli import model_options as of_model
from trecjudge.cli import options as flag
from trecjudge.cli.asking import options_of
from trecjudge.cli.exits import exits, print_errors, warning_printer
from trecjudge.cli.flags import taking
from trecjudge.cli.printing import print_json, print_lines, print_plans, print_table
from trecjudge.cli.shared import FindingPrinter
from trecjudge.cli.watching import progress_shown, report_written
from trecjudge.job.experiment.reading import read_experiment
from trecjudge.job.experiment.running import (
    Experimented,
    ExperimentJob,
    plan_experiment,
    run_experiment,
)
from trecjudge.results.outputs import Outputs
from trecjudge.settings.limits import limited
from trecjudge.settings.plugins import find_in_working_folder
from trecjudge.show.experiment import closing_lines, variant_tables


@dataclass(frozen=True, slots=True)
class ExperimentFlags:
    """What the command line asks for: a flag each."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="The experiment, a YAML file.")]
    use_env_llm: of_model.UseEnvLlm = False
    cache_dir: of_model.CacheDir = None
    cache_from: of_model.CacheFrom = None
    refresh: of_model.Refresh = False
    offline: of_model.Offline = False
    plan: of_model.Plan = False
    max_calls: of_model.MaxCalls = None
    max_tokens: of_model.MaxTokens = None
    max_cost: of_model.MaxCost = None
    out_dir: flag.OutDir = Path("out")
    name: flag.Name = "experiment"
    report: flag.Report = False
    limit: flag.LimitFlag = None
    quiet: flag.Quiet = False
    as_json: flag.AsJson = False


@exits
def run(flags: ExperimentFlags) -> int:
    """Run the experiment of a file; return the exit status."""
    with limited(flags.limit or ()):
        return _run(flags)


experiment = taking(ExperimentFlags)(lambda ctx, flags: run(flags))
experiment.__doc__ = """Make, judge and compare variants of retrieval and answers.

Each variant of the file is a run. All are judged by one job, and compared with the first. Runs of
unchanged inputs are not made again.
"""


def _run(flags: ExperimentFlags) -> int:
    find_in_working_folder()  # for the user's own judges, measures and prompts
    options = options_of(flags, flags.refresh, flags.plan)
    printer, warn = FindingPrinter(flags.quiet), warning_printer(flags.quiet)
    given = read_experiment(flags.file, flags.use_env_llm)
    outputs = Outputs(flags.out_dir, flags.name)
    asked = ExperimentJob(given, outputs, options, printer, warn, tuple(sys.argv))
    if flags.plan:
        return _plan(asked, flags)
    with outputs.held(warn):
        with progress_shown(flags.quiet, flags.as_json) as watcher:
            found = run_experiment(asked, watcher)
        if flags.report and found.summary is not None:
            found.summary.files["report"] = report_written(outputs, _note)
    printer.close()
    if flags.as_json:
        print_json([found.as_dict() | {"findings": printer.as_dicts()}])
    elif not flags.quiet:
        _print(found)
    return max(found.exit_status, printer.status())


def _plan(asked: ExperimentJob, flags: ExperimentFlags) -> int:
    with progress_shown(flags.quiet, flags.as_json) as watcher:
        plans = list(plan_experiment(asked, watcher))
    if not any(plan["name"] == asked.outputs.name for plan in plans) and not flags.quiet:
        print_errors(["note: what judging asks depends on the answers: not counted before"])
    return print_plans(plans, flags.as_json)


def _note(message: str) -> None:
    print_errors([f"note: {message}"])


def _print(found: Experimented) -> None:
    for table in variant_tables(found):
        print_table(table)
    print_lines(closing_lines(found))
