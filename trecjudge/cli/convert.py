"""`convert`: a leaderboard, a bank of nuggets, or judgments on them in another tool's format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits, print_errors
from trecjudge.errors import InputError
from trecjudge.evaluation.loading import rows_with_companions, scores_at
from trecjudge.inputs.nuggets.reading import banks_in
from trecjudge.inputs.nuggets.registry import bank_format_named
from trecjudge.inputs.nuggets.writing import write_banks
from trecjudge.results.assessments import WRITERS, write_assessments
from trecjudge.results.jobs import judged_job, outcome
from trecjudge.results.leaderboards.layouts import LAYOUTS
from trecjudge.results.leaderboards.writing import write_rows
from trecjudge.stats.alignment import report_unjudged

Target = Literal[
    "ir_measures",
    "trec_eval",
    "tot",
    "rag4reports",
    "jsonl",
    "csv",
    "autoargue",
    "ragtime26",
    "neuclir24",
    "nuggetizer",
    "rag25_nuggets",
    "dragun_rubric",
    "exam",
    "dragun_assessments",
    "dragun_questions",
    "dragun_compound",
    "nuggetizer_assignments",
]
"""The layouts of leaderboards, then the formats of banks, then those of judgments on nuggets."""


@exits
def convert(
    source: Annotated[
        Path, typer.Argument(help="A leaderboard or a job; or a file or folder of nugget banks.")
    ],
    target: Annotated[
        Path,
        typer.Argument(
            help="The new file; for trec_eval a folder, with a file for each run; for banks a"
            " .jsonl or .jsonl.gz file, or a folder, with a file for each topic."
        ),
    ],
    to: Annotated[Target, typer.Option(metavar="FORMAT", help="The format to write.")],
    format_name: common.Format = "auto",
) -> int:
    """Write a leaderboard, or a bank, in another format.

    Unjudged items of a leaderboard are counted in rows of MEASURE.unjudged. Banks of nuggets, and
    a job's judgments on nuggets, are written in another format too.
    """
    printer = common.FindingPrinter()
    if to in WRITERS:
        count = write_assessments(judged_job(source).judgments, target, to, printer)
        printer.close()
        print_errors([f"judgments: {count}, {target}"])
        return printer.status()
    if to not in LAYOUTS:
        banks = list(banks_in([source], printer))
        if not banks:
            raise InputError(f"{source}: no bank of nuggets in it")
        files = write_banks(banks, target, bank_format_named(to))
        printer.close()
        print_errors([f"banks: {len(files)} files, {target}"])
        return printer.status()
    found = outcome(source)
    scores = scores_at(found, printer, format_name)
    # A format without companion rows would hide what is unjudged, so it is reported too.
    report_unjudged(scores, scores.measures, printer)
    write_rows(rows_with_companions(found, scores, printer, format_name), target, LAYOUTS[to])
    printer.close()
    common.print_sources([scores])
    return printer.status()
