"""`merge`: the parts of a job that were judged by --shard, as one job."""

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
from trecjudge.job.shards.together import complete, lacking, merge_parts, parts_at
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.outputs import Outputs
from trecjudge.scores.scoring import score
from trecjudge.show.ranking import Wanted


@exits
def merge(
    parts: Annotated[
        list[Path],
        typer.Argument(help="The parts: NAME.shard-I-of-N.config.yml, or folders with them."),
    ],
    out_dir: flag.OutDir = Path("out"),
    name: flag.Name = "default",
    compress: flag.Compress = False,
    human: flag.Human = None,
    mapped: flag.MapLabels = None,
    trust: own.Trust = False,
    measures: flag.MeasuresShown = None,
    wide: flag.Wide = False,
    all_runs: flag.AllRuns = False,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Put the parts of a job together, and score them.

    The files are those that one command would have written. Packed parts are read as well.
    """
    wanted = Wanted.of(measures or (), wide, all_runs)
    outputs = Outputs(out_dir, name, compress)
    found, warn = parts_at(parts), warning_printer(quiet)
    for why in lacking(found):
        warn(why)
    with outputs.held(warn):
        printer = FindingPrinter(quiet)
        labels = read_labels(human, printer, words_of(mapped or ())) if human else None
        merge_parts(found, outputs)
        summary = score(JudgmentsReader(outputs.judgments), outputs, labels, printer, trust)
        printer.close()
        complete(found, outputs, summary)
    print_summaries([summary], quiet, as_json, wanted)
    return max(summary.exit_status, printer.status())
