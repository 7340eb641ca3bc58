"""`check`: would the track's own validator accept these runs, and can they be repaired?"""

from __future__ import annotations

from trecjudge.check.check_runs import Checked, check_command
from trecjudge.cli import command_options as own
from trecjudge.cli import options as flag
from trecjudge.cli.exits import exits
from trecjudge.cli.printing import print_json, print_many, print_table
from trecjudge.inputs.pipelines.fields import keyed
from trecjudge.settings.limits import limited
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


@exits
def check_runs(
    runs: own.RunsIfAny = None,
    topics: flag.Topics = None,
    dataset: flag.Dataset = "auto",
    track: own.Track = "",
    documents: flag.Documents = None,
    nuggets: flag.Nuggets = None,
    fix: own.Fix = None,
    keys: flag.RecordKeys = "",
    limit: flag.LimitFlag = None,
    wide: own.WideTable = False,
    show_all: own.AllTableRows = False,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Show whether a track would refuse the runs; repair copies.

    The rules are those of the track's own validator; each reason is printed.
    """
    with limited(limit or ()), keyed(keys):
        done = check_command(
            runs or [], topics, dataset, track, documents or [], fix, nuggets or []
        )
    if as_json:
        print_json([done.as_dict()])
    elif not quiet:
        _print_report(done, wide, show_all)
    return int(done.is_refused)


def _print_report(done: Checked, wide: bool, show_all: bool) -> None:
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
