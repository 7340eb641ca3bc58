"""The command line: the main job's flags, and the commands beside it, imported when called."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import typer

from trecjudge.cli.commands import HELP, HELP_ALL, LazyGroup, Listed, command_of
from trecjudge.cli.exits import exit_status, print_errors, status_printed
from trecjudge.cli.flags import MainFlags, SharedFlags
from trecjudge.cli.help import TOPICS, topic_text
from trecjudge.cli.parameters import bind_flags, options_of
from trecjudge.errors import near_ones
from trecjudge.job.process import INTERRUPTS, tune_process

COMPLETION = frozenset({"--install-completion", "--show-completion"})
INSTALLED = "run-judge"
"""How the program is called where the package is installed."""
SILENT = frozenset({"-q", "--quiet", "--json"})
"""Flags with which an old name is not remarked on."""

LABELS: Listed = {
    "next": ("label_next:label_next", "List the items that people should label first."),
    "agree": ("agree:agree", "Show how far labels agree."),
}
JUDGES: Listed = {
    "list": ("listings:judges", "List the judges."),
    "prompts": ("prompts:prompts_app", "List the prompts that a model is asked by; show one."),
    "pairs": ("pairs:pairs", "Judge bare pairs of a sentence and a document."),
    "audit": ("audit:audit", "Try a judge on labelled items."),
    "choose": (
        "choose:choose",
        "Compare judges and cascades by what they cost and how right they are.",
    ),
    "trust": (
        "trust:trust",
        "Make a judge's card, and see whether it is still the same judge.",
    ),
    "stability": ("stability:stability", "Test whether a judge is stable, and what it favours."),
    "calibrate": (
        "calibrate:calibrate",
        "Fit the offline attester to labels, or to words of the runs.",
    ),
    "optimize": ("optimize:optimize", "Make a judge's prompt agree with labels of people."),
    "meta": ("meta_evaluate:meta_evaluate", "Correlate leaderboards with one that people made."),
}
NUGGETS: Listed = {
    "create": (
        "nuggets_create:create",
        "Make banks of nuggets from documents, from runs, or from topics.",
    ),
    "edit": (
        "nuggets_edit:edit",
        "Write banks as a table for people to edit, and take the changes back.",
    ),
}
RAG: Listed = {
    "index": ("index:index", "Keep documents in an index, to be searched."),
    "search": ("search:search", "Show what an index finds for a question."),
    "generate": ("generate:generate", "Answer topics from an index, as a run of a track."),
    "experiment": (
        "experiment:experiment",
        "Make, judge and compare variants of retrieval and answers.",
    ),
    "provenance": (
        "provenance:provenance",
        "Show which documents answers rest on, and which are stale.",
    ),
}
DOCUMENTS: Listed = {
    "pack": ("documents:pack", "Write the documents that jobs were judged by into one file."),
    "check": (
        "documents:check",
        "Show which of the documents that runs cite are found, and in which source.",
    ),
}
JOB: Listed = {
    "judgments": ("judgments:judgments", "List, filter and export judgments."),
    "rescore": ("rescore:rescore", "Write qrels and leaderboards again from a job's judgments."),
    "merge": ("rescore:merge", "Put the parts of a job together, and score them."),
    "convert": ("convert:convert", "Write a leaderboard, or a bank, in another format."),
    "documents": (DOCUMENTS, "Pack the documents of jobs; see where those of runs are."),
    "anonymise": (
        "anonymise:anonymise_files",
        "Give runs and teams codes in the place of names, and the names back.",
    ),
    "season": (
        "season:season",
        "Run a shared task: check, judge, ask people, publish, archive.",
    ),
    "replay": (
        "season:replay_archive",
        "Do an archived season again, and compare every file.",
    ),
    "formats": ("listings:formats", "List the run formats."),
    "schema": ("listings:schema", "Print the JSON Schema of workflows, for editors."),
}
CACHE: Listed = {
    "info": (
        "cache:info",
        "Show what the cache holds, by endpoint and model, and batches under way.",
    ),
    "export": (
        "cache:export_cache",
        "Copy the cache, or one model's part of it, into a new folder, with a manifest.",
    ),
    "import": (
        "cache:import_cache",
        "Add the replies of another cache, where this one has none.",
    ),
    "verify": (
        "cache:verify_cache",
        "Check a cache, its replies and its manifest; exit with 1 if something is wrong.",
    ),
    "prune": (
        "cache:prune",
        "Delete the replies of a model, or those older than some days, or both.",
    ),
}
FAMILIES: Listed = {
    "labels": (LABELS, "What people should label, and how far labels agree."),
    "judges": (JUDGES, "The judges: list, test and improve them."),
    "nuggets": (NUGGETS, "Make banks of nuggets, and edit them as tables."),
    "rag": (RAG, "Index, search and answer, as a baseline to judge."),
    "job": (JOB, "The files of a job: list, score, convert, pack and publish them."),
    "cache": (CACHE, "Show, copy, check and clear the cache of model replies."),
}
CORE: Listed = {
    "judge": ("judge:judge_runs", "Judge runs; write qrels, leaderboard, judgments and log."),
    "check": ("check:check_runs", "Show whether a track would refuse the runs; repair copies."),
    "show": ("judgments:show_response", "Print responses with labels, reasons and evidence."),
    "report": (
        "report:report_output",
        "Write NAME.report.html, a job's results to browse offline.",
    ),
    "compare": ("compare:compare", "Compare systems, or two judgments of one, over topics."),
    "gate": ("gate:gate", "Exit with 1 unless all runs keep all rules."),
    "table": ("convert:table", "Print a table of a leaderboard, for a paper or a page."),
    "init": ("init:init", "Write a workflow for what is in a folder."),
}
OLD_VERBS = {"label-next": "labels next", "meta-evaluate": "judges meta"}
"""Commands that had another name before they were in a family."""
NEW_VERBS = ("next", "meta", "list")
"""The verbs that they have now."""


class Commands(LazyGroup):
    """The commands that most people need, and families of others."""

    lazy: Listed = MappingProxyType({**CORE, **FAMILIES})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments that are left. A shell completes no script that Python runs."""
        asked = COMPLETION.intersection(args)
        if asked and args[0] not in self.commands and ctx.info_name != INSTALLED:
            flag = min(asked)
            raise typer.BadParameter(
                f"{flag}: a shell completes an installed command only: pip install the package,"
                f" then {INSTALLED} {flag}"
            )
        if args[:1] == ["help"] and args[1:2] and args[1] in TOPICS:
            shared = command_of("help", bind_flags(SharedFlags)(lambda *_: None))
            typer.echo(topic_text(args[1], options_of(shared, ctx)), nl=False)
            raise typer.Exit
        return super().parse_args(ctx, with_new_name(args))

    def no_such_command(self, word: str) -> str:
        """Return the message for a word that is no command: it may be a verb, or a run."""
        known = {name: name for name in self.commands} | _verbs() | old_names()
        meant = dict.fromkeys(known[near] for near in near_ones(word, known))
        hint = f"did you mean {' or '.join(map(repr, meant))}? " if meant else ""
        if not meant and Path(word).exists():
            hint = f"did you mean 'judge {word}'? "
        return f"unknown command {word!r}; {hint}`--help` shows all"


def _verbs() -> dict[str, str]:
    """Return the commands of families, each by its verb, as they are called."""
    return {
        verb: f"{family} {verb}"
        for family, (verbs, _) in FAMILIES.items()
        if isinstance(verbs, Mapping)
        for verb in verbs
    }


def old_names() -> dict[str, str]:
    """Return the names that commands had before there were families, each with the present one."""
    first_in_families = {*NUGGETS, *CACHE, *NEW_VERBS}
    verbs = _verbs().items()
    return {verb: called for verb, called in verbs if verb not in first_in_families} | OLD_VERBS


def with_new_name(args: list[str]) -> list[str]:
    """Return a command line with the present name of its command, and say it where it differs."""
    place = 1 if args[:1] == ["help"] else 0
    word, rest = next(iter(args[place:]), ""), args[place + 1 :]
    named = old_names().get(word)
    if word == "judges" and place == 0 and not (rest and rest[0] in ("help", *JUDGES, *HELP)):
        named = "judges list" if not rest or rest[0].startswith("-") else None
    if named is None:
        return args
    if not SILENT.intersection(args):
        print_errors([f"note: `{word}` is now `{named}`"])
    return [*args[:place], *named.split(), *rest]


app = typer.Typer(
    cls=Commands,
    help="Judge RAG runs of TREC's tracks, or of your own pipeline, as TREC does.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help", HELP_ALL]},
)


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
    known = Commands.lazy.keys() | old_names()
    command = next((word for word in words if word in known), None)
    return message if command is None else f"{message}; the command {command!r} must come first"


def cli() -> None:
    """Run the command line."""
    tune_process()  # first, since what a command imports makes many objects too
    INTERRUPTS.install()
    try:
        app()
    except SystemExit as end:
        sys.exit(status_printed(end.code))
