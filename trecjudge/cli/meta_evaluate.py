"""`meta-evaluate`: how far a judge orders the runs as people do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

import trecjudge  # its names are imported when they are asked for: no numpy for --help
from trecjudge.api.statistics import meta_evaluate as correlated
from trecjudge.cli import command_options as own
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits
from trecjudge.cli.printing import print_json, print_lines, print_table
from trecjudge.errors import OutputError, why
from trecjudge.files import whole
from trecjudge.show import correlation as shown
from trecjudge.show.pictures import bump_picture, scatter_picture
from trecjudge.stats.meta import Correlated

UNSAFE = re.compile(r"[^\w.+-]+")
LONGEST_NAME = 60  # a file name has three of these, and may have 255 bytes


MeasuresOfTruth = Annotated[
    list[str] | None, typer.Option(help="Only these measures of the truth; else all.")
]
Correlations = Annotated[
    list[str] | None,
    typer.Option(
        "--correlation",
        help="Only these coefficients: kendall, tauap_b, tau_gap, spearman, pearson or"
        " pairwise_accuracy, and kendall@10 for the 10 best runs; else all of these.",
    ),
]
OnMissingRun = Annotated[
    Literal["error", "common", "zero"],
    typer.Option(help="A run that only one of them has: an error, left out, or 0 by the judge."),
]
FailIfOdd = Annotated[bool, typer.Option("--strict", help="Exit with 1 if there is any finding.")]
Svg = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A folder for scatter and bump plots.")
]


@exits
def meta_evaluate(
    leaderboards: common.Leaderboards,
    truth: Annotated[Path, own.TRUTH],
    truth_measure: MeasuresOfTruth = None,
    measure: common.Measures = None,
    correlations: Correlations = None,
    on_missing: OnMissingRun = "error",
    all_rows: common.AllRows = "checked",
    duplicates: common.Duplicates = "first",
    format_name: common.Format = "auto",
    truth_format: common.TruthFormat = "auto",
    strict: FailIfOdd = False,
    svg: Svg = None,
    out: common.JsonlFile = None,
    to: common.To = None,
    digits: common.Digits = 3,
    wide: own.WideTable = False,
    show_all: own.AllTableRows = False,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Correlate leaderboards with one that people made.

    Each coefficient has intervals, over topics and over runs.
    """
    common.check_form(to, as_json)
    printer = common.FindingPrinter(quiet)
    found = correlated(
        *leaderboards,
        truth=truth,
        truth_measures=truth_measure or (),
        measures=measure or (),
        correlations=correlations or (),
        on_missing=on_missing,
        all_rows=all_rows,
        duplicates=duplicates,
        format_name=format_name,
        truth_format=truth_format,
        on_finding=common.refusing(printer, all_rows),
    )
    tables = (found.truth, *found.leaderboards)
    if out is not None and to is None:
        common.write_jsonl(out, (one.as_dict() for one in found.pairs))
    drawn = list(_draw(svg, found.pairs)) if svg else []
    if as_json:
        record = {"pairs": [one.as_dict() for one in found.pairs]}
        more = {"statistics": common.sources(tables), "findings": printer.as_dicts()}
        print_json([record | more])
        return printer.status(strict)
    printer.close()
    common.print_sources(tables, quiet)
    if to is not None:
        common.write_text(out, trecjudge.table(found, to, digits=digits))
    elif not quiet:
        pairs, folded = shown.fold_pairs(found.pairs)
        print_lines(shown.correlation_lines(pairs))
        print_table(shown.correlation_table(pairs, wide, show_all))
        print_lines(folded)
        print_lines(shown.hidden_rows(pairs, show_all))
        print_lines(f"plot: {path}" for path in drawn)
    return printer.status(strict)


def _draw(folder: Path, found: Sequence[Correlated]) -> Iterator[Path]:
    """Write a scatter and a bump plot of each pair of measures; yield their paths."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {why(error)}; give another folder") from error
    for number, one in enumerate(found, 1):
        tau = next((c.value for c in one.correlations if c.name == "kendall"), None)
        tau_text = "" if tau is None else f", tau-b {tau:.3f}"
        title = f"{one.measure} by {Path(one.name).name}{tau_text}"
        for kind, draw in (("scatter", scatter_picture), ("bump", bump_picture)):
            parts = (Path(one.name).name, one.measure, one.truth_measure)
            # Names of measures and files come from users: made safe and short for any file system.
            stem = "-".join(UNSAFE.sub("_", part)[:LONGEST_NAME] for part in parts)
            # Numbered: two measures may have one name once it is made safe for a file.
            path = folder / f"{number:02d}-{stem.lstrip('.')}.{kind}.svg"
            with whole(path) as file:
                file.write(draw(one, title).encode())
            yield path
