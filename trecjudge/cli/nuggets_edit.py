"""`nuggets edit`: banks as a table for people who clean them, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits, print_errors
from trecjudge.cli.printing import print_json
from trecjudge.errors import InputError
from trecjudge.evaluation.banks.editing import edited
from trecjudge.evaluation.banks.tables import write_table
from trecjudge.findings import OnFinding
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.reading import banks_in
from trecjudge.inputs.nuggets.registry import bank_format_named
from trecjudge.inputs.nuggets.writing import report_lost, write_banks, write_in_place


@exits
def edit(
    source: Annotated[Path, typer.Argument(help="A file or folder of nugget banks.")],
    to_table: Annotated[
        Path | None,
        typer.Option("--to-table", help="The table to write: TSV, or JSONL by its name."),
    ] = None,
    from_table: Annotated[
        Path | None, typer.Option("--from-table", help="The table to take the changes from.")
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option(
            "--output", help="A new file or folder for the changed banks; else SOURCE is changed."
        ),
    ] = None,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Write banks as a table for people to edit, and take the changes back.

    The table has a row for each nugget or answer.
    """
    if (to_table is None) == (from_table is None):
        raise InputError("give one of --to-table and --from-table")
    # `check` prints the findings on a bank; here only those on the table count.
    printer = common.FindingPrinter(quiet)
    banks = list(banks_in([source], printer if to_table else _only_errors(printer)))
    _check(source, banks)
    if to_table is not None:
        rows = write_table(banks, to_table)
        done: dict[str, object] = {"rows": rows, "table": str(to_table)}
    else:
        assert from_table is not None
        done = _take(banks, from_table, target, printer)
    printer.close()
    if as_json:
        print_json([done | {"findings": printer.as_dicts()}])
    elif not quiet:
        print_errors([", ".join(f"{name}: {value}" for name, value in done.items())])
    return printer.status()


def _only_errors(printer: common.FindingPrinter) -> OnFinding:
    """Return a callback that passes on what was left out of a bank, and nothing else."""
    return lambda finding: printer(finding) if finding.severity == "error" else None


def _check(source: Path, banks: Sequence[Bank]) -> None:
    """Raise InputError where there is no bank, or a topic has two, since a row names the topic."""
    topics = [bank.topic_id for bank in banks]
    if not topics:
        raise InputError(f"{source}: no bank of nuggets in it")
    twice = next((topic for topic in topics if topics.count(topic) > 1), None)
    if twice is not None:
        raise InputError(f"{source}: topic {twice!r} has two banks: edit a file at a time")


def _take(
    banks: Sequence[Bank], table: Path, target: Path | None, printer: common.FindingPrinter
) -> dict[str, object]:
    """Change banks as a table says, write them, and return counts."""
    found = edited(banks, table, printer)
    for bank in found.banks:
        topic = f" of topic {bank.topic_id!r}"
        report_lost([bank], bank_format_named(bank.format), str(table), printer, topic)
    formats = {bank.format for bank in found.banks}
    if target is None:
        files = write_in_place(found.banks, banks)
    elif len(formats) > 1:
        names = ", ".join(sorted(formats))
        raise InputError(f"--output: the banks are of several formats, {names}: edit each apart")
    else:
        files = write_banks(found.banks, target, bank_format_named(formats.pop()))
    counts = asdict(found)
    del counts["banks"]
    return counts | {"files": [str(file) for file in files]}
