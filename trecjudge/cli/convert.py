"""`convert`: a leaderboard, a bank of nuggets, or judgments on them in another tool's format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import trecjudge
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits, print_errors
from trecjudge.errors import InputError
from trecjudge.evaluation.loading import rows_with_companions, scores_at
from trecjudge.evaluation.parquet import write_parquet
from trecjudge.evaluation.standings import standings_at
from trecjudge.inputs.nuggets.reading import banks_in
from trecjudge.inputs.nuggets.registry import bank_format_named
from trecjudge.inputs.nuggets.writing import report_lost, write_banks
from trecjudge.results.assessments import WRITERS, write_assessments
from trecjudge.results.jobs import judged_job, outcome
from trecjudge.results.leaderboards.layouts import LAYOUTS
from trecjudge.results.leaderboards.writing import write_rows
from trecjudge.show.paper.writing import Form
from trecjudge.stats.alignment import report_unjudged

Target = Literal[
    "ir_measures",
    "trec_eval",
    "tot",
    "rag4reports",
    "jsonl",
    "csv",
    "parquet",
    "markdown",
    "latex",
    "html",
    "table-csv",
    "autoargue",
    "ragtime26",
    "neuclir24",
    "nuggetizer",
    "rag25_nuggets",
    "dragun_rubric",
    "criteria",
    "exam",
    "dragun_assessments",
    "dragun_questions",
    "dragun_compound",
    "nuggetizer_assignments",
]
"""The layouts of leaderboards, their tables, the formats of banks, and of judgments on nuggets."""
PARQUET = "parquet"
TABLES: Mapping[str, Form] = {
    "markdown": "markdown",
    "latex": "latex",
    "html": "html",
    "table-csv": "csv",
}
Wanted = Annotated[
    list[str] | None,
    typer.Option(
        "--measures",
        help="For a table: the measures in it; else those that the judges rank by.",
    ),
]


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
    measures: Wanted = None,
    all_measures: Annotated[
        bool, typer.Option("--all-measures", help="For a table: every measure.")
    ] = False,
    digits: common.Digits = 3,
    lower_is_better: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE",
            help="For a table: lower values of these measures are better; else the statistics"
            " decide.",
        ),
    ] = None,
) -> int:
    """Write a leaderboard, or a bank, in another format.

    markdown, latex, html and table-csv are tables for a paper or a page, a row for each run. In the
    other formats, rows of MEASURE.unjudged count unjudged items. Banks of nuggets, and a job's
    judgments on nuggets, are written in another format too.
    """
    printer = common.FindingPrinter()
    if to in TABLES:
        _write_table(
            source,
            target,
            TABLES[to],
            printer,
            measures=measures or (),
            all_measures=all_measures,
            digits=digits,
            lower_is_better=lower_is_better or (),
            format_name=format_name,
        )
        return printer.status()
    if measures or all_measures or lower_is_better:
        raise InputError(f"--measures and the like are for {', '.join(TABLES)}, not {to}")
    if to in WRITERS:
        count = write_assessments(judged_job(source).judgments, target, to, printer)
        printer.close()
        print_errors([f"judgments: {count}, {target}"])
        return printer.status()
    if to in LAYOUTS or to == PARQUET:
        _write_leaderboard(source, target, to, format_name, printer)
    else:
        _write_banks(source, target, to, printer)
    return printer.status()


def _write_table(
    source: Path, target: Path, form: Form, printer: common.FindingPrinter, **more: Any
) -> None:
    """Write a table; `more` is as `trecjudge.table` takes it."""
    common.write_text(target, trecjudge.table(source, form, on_finding=printer, **more))
    printer.close()
    print_errors([f"table: {target}"])


def _write_banks(source: Path, target: Path, to: str, printer: common.FindingPrinter) -> None:
    banks = list(banks_in([source], printer))
    if not banks:
        raise InputError(f"{source}: no bank of nuggets in it")
    format_ = bank_format_named(to)
    report_lost(banks, format_, "--to", printer)
    files = write_banks(banks, target, format_)
    printer.close()
    print_errors([f"banks: {len(files)} files, {target}"])


def _write_leaderboard(
    source: Path, target: Path, to: str, format_name: str, printer: common.FindingPrinter
) -> None:
    found = outcome(source)
    scores = scores_at(found, printer, format_name)
    # A format without companion rows would hide what is unjudged, so it is reported too.
    report_unjudged(scores, scores.measures, printer)
    rows = rows_with_companions(found, scores, printer, format_name)
    if to == PARQUET:
        write_parquet(rows, standings_at(found, printer, format_name)[0], target)
    else:
        write_rows(rows, target, LAYOUTS[to])
    printer.close()
    common.print_sources([scores])
    print_errors([f"leaderboard: {target}"])
