"""`meta-evaluate`: how far a judge orders the runs as people do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import trecjudge  # its names are imported when they are asked for: no numpy for --help
from trecjudge.api.statistics import meta_evaluate as correlated
from trecjudge.cli.flags import (
    TRUTH,
    AllRows,
    Duplicates,
    LeaderboardFlags,
    PaperFlags,
    PrintFlags,
    TableFlags,
    TruthFormatFlags,
    all_rows_part,
    duplicates_part,
    missing_part,
)
from trecjudge.cli.parameters import command_with, option, part, several, switch
from trecjudge.cli.printing import (
    FindingPrinter,
    check_form,
    print_json,
    print_lines,
    print_sources,
    print_table,
    sources,
    write_jsonl,
    write_text,
)
from trecjudge.files import make_folder, whole
from trecjudge.results.outputs import replace_unsafe
from trecjudge.show import comparison as shown
from trecjudge.show.charts import bump_picture, scatter_picture
from trecjudge.stats.alignment import refusing
from trecjudge.stats.meta import Correlated

LONGEST_NAME = 60  # a file name has three of these, and may have 255 bytes


class MetaEvaluateFlags(LeaderboardFlags, TruthFormatFlags, PaperFlags, TableFlags, PrintFlags):
    """The leaderboards, the truth, and how they are compared."""

    truth: Path = part("--truth", "", TRUTH, ...)
    truth_measure: Sequence[str] = part(
        "--truth", "measure", "Only these measures of it; else all.", ()
    )
    correlations: Sequence[str] = several(
        "Only these coefficients: kendall, tauap_b, tau_gap, spearman, pearson or"
        " pairwise_accuracy, and kendall@10 for the 10 best runs; else all of these.",
        "--correlation",
    )
    teams: Path | None = option(
        "Look at the order without each team: a table with a run and its team a line, or a job."
    )
    by_answer: bool = part("--by", "answer", "Correlate answers, not means of runs.", False)
    against: Path | None = option(
        "A leaderboard of the same judge, such as without its own bank: how far the order moves.",
        metavar="LEADERBOARD",
    )
    on_missing: Literal["error", "common", "zero"] = missing_part("error")
    all_rows: AllRows = all_rows_part("checked")
    duplicates: Duplicates = duplicates_part("first")
    strict: bool = switch("Exit with 1 if there is any finding.", "--strict")
    svg: Path | None = option("A folder for scatter and bump plots.", metavar="DIR")
    out: Path | None = option("A file: JSONL, or Parquet by its name.", None, "--output")


@command_with(MetaEvaluateFlags)
def meta_evaluate(flags: MetaEvaluateFlags) -> int:
    """Correlate leaderboards with one that people made.

    Each coefficient has intervals, over topics and over runs.
    """
    check_form(flags.to, flags.as_json)
    printer = FindingPrinter(flags.quiet)
    found = correlated(
        *flags.leaderboards,
        truth=flags.truth,
        truth_measures=flags.truth_measure,
        measures=flags.measure,
        correlations=flags.correlations,
        teams=flags.teams,
        against=flags.against,
        by_answer=flags.by_answer,
        on_missing=flags.on_missing,
        all_rows=flags.all_rows,
        duplicates=flags.duplicates,
        format_name=flags.format_name,
        truth_format=flags.truth_format,
        on_finding=refusing(printer, flags.all_rows),
    )
    tables = (found.truth, *found.leaderboards)
    if flags.out is not None and flags.to is None:
        write_jsonl(flags.out, (one.as_dict() for one in found.pairs))
    drawn = list(_draw(flags.svg, found.pairs)) if flags.svg else []
    if flags.as_json:
        record: dict[str, Any] = {"pairs": [one.as_dict() for one in found.pairs]}
        record |= {"moved": list(found.moved)} if flags.against else {}
        more = {"statistics": sources(tables), "findings": printer.as_dicts()}
        print_json([record | more])
        return printer.status(flags.strict)
    printer.close()
    print_sources(tables, flags.quiet)
    if flags.to is not None:
        write_text(flags.out, trecjudge.table(found, flags.to, **flags.looks))
    elif not flags.quiet:
        pairs, folded = shown.fold_pairs(found.pairs)
        what = "answer" if flags.by_answer else "run"
        print_lines(shown.correlation_lines(pairs, what))
        print_table(shown.correlation_table(pairs, flags.wide, flags.show_all, what))
        if (by_team := shown.team_table(pairs, flags.wide)) is not None:
            print_table(by_team)
        print_lines(shown.moved_order_lines(found.moved))
        print_lines(folded)
        print_lines(shown.hidden_rows(pairs, flags.show_all))
        print_lines(f"plot: {path}" for path in drawn)
    return printer.status(flags.strict)


def _draw(folder: Path, found: Sequence[Correlated]) -> Iterator[Path]:
    """Write a scatter and a bump plot of each pair of measures; yield their paths."""
    make_folder(folder)
    for number, one in enumerate(found, 1):
        tau = next((c.value for c in one.correlations if c.name == "kendall"), None)
        tau_text = "" if tau is None else f", tau-b {tau:.3f}"
        title = f"{one.measure} by {Path(one.name).name}{tau_text}"
        for kind, draw in (("scatter", scatter_picture), ("bump", bump_picture)):
            parts = (Path(one.name).name, one.measure, one.truth_measure)
            # Names of measures and files come from users: made safe and short for any file system.
            stem = "-".join(replace_unsafe(part)[:LONGEST_NAME] for part in parts)
            # Numbered: two measures may have one name once it is made safe for a file.
            path = folder / f"{number:02d}-{stem.lstrip('.')}.{kind}.svg"
            with whole(path) as file:
                file.write(draw(one, title).encode())
            yield path
