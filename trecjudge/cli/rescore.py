"""`rescore` and `merge`: a job scored again, from its judgments or from those of its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from trecjudge.cli.exits import warning_printer
from trecjudge.cli.flags import (
    HumanFlags,
    JudgedJobFlags,
    OutputFlags,
    PrintFlags,
    RankingFlags,
    TrustFlags,
)
from trecjudge.cli.parameters import argument, command_with, option
from trecjudge.cli.printing import FindingPrinter, print_summaries
from trecjudge.inputs.labels import read_labels
from trecjudge.inputs.labels.vocabulary import parse_label_map
from trecjudge.job.shards.merging import complete_summary, merge_parts, missing_of_whole, read_parts
from trecjudge.results.jobs import judged_job
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.outputs import Outputs
from trecjudge.scores.scoring import score
from trecjudge.scores.summary import Summary
from trecjudge.show.closing import TableOptions


class ScoringFlags(HumanFlags, TrustFlags, RankingFlags, PrintFlags):
    """How judgments are scored, and what is shown of it."""


class RescoreFlags(JudgedJobFlags, ScoringFlags):
    """The job, and where its scores go."""

    out_dir: Path | None = option(
        "The folder to write to; by default that of the judgments.", metavar="DIR"
    )
    name: str | None = option("The name that output files start with; by default as before.")


class MergeFlags(OutputFlags, ScoringFlags):
    """The parts of a job, and where it goes."""

    parts: Sequence[Path] = argument(
        "The parts: NAME.shard-I-of-N.config.yml, or folders with them."
    )


@command_with(RescoreFlags)
def rescore(flags: RescoreFlags) -> int:
    """Write qrels and leaderboards again from a job's judgments.

    No model is asked.
    """
    wanted = TableOptions.of(flags.measures, flags.wide, flags.show_all)
    judged = judged_job(flags.job)
    reader = JudgmentsReader(judged.judgments)
    outputs = Outputs(flags.out_dir or judged.place.parent, flags.name or judged.place.name)
    return _score(flags, wanted, outputs, lambda: reader)


@command_with(MergeFlags)
def merge(flags: MergeFlags) -> int:
    """Put the parts of a job together, and score them.

    The files are those that one command would have written. Packed parts are read as well.
    """
    wanted = TableOptions.of(flags.measures, flags.wide, flags.show_all)
    outputs = Outputs(flags.out_dir, flags.name, flags.compress)
    found = read_parts(flags.parts)
    for why in missing_of_whole(found):
        warning_printer(flags.quiet)(why)

    def merge_all() -> JudgmentsReader:
        merge_parts(found, outputs)
        return JudgmentsReader(outputs.judgments)

    return _score(
        flags, wanted, outputs, merge_all, lambda summary: complete_summary(found, outputs, summary)
    )


def _score(
    flags: ScoringFlags,
    wanted: TableOptions,
    outputs: Outputs,
    read: Callable[[], JudgmentsReader],
    finish: Callable[[Summary], None] = lambda summary: None,
) -> int:
    """Score the judgments that are read while the outputs are locked; return the exit status."""
    # Locked as by a job, since it writes the same files.
    with outputs.lock(warning_printer(flags.quiet)):
        printer = FindingPrinter(flags.quiet)
        human, words = flags.human, parse_label_map(flags.mapped)
        labels = read_labels(human, printer, words) if human else None
        summary = score(read(), outputs, labels, printer, flags.trust)
        printer.close()
        finish(summary)  # still locked: it writes the config of the whole
    print_summaries([summary], flags.quiet, flags.as_json, wanted)
    return max(summary.exit_status, printer.status())
