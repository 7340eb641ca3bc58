"""`convert`: a leaderboard in the format of another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits
from trecjudge.evaluation.loading import rows_with_companions, scores_at
from trecjudge.results.jobs import outcome
from trecjudge.results.leaderboards.layouts import LAYOUTS
from trecjudge.results.leaderboards.writing import write_rows
from trecjudge.stats.alignment import report_unjudged


@exits
def convert(
    leaderboard: common.Leaderboard,
    target: Annotated[
        Path, typer.Argument(help="The new file; for trec_eval a folder, one file a run.")
    ],
    to: Annotated[
        Literal["ir_measures", "trec_eval", "tot", "rag4reports", "jsonl", "csv"],
        typer.Option(help="The format to write."),
    ],
    format_name: common.Format = "auto",
) -> int:
    """Write a leaderboard in another format, with rows of MEASURE.unjudged where items are so."""
    printer = common.FindingPrinter()
    found = outcome(leaderboard)
    scores = scores_at(found, printer, format_name)
    # A format without companion rows would hide what is unjudged, so it is reported too.
    report_unjudged(scores, scores.measures, printer)
    write_rows(rows_with_companions(found, scores, printer, format_name), target, LAYOUTS[to])
    printer.close()
    common.print_sources([scores])
    return printer.status()
