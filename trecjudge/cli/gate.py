"""`gate`: fail where a run is not good enough, or worse than before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from trecjudge.cli.flags import (
    AllRows,
    Duplicates,
    FormatFlags,
    PrintFlags,
    all_rows_part,
    duplicates_part,
)
from trecjudge.cli.parameters import argument, command_with, option, several, switch
from trecjudge.cli.printing import (
    FindingPrinter,
    print_json,
    print_lines,
    print_many,
    print_sources,
    sources,
)
from trecjudge.evaluation.gating import GateRequest, check_release
from trecjudge.results.jobs import outcome
from trecjudge.show.failing import write_junit

REQUESTED = tuple(one.name for one in fields(GateRequest))
ALWAYS_PRINTED = ("unjudged_unseen", "direction_assumed", "baseline_empty", "nothing_judged")
"""Findings that put a kept rule in doubt, so that they are printed with -q too."""


class GateFlags(FormatFlags, PrintFlags):
    """The leaderboard, and the rules that its runs have to keep."""

    leaderboard: Path = argument(
        "A job (its folder, FOLDER/NAME, any of its files) or a leaderboard."
    )
    minimum: Sequence[str] = several("No run may be below this.", "--min", metavar="MEASURE=NUMBER")
    maximum: Sequence[str] = several(
        "No run may be above this, of a measure or of a sign of writing for the judge.",
        "--max",
        metavar="MEASURE=NUMBER",
    )
    baseline: Path | None = option(
        "The leaderboard of the release before, for --max-drop. A folder that --history or"
        " --move-baseline fills stands for its newest entry."
    )
    max_drop: Sequence[str] = several(
        "No run may fall by more than this below its baseline; a number without a measure is"
        " for the measure that ranks the runs, `all=NUMBER` for each that has a better side and"
        " bounds; counts are held only by name.",
        metavar="[MEASURE=]NUMBER",
    )
    lower_is_better: Sequence[str] = several(
        "For --max-drop, measures whose lower values are better; by default the statistics decide.",
        metavar="MEASURE",
    )
    move_baseline: bool = switch(
        "If all rules are kept, keep the job as the newest entry of the folder --baseline, which"
        " may be empty at first.",
        "--move-baseline",
    )
    strict: bool = switch("Count a drop even where it may be noise.", "--strict")
    all_rows: AllRows = all_rows_part("error")
    duplicates: Duplicates = duplicates_part("error")
    junit: Path | None = option("A file for JUnit XML.")


@command_with(GateFlags)
def gate(flags: GateFlags) -> int:
    """Exit with 1 unless all runs keep all rules.

    Each broken rule is one line. A run whose unjudged items could break a rule does not pass.
    A drop counts if the paired test over topics is significant, or if there are too few topics
    for any test.
    """
    printer = FindingPrinter(flags.quiet, ALWAYS_PRINTED)
    asked = {name: getattr(flags, name) for name in REQUESTED}
    found = check_release(outcome(flags.leaderboard), GateRequest(**asked), printer)
    if flags.junit is not None:
        write_junit(flags.junit, found)
    status = int(not found.passed)
    if flags.as_json:
        record = {
            "passed": found.passed,
            "checks": found.checks,
            "kept": found.kept and str(found.kept),
        }
        more = {"statistics": sources(found.tables), "findings": printer.as_dicts()}
        print_json([record | more])
        return status
    printer.close()
    print_sources(found.tables, flags.quiet)
    print_many(found.broken)
    if not flags.quiet:
        print_lines([found.verdict])
        print_lines([f"baseline: {found.kept}"] if found.kept else ())
    return status
