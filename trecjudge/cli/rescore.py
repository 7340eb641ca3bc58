"""`rescore`: write qrels and leaderboards again from the judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trecjudge.cli import command_options as own
from trecjudge.cli import options as flag
from trecjudge.cli.exits import exits, warning_printer
from trecjudge.cli.printing import print_summaries
from trecjudge.cli.shared import FindingPrinter
from trecjudge.inputs.labels import read_labels
from trecjudge.inputs.labels.vocabulary import words_of
from trecjudge.results.jobs import judged_job
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.outputs import Outputs
from trecjudge.scores.scoring import score
from trecjudge.show.ranking import Wanted


@exits
def rescore(
    job: own.JudgedJob,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The folder to write to; by default that of the judgments."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="The name that output files start with; by default as before."),
    ] = None,
    human: flag.Human = None,
    mapped: flag.MapLabels = None,
    trust: own.Trust = False,
    measures: flag.MeasuresShown = None,
    wide: flag.Wide = False,
    all_runs: flag.AllRuns = False,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Write qrels and leaderboards again from a job's judgments.

    No model is asked.
    """
    wanted = Wanted.of(measures or (), wide, all_runs)
    judged = judged_job(job)
    reader = JudgmentsReader(judged.judgments)
    outputs = Outputs(out_dir or judged.place.parent, name or judged.place.name)
    # Locked as by a job, since it writes the same files.
    with outputs.held(warning_printer(quiet)):
        printer = FindingPrinter(quiet)
        labels = read_labels(human, printer, words_of(mapped or ())) if human else None
        summary = score(reader, outputs, labels, printer, trust)
        printer.close()
    print_summaries([summary], quiet, as_json, wanted)
    return max(summary.exit_status, printer.status())
