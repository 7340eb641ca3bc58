"""`table` and `convert`: a leaderboard, a bank, or judgments in the format of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import trecjudge
from trecjudge.cli.exits import print_errors
from trecjudge.cli.flags import FormatFlags, LayoutFlags, QuietFlags
from trecjudge.cli.parameters import OUTPUT, argument, command_with, declared_in, option, several
from trecjudge.cli.printing import FindingPrinter, print_sources, write_text
from trecjudge.errors import InputError
from trecjudge.evaluation.comparing import rows_with_companions, scores_at
from trecjudge.evaluation.standings import standings_at, write_parquet
from trecjudge.inputs.nuggets.bank_files import banks_in, report_lost, write_banks
from trecjudge.inputs.nuggets.bank_formats import bank_format_named
from trecjudge.results.jobs import judged_job, outcome
from trecjudge.results.leaderboards.writing import LAYOUTS, write_rows
from trecjudge.results.publishing import without_text
from trecjudge.results.trec import WRITERS, write_assessments
from trecjudge.show.paper.forms import Form
from trecjudge.stats.alignment import report_unjudged

Layout = Literal["ir_measures", "trec_eval", "tot", "rag4reports", "jsonl", "csv", "parquet"]
TableForm = Literal["markdown", "latex", "html", "table-csv"]
RecordBankName = Literal["autoargue", "ragtime26", "neuclir24", "nuggetizer"]
BankName = Literal[RecordBankName, "rag25_nuggets", "dragun_rubric", "criteria", "exam"]
AssessmentName = Literal[
    "dragun_assessments", "dragun_questions", "dragun_compound", "nuggetizer_assignments"
]
Target = Literal[Layout, TableForm, BankName, AssessmentName]
"""The layouts of leaderboards, their tables, the formats of banks, and of judgments on nuggets."""
PARQUET = "parquet"
OF_DATA = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
"""Endings of files that are no tables for people: one that is there is hardly meant as a target."""
TABLES: Mapping[str, Form] = {
    "markdown": "markdown",
    "latex": "latex",
    "html": "html",
    "table-csv": "csv",
}


class ColumnFlags(FormatFlags, LayoutFlags, QuietFlags):
    """What is in a table of a leaderboard, and how it looks."""

    measures: Sequence[str] = several(
        "The measures in it, `all` for every one; else those that the judges rank by.",
        "--measure",
        old=("--measures", "--all-measures=all"),
    )
    lower_is_better: Sequence[str] = several(
        "Lower values of these measures are better; else the statistics decide.",
        metavar="MEASURE",
    )


class BoardTableFlags(ColumnFlags):
    """A table of a leaderboard, and where it goes."""

    source: Path = argument("A job, or a leaderboard of any format.")
    target: Path | None = argument("The new file; else the table is printed.", None, OUTPUT)
    to: TableForm = option("The form of the table.", "markdown")


@command_with(BoardTableFlags)
def table(flags: BoardTableFlags) -> int:
    """Print a table of a leaderboard, for a paper or a page.

    It has a row for each run.
    """
    target = flags.target
    if target and target.exists() and flags.to != "table-csv" and target.suffix in OF_DATA:
        raise InputError(
            f"{target}: is there, and would become a table in {flags.to}; `table` takes one"
            " leaderboard, and then the name of a new file"
        )
    printer = FindingPrinter(flags.quiet)
    _write_table(flags.source, target, TABLES[flags.to], flags, printer)
    return printer.status()


class ConvertFlags(ColumnFlags):
    """What is written, as what, and where."""

    UNSHOWN: ClassVar = (
        frozenset(declared_in(ColumnFlags))
        - declared_in(FormatFlags).keys()
        - declared_in(QuietFlags).keys()
    )
    source: Path = argument("A leaderboard or a job; or a file or folder of nugget banks.")
    target: Path = argument(
        "The new file; for trec_eval a folder, with a file for each run; for banks a"
        " .jsonl or .jsonl.gz file, or a folder, with a file for each topic.",
        old=OUTPUT,
    )
    to: Target | None = option("The format to write.", metavar="FORMAT")
    text: Literal["none"] | None = option(
        "Copy a job's files into a folder without any text of answers, documents and questions."
    )


@command_with(ConvertFlags)
def convert(flags: ConvertFlags) -> int:
    """Write a leaderboard, or a bank, in another format.

    Rows of MEASURE.unjudged count unjudged items. Banks of nuggets, and a job's judgments on
    nuggets, are written in another format too. `table` writes tables for a paper or a page.
    """
    printer, to = FindingPrinter(flags.quiet), flags.to
    if (to is None) == (flags.text is None):
        raise InputError("give --to FORMAT, or --text none for a job without its texts")
    if to is None:
        written = without_text(judged_job(flags.source), flags.target)
        _tell(printer, f"{len(written)} files, {flags.target}: texts, reasons, evidence left out")
        return 0
    if to in TABLES:
        _write_table(flags.source, flags.target, TABLES[to], flags, printer)
        return printer.status()
    if flags.measures or flags.lower_is_better:
        raise InputError(f"--measure and the like are for {', '.join(TABLES)}, not {to}")
    if to in WRITERS:
        judged = judged_job(flags.source).judgments
        count = write_assessments(judged, flags.target, to, printer)
        printer.close()
        _tell(printer, f"judgments: {count}, {flags.target}")
    elif to in LAYOUTS or to == PARQUET:
        _write_leaderboard(flags.source, flags.target, to, flags.format_name, printer)
    else:
        _write_banks(flags.source, flags.target, to, printer)
    return printer.status()


def _tell(printer: FindingPrinter, line: str) -> None:
    if not printer.quiet:
        print_errors([line])


def _write_table(
    source: Path, target: Path | None, form: Form, flags: ColumnFlags, printer: FindingPrinter
) -> None:
    text = trecjudge.table(
        source,
        form,
        measures=[name for name in flags.measures if name != "all"],
        all_measures="all" in flags.measures,
        **flags.looks,
        lower_is_better=flags.lower_is_better,
        format_name=flags.format_name,
        on_finding=printer,
    )
    write_text(target, text)
    printer.close()
    if target is not None:
        _tell(printer, f"table: {target}")


def _write_banks(source: Path, target: Path, to: str, printer: FindingPrinter) -> None:
    banks = list(banks_in([source], printer))
    if not banks:
        raise InputError(f"{source}: no bank of nuggets in it")
    format_ = bank_format_named(to)
    report_lost(banks, format_, "--to", printer)
    files = write_banks(banks, target, format_)
    printer.close()
    _tell(printer, f"banks: {len(files)} files, {target}")


def _write_leaderboard(
    source: Path, target: Path, to: str, format_name: str, printer: FindingPrinter
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
    print_sources([scores], printer.quiet)
    _tell(printer, f"leaderboard: {target}")
