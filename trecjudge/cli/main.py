"""The command line: the main job's flags, and the commands beside it, imported when called."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import typer

from trecjudge.cli.exits import exit_status, status_printed
from trecjudge.cli.flags import JobFlags, taking
from trecjudge.cli.lazy import LazyGroup
from trecjudge.job.interrupts import INTERRUPTS
from trecjudge.job.process import settle_process

COMPLETION = frozenset({"--install-completion", "--show-completion"})
INSTALLED = "run-judge"
"""How the program is called where the package is installed."""


class Commands(LazyGroup):
    """The commands beside the main job."""

    lazy: ClassVar[Mapping[str, tuple[str, str]]] = {
        "judges": ("trecjudge.cli.listings:judges", "List the judges."),
        "prompts": (
            "trecjudge.cli.prompts:prompts_app",
            "List the prompts that a model is asked by; show one.",
        ),
        "formats": ("trecjudge.cli.listings:formats", "List the run formats."),
        "init": (
            "trecjudge.cli.init:init",
            "Write a workflow for what is in a folder.",
        ),
        "schema": (
            "trecjudge.cli.schema:schema",
            "Print the JSON Schema of workflows, for editors.",
        ),
        "rescore": (
            "trecjudge.cli.rescore:rescore",
            "Write qrels and leaderboards again from a job's judgments.",
        ),
        "merge": (
            "trecjudge.cli.merge:merge",
            "Put the parts of a job together, and score them.",
        ),
        "pairs": (
            "trecjudge.cli.pairs:pairs",
            "Judge bare pairs of a sentence and a document.",
        ),
        "calibrate": (
            "trecjudge.cli.calibrate:calibrate",
            "Fit the offline attester to labels, or to words of the runs.",
        ),
        "stability": (
            "trecjudge.cli.stability:stability",
            "Test whether a judge is stable, and what it favours.",
        ),
        "check": (
            "trecjudge.cli.check:check_runs",
            "Show whether a track would refuse the runs; repair copies.",
        ),
        "report": (
            "trecjudge.cli.report:report_output",
            "Write NAME.report.html, a job's results to browse offline.",
        ),
        "show": (
            "trecjudge.cli.show:show_response",
            "Print responses with labels, reasons and evidence.",
        ),
        "judgments": (
            "trecjudge.cli.judgments:judgments",
            "List, filter and export judgments.",
        ),
        "provenance": (
            "trecjudge.cli.provenance:provenance",
            "Show which documents answers rest on, and which are stale.",
        ),
        "compare": (
            "trecjudge.cli.compare:compare",
            "Compare systems, or two judgments of one, over topics.",
        ),
        "gate": (
            "trecjudge.cli.gate:gate",
            "Exit with 1 unless all runs keep all rules.",
        ),
        "meta-evaluate": (
            "trecjudge.cli.meta_evaluate:meta_evaluate",
            "Correlate leaderboards with one that people made.",
        ),
        "agree": (
            "trecjudge.cli.agree:agree",
            "Show how far labels agree.",
        ),
        "audit": (
            "trecjudge.cli.audit:audit",
            "Try a judge on labelled items.",
        ),
        "label-next": (
            "trecjudge.cli.label_next:label_next",
            "List the items that people should label first.",
        ),
        "optimize": (
            "trecjudge.cli.optimize:optimize",
            "Make a judge's prompt agree with labels of people.",
        ),
        "convert": (
            "trecjudge.cli.convert:convert",
            "Write a leaderboard, or a bank, in another format.",
        ),
        "documents": (
            "trecjudge.cli.documents:documents_app",
            "Pack the documents of jobs; see where those of runs are.",
        ),
        "nuggets": (
            "trecjudge.cli.nuggets:nuggets_app",
            "Make banks of nuggets, and edit them as tables.",
        ),
        "index": (
            "trecjudge.cli.index:index",
            "Keep documents in an index, to be searched.",
        ),
        "search": (
            "trecjudge.cli.search:search",
            "Show what an index finds for a question.",
        ),
        "generate": (
            "trecjudge.cli.generate:generate",
            "Answer topics from an index, as a run of a track.",
        ),
        "experiment": (
            "trecjudge.cli.experiment:experiment",
            "Make, judge and compare variants of retrieval and answers.",
        ),
        "cache": (
            "trecjudge.cli.cache:cache_app",
            "Show, copy, check and clear the cache of model replies.",
        ),
    }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments that are left. A shell completes no script that Python runs."""
        asked = COMPLETION.intersection(args)
        if asked and args[0] not in self.commands and ctx.info_name != INSTALLED:
            flag = min(asked)
            raise typer.BadParameter(
                f"{flag}: a shell completes an installed command only: pip install the package,"
                f" then {INSTALLED} {flag}"
            )
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=Commands,
    help="Judge RAG runs of TREC's tracks, or of your own pipeline, as TREC does.",
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
        raise typer.BadParameter(missing_runs(ctx))
    from trecjudge.cli.judge import (
        judge,  # imported late, as the commands are: --help must start fast
    )

    raise typer.Exit(exit_status(lambda: judge(flags)))


def missing_runs(ctx: typer.Context) -> str:
    """Return the message for a command line with neither a run nor a command."""
    message = "--rag-responses is missing: give run files or folders, or a command (--help)"
    words = [
        value for values in ctx.params.values() if isinstance(values, list) for value in values
    ]
    command = next((word for word in words if word in Commands.lazy), None)
    return message if command is None else f"{message}; the command {command!r} must come first"


def cli() -> None:
    """Run the command line."""
    settle_process()  # first, since what a command imports makes many objects too
    INTERRUPTS.install()
    try:
        app()
    except SystemExit as end:
        sys.exit(status_printed(end.code))
