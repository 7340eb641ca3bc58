"""The command line: the main job's flags, and the commands beside it, imported when called."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import ClassVar

import typer

from trecjudge.cli.exits import exit_status
from trecjudge.cli.flags import JobFlags, taking
from trecjudge.cli.lazy import LazyGroup
from trecjudge.cli.streams import make_streams_last
from trecjudge.job.interrupts import INTERRUPTS

SEVERAL = ("--rag-responses", "--documents", "--cache-from")


class Commands(LazyGroup):
    """The commands beside the main job."""

    lazy: ClassVar[Mapping[str, tuple[str, str]]] = {
        "judges": ("trecjudge.cli.listings:judges", "List the judges."),
        "formats": ("trecjudge.cli.listings:formats", "List the run formats."),
        "rescore": (
            "trecjudge.cli.rescore:rescore",
            "Write qrels and leaderboards again from the judgments of a job, without a model.",
        ),
        "pairs": (
            "trecjudge.cli.pairs:pairs",
            "Judge pairs of a sentence and a document; with labels, show how good that is.",
        ),
        "calibrate": (
            "trecjudge.cli.calibrate:calibrate",
            "Fit the offline attester to human labels; without labels, to the words of the runs.",
        ),
        "check": (
            "trecjudge.cli.check:check_runs",
            "Show whether a track's own validator would refuse the runs, and why; repair copies.",
        ),
        "report": (
            "trecjudge.cli.report:report_output",
            "Write NAME.report.html: leaderboard, responses, evidence, charts, to look at offline.",
        ),
        "show": (
            "trecjudge.cli.show:show_response",
            "Print responses: sentences by label, citations with reason and evidence; or some of"
            " them.",
        ),
        "judgments": (
            "trecjudge.cli.judgments:judgments",
            "List the judgments of a job, a line each, by run, topic, label or word; export them.",
        ),
        "compare": (
            "trecjudge.cli.compare:compare",
            "Compare systems, or two judgments of one, by each measure, paired over topics.",
        ),
        "gate": (
            "trecjudge.cli.gate:gate",
            "Exit with 1, and one line for each broken rule, unless all runs keep all rules.",
        ),
        "meta-evaluate": (
            "trecjudge.cli.meta_evaluate:meta_evaluate",
            "Correlate leaderboards with one that people made, with intervals over topics and"
            " runs.",
        ),
        "agree": (
            "trecjudge.cli.agree:agree",
            "Show how far labels agree: confusion matrix, accuracy, kappa, alpha, overlap, AUC.",
        ),
        "label-next": (
            "trecjudge.cli.label_next:label_next",
            "List the items whose label would narrow the ranking most, or calibrate best.",
        ),
        "convert": (
            "trecjudge.cli.convert:convert",
            "Write a leaderboard in another format, with rows of MEASURE.unjudged where items are"
            " so.",
        ),
        "nuggets": (
            "trecjudge.cli.nuggets:nuggets_app",
            "Make banks of nuggets, and edit them as tables.",
        ),
        "cache": ("trecjudge.cli.cache:cache_app", "Look after the cache of model replies."),
    }


app = typer.Typer(
    cls=Commands,
    help="Judge RAG runs of TREC RAG, RAGTIME and DRAGUN, the way TREC does.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
@taking(JobFlags)
def main(ctx: typer.Context, flags: JobFlags) -> None:
    """Judge runs; write qrels, leaderboard, debug log, judgments and config."""
    if ctx.invoked_subcommand is not None:
        return
    if not flags.responses:
        raise typer.BadParameter(
            "it is missing: give run files or folders, or a command (--help)",
            param_hint="--rag-responses",
        )
    from trecjudge.cli.judge import (
        judge,  # imported late, as the commands are: --help must start fast
    )

    raise typer.Exit(exit_status(lambda: judge(flags)))


def cli() -> None:
    """Run the command line; one `--rag-responses` may be followed by several files."""
    make_streams_last()
    INTERRUPTS.install()
    app(list(repeated(sys.argv[1:])))


def repeated(args: list[str]) -> Iterator[str]:
    """Yield the arguments with the flag repeated before each further value."""
    flag, values = "", 0
    for arg in args:
        if arg.startswith("-") and arg != "-":
            flag, values = (arg if arg in SEVERAL else ""), 0
        elif flag:
            values += 1
            if values > 1:
                yield flag
        yield arg
