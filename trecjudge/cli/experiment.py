"""`experiment`: variants of retrieval and answers, made, checked, judged and compared."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

from trecjudge.cli.exits import print_errors, warning_printer
from trecjudge.cli.flags import ModelFlags, OutputFlags, PrintFlags, ReportFlags
from trecjudge.cli.jobs import model_of
from trecjudge.cli.parameters import LimitFlags, argument, command_with, option
from trecjudge.cli.printing import (
    FindingPrinter,
    print_json,
    print_lines,
    print_plans,
    print_table,
    progress_shown,
    report_written,
)
from trecjudge.job.experiment.reading import read_experiment
from trecjudge.job.experiment.running import (
    ExperimentJob,
    ExperimentReport,
    plan_experiment,
    run_experiment,
)
from trecjudge.results.outputs import Outputs
from trecjudge.settings.plugins import find_in_working_folder
from trecjudge.show.evaluation import closing_lines, variant_tables


class ExperimentFlags(LimitFlags, ModelFlags, OutputFlags, ReportFlags, PrintFlags):
    """The experiment, and where its files go."""

    WITHOUT: ClassVar = frozenset({"compress"})
    file: Path = argument("The experiment, a YAML file.", metavar="FILE")
    name: str = option("The name that output files start with.", "experiment")


@command_with(ExperimentFlags)
def experiment(flags: ExperimentFlags) -> int:
    """Make, judge and compare variants of retrieval and answers.

    Each variant of the file is a run. All are judged by one job, and compared with the first. Runs
    of unchanged inputs are not made again.
    """
    find_in_working_folder()  # for the user's own judges, measures and prompts
    options = model_of(flags)
    printer, warn = FindingPrinter(flags.quiet), warning_printer(flags.quiet)
    given = read_experiment(flags.file, flags.use_env_llm)
    outputs = Outputs(flags.out_dir, flags.name)
    asked = ExperimentJob(given, outputs, options, printer, warn, tuple(sys.argv))
    if flags.plan:
        return _plan(asked, flags)
    with outputs.lock(warn):
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


def _print(found: ExperimentReport) -> None:
    for table in variant_tables(found):
        print_table(table)
    print_lines(closing_lines(found))
