"""`compare`: two systems, or two judgments of one system, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import trecjudge  # its names are imported when they are asked for: no numpy for --help
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits, print_errors
from trecjudge.cli.printing import output, print_json, print_lines
from trecjudge.show.tables import difference_table, moved_lines, verdict_lines


@exits
def compare(
    leaderboards: common.Leaderboards,
    measure: common.Measures = None,
    run: Annotated[
        list[str] | None, typer.Option(help="Only this run; may be repeated; else all.")
    ] = None,
    against: Annotated[
        str, typer.Option(help="The run to compare the others with; else the first.")
    ] = "",
    duplicates: common.Duplicates = "first",
    format_name: common.Format = "auto",
    to: common.To = None,
    out: Annotated[Path | None, typer.Option("--output", help="A file for --to.")] = None,
    digits: common.Digits = 3,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Compare systems, or two judgments of one, by each measure, paired over topics.

    Runs that all leaderboards have are compared with themselves: two prompts, two models. Else
    every run is compared with the first. With judgments of the same runs the flipped verdicts are
    shown with their evidence.
    """
    common.check_form(to, as_json, out)
    printer = common.FindingPrinter(quiet)
    found = trecjudge.compare(
        *leaderboards,
        measures=measure or (),
        runs=run or (),
        against=against,
        duplicates=duplicates,
        format_name=format_name,
        on_finding=printer,
    )
    if found.note:
        print_errors([f"note: {found.note}"])
    if as_json:
        # Findings go into the JSON: a script reads one stream only.
        more = {"statistics": common.sources(found.leaderboards), "findings": printer.as_dicts()}
        print_json([found.as_dict() | more])
        return printer.status()
    printer.close()
    common.print_sources(found.leaderboards, quiet)
    if to is not None:
        common.write_text(out, trecjudge.table(found, to, digits=digits))
    elif not quiet:
        output().print(difference_table(found.differences))
        print_lines(moved_lines(found.differences))
        print_lines(verdict_lines(found.verdicts) if found.verdicts else ())
    return printer.status()
