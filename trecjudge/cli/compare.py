"""`compare`: two systems, or two judgments of one system, side by side."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits, print_errors
from trecjudge.cli.printing import output, print_json, print_lines
from trecjudge.errors import InputError
from trecjudge.evaluation.inputs import scores_of_paths
from trecjudge.evaluation.tables import difference_table, moved_lines, verdict_lines
from trecjudge.judgments import JudgmentsReader
from trecjudge.leaderboards.outcomes import outcomes
from trecjudge.stats import comparison
from trecjudge.stats.unmatched import report_unmatched
from trecjudge.stats.verdicts import Verdicts, verdicts


@exits
def compare(
    leaderboards: common.Leaderboards,
    measure: common.Measures = None,
    run: Annotated[
        list[str] | None, typer.Option(help="A run to look at; may be repeated; else all.")
    ] = None,
    against: Annotated[
        str, typer.Option(help="The run that the others are compared with; else the first.")
    ] = "",
    duplicates: common.Duplicates = "first",
    format_name: common.Format = "auto",
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Compare systems, or two judgments of one, by each measure, paired over topics.

    Runs that all leaderboards have are compared with themselves: two prompts, two models. Else
    every run is compared with the first. With judgments of the same runs the flipped verdicts are
    shown with their evidence.
    """
    heard = common.Heard(quiet)
    read = scores_of_paths(leaderboards, heard, format_name, duplicates)
    tables = [table.without_all(table.disputed) for table in read]
    pairs = comparison.pairs_of(tables, against, run or ())
    flips = _flips(leaderboards)
    try:
        found = comparison.compare(pairs, measure or ())
    except InputError as error:
        if flips is None:
            raise
        # Two judges measure what they will; their verdicts can be held against each other.
        found = []
        print_errors([f"note: {error}"])
    report_unmatched(tables, pairs, found, heard, run or (), measure or ())
    if as_json:
        record: dict[str, Any] = {"differences": [_as_dict(d) for d in found]}
        record["verdicts"] = None if flips is None else _verdicts_dict(flips)
        more = {"statistics": common.sources(tables), "findings": heard.as_dicts()}
        print_json([record | more])
        return heard.status()
    heard.close()
    common.tell_sources(tables, quiet)
    if not quiet:
        output().print(difference_table(found))
        print_lines(moved_lines(found))
        print_lines(verdict_lines(flips) if flips else ())
    return heard.status()


def _flips(paths: list[Path]) -> Verdicts | None:
    """Return the verdicts of two jobs that judged the same runs; None for anything else."""
    jobs = [found for path in paths for found in outcomes(path)]
    if len(jobs) != 2:
        return None
    before, after = (job.judgments for job in jobs)
    if before is None or after is None:
        return None
    found = verdicts(JudgmentsReader(before), JudgmentsReader(after))
    return found if found.shared else None


def _as_dict(difference: Any) -> dict[str, Any]:
    return asdict(difference) | {"difference": difference.difference}


def _verdicts_dict(found: Verdicts) -> dict[str, Any]:
    return {
        "shared": found.shared,
        "only_before": found.only_before,
        "only_after": found.only_after,
        "counts": [
            {"before": before, "after": after, "items": items}
            for (before, after), items in sorted(found.counts.items())
        ],
        "flips": found.flips,
    }
