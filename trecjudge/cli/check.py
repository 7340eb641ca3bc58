"""`check`: would the track's own validator accept these runs, and can they be repaired?"""

from __future__ import annotations

from trecjudge.check.check_runs import Checked, check_command
from trecjudge.cli import command_options as own
from trecjudge.cli import options as flag
from trecjudge.cli.exits import exits
from trecjudge.cli.printing import output, print_json, print_lines
from trecjudge.settings.limits import limited
from trecjudge.show.check import closing_line, place_lines, verdict_table


@exits
def check_runs(
    runs: own.RunsIfAny = None,
    topics: flag.Topics = None,
    dataset: flag.Dataset = "auto",
    track: own.Track = "",
    documents: flag.Documents = None,
    nuggets: flag.Nuggets = None,
    fix: own.Fix = None,
    limit: flag.LimitFlag = None,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Show whether a track would refuse the runs; repair copies.

    The rules are those of the track's own validator; each reason is printed.
    """
    with limited(limit or ()):
        done = check_command(
            runs or [], topics, dataset, track, documents or [], fix, nuggets or []
        )
    if as_json:
        print_json([done.as_dict()])
    elif not quiet:
        _print_report(done)
    return int(done.refused)


def _print_report(done: Checked) -> None:
    if not done.only_banks:
        output().print(verdict_table(done.report))
    found = (*map(str, done.beside), *place_lines(done.report), *map(str, done.changes))
    runs = () if done.only_banks else (closing_line(done.report),)
    print_lines((*found, *runs, *done.closing))
