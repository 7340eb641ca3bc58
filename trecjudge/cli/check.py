"""`check`: would the track's own validator accept these runs, and can they be repaired?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from trecjudge.check.check_runs import CheckResult, check_command
from trecjudge.cli.flags import KeyFlags, MaterialFlags, PrintFlags, TableFlags
from trecjudge.cli.parameters import LimitFlags, argument, command_with, option
from trecjudge.cli.printing import print_json, print_many, print_table
from trecjudge.inputs.pipelines.fields import use_record_keys
from trecjudge.show.check import (
    ELSEWHERE,
    beside_lines,
    cause_lines,
    change_lines,
    closing_line,
    hidden_runs,
    left_lines,
    place_lines,
    shared_rules,
    verdict_table,
)


class CheckFlags(MaterialFlags, KeyFlags, LimitFlags, TableFlags, PrintFlags):
    """The runs, and the rules of which track."""

    WITHOUT: ClassVar = frozenset({"responses", "own_documents"})
    runs: Sequence[Path] = argument(
        "Run files, or folders of them; may be left out with --nuggets.", ()
    )
    track: str = option("The track whose rules apply; by default recognised from each file.", "")
    fix: Path | None = option(
        "A folder for repaired copies; what is left to do is listed.", metavar="DIR"
    )


@command_with(CheckFlags)
def check_runs(flags: CheckFlags) -> int:
    """Show whether a track would refuse the runs; repair copies.

    The rules are those of the track's own validator; each reason is printed.
    """
    with use_record_keys(flags.keys):
        done = check_command(
            flags.runs,
            flags.topics,
            flags.dataset,
            flags.track,
            flags.documents,
            flags.fix,
            flags.nuggets,
        )
    if flags.as_json:
        print_json([done.as_dict()])
    elif not flags.quiet:
        _print_report(done, flags.wide, flags.show_all)
    return int(done.is_refused)


def _print_report(done: CheckResult, wide: bool, show_all: bool) -> None:
    """Print what is shared first, then run by run; the verdict last."""
    report = done.report
    if not done.only_banks:
        shared = shared_rules(report)
        print_many(cause_lines(report, shared, "below" if show_all else ELSEWHERE))
        print_table(verdict_table(report, wide, show_all))
        print_many(hidden_runs(report, show_all))
        print_many(place_lines(report, shared, show_all))
    print_many(beside_lines(done.beside, show_all))
    print_many(change_lines(done.changes, show_all))
    print_many(left_lines(done.mended, show_all) if done.mended else ())
    print_many(done.closing)
    if report.inventory:
        print_many([f"marks of citations in the texts: {report.inventory}"])
    print_many(report.organisers.lines())
    print_many([] if done.only_banks else [closing_line(report)])
