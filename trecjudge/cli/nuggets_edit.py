"""`nuggets edit`: banks as a table for people who clean them, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from trecjudge.cli.exits import print_errors
from trecjudge.cli.flags import PrintFlags
from trecjudge.cli.parameters import argument, command_with, option
from trecjudge.cli.printing import FindingPrinter, print_json
from trecjudge.errors import InputError
from trecjudge.evaluation.banks.editing import edit_banks, write_table
from trecjudge.findings import OnFinding
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.bank_files import banks_in, report_lost, write_banks, write_in_place
from trecjudge.inputs.nuggets.bank_formats import bank_format_named


class EditFlags(PrintFlags):
    """The banks, and the table that they become or change by."""

    source: Path = argument("A file or folder of nugget banks.")
    from_table: Path | None = option(
        "The table to take the changes from.", None, "--from", old=("--from-table",)
    )
    target: Path | None = option(
        "The table to write: TSV, or JSONL by its name. With --from a new file or folder for the"
        " changed banks; else SOURCE is changed.",
        None,
        "--output",
        old=("--to", "--to-table"),
    )


@command_with(EditFlags)
def edit(flags: EditFlags) -> int:
    """Write banks as a table for people to edit, and take the changes back.

    The table has a row for each nugget or answer.
    """
    source, from_table = flags.source, flags.from_table
    to_table = flags.target if from_table is None else None
    if to_table is None and from_table is None:
        raise InputError("give --output TABLE to write one, or --from TABLE to take its changes")
    # `check` prints the findings on a bank; here only those on the table count.
    printer = FindingPrinter(flags.quiet)
    banks = list(banks_in([source], printer if to_table else _only_errors(printer)))
    _check(source, banks)
    if to_table is not None:
        rows = write_table(banks, to_table)
        done: dict[str, object] = {"rows": rows, "table": str(to_table)}
    else:
        assert from_table is not None
        done = _take(banks, from_table, flags.target, printer)
    printer.close()
    if flags.as_json:
        print_json([done | {"findings": printer.as_dicts()}])
    elif not flags.quiet:
        print_errors([", ".join(f"{name}: {value}" for name, value in done.items())])
    return printer.status()


def _only_errors(printer: FindingPrinter) -> OnFinding:
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
    banks: Sequence[Bank], table: Path, target: Path | None, printer: FindingPrinter
) -> dict[str, object]:
    """Change banks as a table says, write them, and return counts."""
    found = edit_banks(banks, table, printer)
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
