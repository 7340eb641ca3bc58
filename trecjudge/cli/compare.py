"""`compare`: two systems, or two judgments of one system, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import trecjudge  # its names are imported when they are asked for: no numpy for --help
from trecjudge.cli import command_options as own
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits, print_errors
from trecjudge.cli.lazy import Later
from trecjudge.cli.printing import print_json, print_lines, print_table

if TYPE_CHECKING:  # numpy, rich and the scores: not for --help
    from trecjudge.evaluation.comparing import Comparison
    from trecjudge.show import comparison as shown
else:
    shown = Later("trecjudge.show.comparison")


@exits
def compare(
    leaderboards: common.Leaderboards,
    measure: common.Measures = None,
    run: Annotated[list[str] | None, typer.Option(help="Only these runs; else all.")] = None,
    against: Annotated[
        str, typer.Option(help="The run to compare the others with; else the first.")
    ] = "",
    duplicates: common.Duplicates = "first",
    format_name: common.Format = "auto",
    to: common.To = None,
    out: Annotated[Path | None, typer.Option("--output", help="A file for --to.")] = None,
    digits: common.Digits = 3,
    wide: own.WideTable = False,
    show_all: own.AllTableRows = False,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Compare systems, or two judgments of one, over topics.

    Each measure is paired over topics. A run that all leaderboards have is compared with itself,
    as judged by two prompts or two models. Else every run is compared with the first. Of two jobs
    on the same runs it also shows the judgments that differ, with their evidence.
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
        _print(found, wide, show_all)
    return printer.status()


def _print(found: Comparison, wide: bool, show_all: bool) -> None:
    names = [table.name for table in found.leaderboards]
    print_lines(shown.difference_lines(found.differences))
    differences, folded = shown.fold_differences(found.differences)
    if differences:
        print_table(shown.difference_table(differences, names, wide, show_all))
    print_lines(folded)
    print_lines(shown.hidden_differences(differences, wide, show_all))
    print_lines(shown.moved_lines(differences, show_all))
    print_lines(shown.verdict_lines(found.verdicts) if found.verdicts else ())
