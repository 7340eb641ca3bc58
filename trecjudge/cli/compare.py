"""`compare`: two systems, or two judgments of one system, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import trecjudge  # its names are imported when they are asked for: no numpy for --help
from trecjudge.cli.exits import Later, print_errors
from trecjudge.cli.flags import (
    Duplicates,
    LeaderboardFlags,
    PaperFlags,
    PrintFlags,
    TableFlags,
    duplicates_part,
)
from trecjudge.cli.parameters import NUMBERS, command_with, option, several, switch
from trecjudge.cli.printing import (
    FindingPrinter,
    check_form,
    print_json,
    print_lines,
    print_sources,
    print_table,
    sources,
    write_text,
)
from trecjudge.errors import InputError, unknown
from trecjudge.results.jobs import outcomes

if TYPE_CHECKING:  # numpy, rich and the scores: not for --help
    from trecjudge.api import statistics as api
    from trecjudge.evaluation import trend as trends
    from trecjudge.evaluation.comparing import Comparison
    from trecjudge.show import comparison as shown
    from trecjudge.stats import power as planning
else:
    trends = Later("trecjudge.evaluation.trend")
    api = Later("trecjudge.api.statistics")
    planning = Later("trecjudge.stats.power")
    shown = Later("trecjudge.show.comparison")


FORESEEN = {"topics": (int, 2), "runs": (int, 2), "difference": (float, 0)}
"""What --power counts for, with the kind of number and the least one."""


class CompareFlags(LeaderboardFlags, PaperFlags, TableFlags, PrintFlags):
    """The leaderboards, and which of their runs are compared."""

    run: Sequence[str] = several("Only these runs; else all.")
    against: str = option(
        "The run to compare the others with; else the first. With --trend what the others gain over"
        " it: relative improvement (RI), its loss since the first job, effect ratio (ER).",
        "",
    )
    duplicates: Duplicates = duplicates_part("first")
    out: Path | None = option("A file for --to.", None, "--output")
    trend: bool = switch(
        "Show how runs stand in each job, beside the one before: the jobs of a --history.",
        "--trend",
    )
    power: bool = switch("Tell from one pilot leaderboard how small a difference topics can show.")
    foreseen: Sequence[str] = several(
        "With --power: topics=N that there will be, runs=N (else those of the pilot), and"
        " difference=NUMBER to count the topics that it needs.",
        "--for",
        metavar="NAME=NUMBER",
        old=tuple(f"--{name}={name}=" for name in FORESEEN),
    )
    correction: Literal["max-t", "holm"] = option(
        "How p is corrected for several comparisons by a measure.", "max-t"
    )


@command_with(CompareFlags)
def compare(flags: CompareFlags) -> int:
    """Compare systems, or two judgments of one, over topics.

    Each measure is paired over topics. A run that all leaderboards have is compared with itself,
    as judged by two prompts or two models. Else every run is compared with the first. Of two jobs
    on the same runs it also shows the judgments that differ, with their evidence.

    With --power it plans a leaderboard: the smallest difference that so many topics show 8 of 10
    times, for a pair of runs and for any pair of many.
    """
    if flags.power:
        return _power(flags)
    if flags.foreseen:
        raise InputError("--for goes with --power")
    check_form(flags.to, flags.as_json, flags.out)
    printer = FindingPrinter(flags.quiet)
    if flags.trend:
        return _trend(flags, printer)
    found = trecjudge.compare(
        *flags.leaderboards,
        measures=flags.measure,
        runs=flags.run,
        against=flags.against,
        duplicates=flags.duplicates,
        correction=flags.correction,
        format_name=flags.format_name,
        on_finding=printer,
    )
    if found.note:
        print_errors([f"note: {found.note}"])
    if flags.as_json:
        # Findings go into the JSON: a script reads one stream only.
        more = {"statistics": sources(found.leaderboards), "findings": printer.as_dicts()}
        print_json([found.as_dict() | more])
        return printer.status()
    printer.close()
    print_sources(found.leaderboards, flags.quiet)
    if flags.to is not None:
        write_text(flags.out, trecjudge.table(found, flags.to, **flags.looks))
    elif not flags.quiet:
        _print(found, flags.wide, flags.show_all)
    return printer.status()


def _power(flags: CompareFlags) -> int:
    if len(flags.leaderboards) != 1 or any((flags.to, flags.against, flags.run, flags.trend)):
        without = "--to, --against, --run, --trend"
        raise InputError(f"--power takes one leaderboard, the pilot, and no {without}")
    foreseen = _foreseen(flags.foreseen)
    printer = FindingPrinter(flags.quiet)
    (pilot, *more), _ = api.boards(flags.leaderboards, printer, flags.duplicates, flags.format_name)
    if more:
        raise InputError(f"{flags.leaderboards[0]}: several leaderboards; name the pilot")
    found = planning.power_of(pilot, flags.measure, **foreseen)
    if flags.as_json:
        power = [asdict(one) for one in found]
        print_json([{"power": power, "findings": printer.as_dicts()}])
        return printer.status()
    printer.close()
    if not flags.quiet:
        print_table(shown.power_table(found, flags.show_all, flags.wide))
        print_lines(shown.power_lines(found))
    return printer.status()


def _foreseen(written: Sequence[str]) -> dict[str, Any]:
    """Return what --power counts for, by name. Raises InputError."""
    found = {}
    for text in written:
        name, _, number = text.partition("=")
        if name not in FORESEEN:
            raise InputError(f"--for {text}: {unknown('name', name, FORESEEN)}")
        kind, least = FORESEEN[name]
        wanted = f"{NUMBERS[kind]} of at least {least}"
        try:
            found[name] = kind(number)
        except ValueError:
            raise InputError(f"--for {text}: {number!r} is not {wanted}") from None
        if not found[name] >= least:  # what is no number is not either
            raise InputError(f"--for {text}: {number} is too small; give {wanted}")
    return found


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


def _trend(flags: CompareFlags, printer: FindingPrinter) -> int:
    """Print how runs stand from job to job; return the exit status."""
    if flags.to is not None:
        raise InputError("--trend: leave out --to; --json has all of it")
    jobs = [job for path in flags.leaderboards for job in outcomes(path)]
    found = trends.trend_of(
        jobs, printer, flags.measure, flags.run, flags.format_name, flags.against
    )
    if flags.as_json:
        record = {"trend": [point.as_dict() for point in found.points]}
        print_json([record | {"findings": printer.as_dicts()}])
        return printer.status()
    printer.close()
    if not flags.quiet:
        print_table(shown.trend_table(found.points, flags.wide))
        print_lines(shown.verdict_lines(found.last) if found.last and found.last.flips else ())
    return printer.status()
