"""The command line: the main job's flags, and the commands beside it, imported when called."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import typer

from trecjudge.cli.commands import LazyGroup
from trecjudge.cli.exits import exit_status, status_printed
from trecjudge.cli.flags import MainFlags
from trecjudge.cli.parameters import bind_flags
from trecjudge.job.process import INTERRUPTS, tune_process

COMPLETION = frozenset({"--install-completion", "--show-completion"})
INSTALLED = "run-judge"
"""How the program is called where the package is installed."""


class Commands(LazyGroup):
    """The commands beside the main job."""

    lazy: ClassVar[Mapping[str, tuple[str, str]]] = {
        "judges": ("listings:judges", "List the judges."),
        "prompts": ("prompts:prompts_app", "List the prompts that a model is asked by; show one."),
        "formats": ("listings:formats", "List the run formats."),
        "init": ("init:init", "Write a workflow for what is in a folder."),
        "schema": ("listings:schema", "Print the JSON Schema of workflows, for editors."),
        "rescore": (
            "rescore:rescore",
            "Write qrels and leaderboards again from a job's judgments.",
        ),
        "merge": ("rescore:merge", "Put the parts of a job together, and score them."),
        "pairs": ("pairs:pairs", "Judge bare pairs of a sentence and a document."),
        "calibrate": (
            "calibrate:calibrate",
            "Fit the offline attester to labels, or to words of the runs.",
        ),
        "stability": (
            "stability:stability",
            "Test whether a judge is stable, and what it favours.",
        ),
        "check": (
            "check:check_runs",
            "Show whether a track would refuse the runs; repair copies.",
        ),
        "report": (
            "report:report_output",
            "Write NAME.report.html, a job's results to browse offline.",
        ),
        "show": ("judgments:show_response", "Print responses with labels, reasons and evidence."),
        "judgments": ("judgments:judgments", "List, filter and export judgments."),
        "provenance": (
            "provenance:provenance",
            "Show which documents answers rest on, and which are stale.",
        ),
        "compare": ("compare:compare", "Compare systems, or two judgments of one, over topics."),
        "gate": ("gate:gate", "Exit with 1 unless all runs keep all rules."),
        "meta-evaluate": (
            "meta_evaluate:meta_evaluate",
            "Correlate leaderboards with one that people made.",
        ),
        "agree": ("agree:agree", "Show how far labels agree."),
        "audit": ("audit:audit", "Try a judge on labelled items."),
        "label-next": ("label_next:label_next", "List the items that people should label first."),
        "optimize": ("optimize:optimize", "Make a judge's prompt agree with labels of people."),
        "convert": ("convert:convert", "Write a leaderboard, or a bank, in another format."),
        "documents": (
            "documents:documents_app",
            "Pack the documents of jobs; see where those of runs are.",
        ),
        "nuggets": ("main:nuggets_app", "Make banks of nuggets, and edit them as tables."),
        "index": ("index:index", "Keep documents in an index, to be searched."),
        "search": ("search:search", "Show what an index finds for a question."),
        "generate": ("generate:generate", "Answer topics from an index, as a run of a track."),
        "experiment": (
            "experiment:experiment",
            "Make, judge and compare variants of retrieval and answers.",
        ),
        "anonymise": (
            "anonymise:anonymise_files",
            "Give runs and teams codes in the place of names, and the names back.",
        ),
        "season": (
            "season:season",
            "Run a shared task: check, judge, ask people, publish, archive.",
        ),
        "replay": ("season:replay_archive", "Do an archived season again, and compare every file."),
        "cache": ("cache:cache_app", "Show, copy, check and clear the cache of model replies."),
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


class NuggetCommands(LazyGroup):
    """The commands of `nuggets`."""

    lazy: ClassVar[Mapping[str, tuple[str, str]]] = {
        "create": (
            "nuggets_create:create",
            "Make banks of nuggets from documents, from runs, or from topics.",
        ),
        "edit": (
            "nuggets_edit:edit",
            "Write banks as a table for people to edit, and take the changes back.",
        ),
    }


app = typer.Typer(
    cls=Commands,
    help="Judge RAG runs of TREC's tracks, or of your own pipeline, as TREC does.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
nuggets_app = typer.Typer(
    cls=NuggetCommands, help=Commands.lazy["nuggets"][1], add_completion=False
)
nuggets_app.callback()(lambda: None)  # without one Typer makes no group


@app.callback()
@bind_flags(MainFlags)
def main(ctx: typer.Context, flags: MainFlags) -> None:
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
    tune_process()  # first, since what a command imports makes many objects too
    INTERRUPTS.install()
    try:
        app()
    except SystemExit as end:
        sys.exit(status_printed(end.code))
