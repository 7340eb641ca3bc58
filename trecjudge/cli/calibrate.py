"""`calibrate`: fit the offline attester to your own labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from trecjudge.cli.flags import MapFlags, PrintFlags, RunFlags
from trecjudge.cli.parameters import command_with, option, several
from trecjudge.cli.printing import print_json, print_lines, print_table
from trecjudge.errors import InputError
from trecjudge.evaluation.calibrate.calibrate import (
    CalibrationReport,
    calibrate_command,
    count_command,
)
from trecjudge.findings import OnFinding
from trecjudge.inputs.labels.vocabulary import parse_label_map
from trecjudge.job.inputs import read_responses
from trecjudge.job.request import Job
from trecjudge.records import Response, Topic
from trecjudge.results.outputs import Outputs
from trecjudge.show.evaluation import (
    calibration_lines,
    calibration_table,
    reliability_table,
    word_count_lines,
)


class CalibrateFlags(MapFlags, RunFlags, PrintFlags):
    """The labels, and the runs that they are on."""

    WITHOUT: ClassVar = frozenset({"topics"})
    labels: Path | None = option(
        "Labels: JSONL with sentence, passage, label; or, with --rag-responses, JSONL or CSV"
        " with topic_id, run_id, sentence_index, doc_id, label. Without it only the words of the"
        " runs are counted."
    )
    responses: Sequence[Path] = several(
        "The runs that were labelled, or whose words are to be counted.", "--rag-responses"
    )
    out: Path = option(
        "The calibration file to write, for --calibration.",
        Path("calibration.json"),
        "--output",
        old=("--out",),
    )

    def read_runs(self, report: OnFinding) -> Iterator[tuple[Topic, Response]]:
        """Return the responses of the runs. Raises InputError."""
        job = Job(
            self.responses,
            Outputs(Path(), "calibrate"),
            documents=self.documents,
            dataset=self.dataset,
        )
        return read_responses(job, report)


@command_with(CalibrateFlags)
def calibrate(flags: CalibrateFlags) -> int:
    """Fit the offline attester to labels, or to words of the runs.

    Its weights are fitted to labels of people. Without labels, only the words are counted.
    """
    if flags.labels is None:
        return _count(flags)
    read = flags.read_runs if flags.responses else None
    done = calibrate_command(flags.labels, read, flags.out, parse_label_map(flags.mapped))
    if flags.as_json:
        print_json([done.as_dict()])
    elif not flags.quiet:
        _print_report(done)
    return done.exit_status


def _count(flags: CalibrateFlags) -> int:
    # Without labels and runs there is nothing to fit and nothing to count.
    if not flags.responses:
        raise InputError("give --labels FILE, or only --rag-responses to count words (--help)")
    done = count_command(flags.read_runs, flags.out, ", ".join(map(str, flags.responses)))
    if flags.as_json:
        print_json([done.as_dict()])
    elif not flags.quiet:
        print_lines(word_count_lines(done))
    return 0


def _print_report(done: CalibrationReport) -> None:
    print_table(calibration_table(done))
    print_table(reliability_table(done))
    print_lines(calibration_lines(done))
