"""`calibrate`: fit the offline attester to your own labels."""

from __future__ import annotations

from pathlib import Path

from trecjudge.cli import command_options as own
from trecjudge.cli import options as flag
from trecjudge.cli.exits import exits
from trecjudge.cli.printing import print_json, print_lines, print_table
from trecjudge.errors import InputError
from trecjudge.evaluation.calibrate.calibrate import Calibrated, calibrate_command
from trecjudge.evaluation.calibrate.counting import count_command
from trecjudge.inputs.labels.vocabulary import words_of
from trecjudge.show.calibration import closing_lines, counted_lines, figure_table, reliability_table


@exits
def calibrate(
    labels: own.Labels = None,
    mapped: flag.MapLabels = None,
    responses: own.LabelledRuns = None,
    documents: flag.Documents = None,
    dataset: flag.Dataset = "auto",
    out: own.CalibrationOut = Path("calibration.json"),
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Fit the offline attester to labels, or to words of the runs.

    Its weights are fitted to labels of people. Without labels, only the words are counted.
    """
    if labels is None:
        return _count(responses or [], documents or [], dataset, out, as_json, quiet)
    words = words_of(mapped or ())
    done = calibrate_command(labels, responses or [], documents or [], dataset, out, words)
    if as_json:
        print_json([done.as_dict()])
    elif not quiet:
        _print_report(done)
    return done.exit_status


def _count(
    runs: list[Path], documents: list[Path], dataset: str, out: Path, as_json: bool, quiet: bool
) -> int:
    # Without labels and runs there is nothing to fit and nothing to count.
    if not runs:
        raise InputError("give --labels FILE, or only --rag-responses to count words (--help)")
    done = count_command(runs, documents, dataset, out)
    if as_json:
        print_json([done.as_dict()])
    elif not quiet:
        print_lines(counted_lines(done))
    return 0


def _print_report(done: Calibrated) -> None:
    print_table(figure_table(done))
    print_table(reliability_table(done))
    print_lines(closing_lines(done))
