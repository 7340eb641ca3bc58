"""`calibrate`: fit the offline attester to labels of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trecjudge.cli import options as flag
from trecjudge.cli.exits import exits, output, print_json, print_lines

if TYPE_CHECKING:
    from trecjudge.calibrate.command import Calibrated


@exits
def calibrate(
    labels: flag.Labels = None,
    responses: flag.LabelledRuns = None,
    documents: flag.Documents = None,
    dataset: flag.Dataset = "auto",
    out: flag.CalibrationOut = Path("calibration.json"),
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Fit the offline attester to human labels; without labels, to the words of the runs."""
    if labels is None:
        return _count(responses or [], documents or [], dataset, out, as_json, quiet)
    from trecjudge.calibrate.command import calibrate_command

    done = calibrate_command(labels, responses or [], documents or [], dataset, out)
    if as_json:
        print_json([done.as_dict()])
    elif not quiet:
        _print_report(done)
    return done.exit_status


def _count(
    runs: list[Path], documents: list[Path], dataset: str, out: Path, as_json: bool, quiet: bool
) -> int:
    from trecjudge.calibrate.counting import count_command
    from trecjudge.calibrate.table import counted_lines
    from trecjudge.errors import InputError

    if not runs:
        raise InputError("give --labels FILE, or --rag-responses to count words alone (--help)")
    done = count_command(runs, documents, dataset, out)
    if as_json:
        print_json([done.as_dict()])
    elif not quiet:
        print_lines(counted_lines(done))
    return 0


def _print_report(done: Calibrated) -> None:
    from trecjudge.calibrate.table import closing_lines, figure_table, reliability_table

    output().print(figure_table(done))
    output().print(reliability_table(done))
    print_lines(closing_lines(done))
