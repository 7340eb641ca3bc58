"""`optimize`: make a judge's prompt agree with people, and measure it on topics held out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from trecjudge.cli import model_options as of_model
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.asking import options_of
from trecjudge.cli.exits import exit_status, warning_printer
from trecjudge.cli.flags import taking
from trecjudge.cli.lazy import Later
from trecjudge.cli.printing import print_json, print_lines, print_plans, print_table
from trecjudge.inputs.labels.vocabulary import words_of
from trecjudge.job.choice import Choice, jobs_of, workflow_at
from trecjudge.job.job import Job
from trecjudge.results.outputs import Outputs
from trecjudge.settings.limits import limited
from trecjudge.settings.plugins import find_in_working_folder

if TYPE_CHECKING:  # DSPy takes a second to load: not for --help
    from trecjudge.job import optimizing
    from trecjudge.show import optimized as shown
else:
    optimizing = Later("trecjudge.job.optimizing")
    shown = Later("trecjudge.show.optimized")

PANEL = "Optimising"
NAME = "optimize"
Truth = Annotated[
    Path,
    typer.Option(
        "--truth",
        help="The labels of people, in any form that `agree` reads. Without --rag-responses, pairs"
        " of sentence, document, label and topic, as `pairs` reads them.",
        rich_help_panel=PANEL,
    ),
]
ProgramName = Annotated[
    str,
    typer.Option(
        "--program",
        help="The prompt, by name; by default the one by which the judge decides on labels.",
        rich_help_panel=PANEL,
    ),
]
With = Annotated[
    Literal["bootstrap", "gepa", "mipro"],
    typer.Option(
        "--with",
        help="Demonstrations (bootstrap), instructions (gepa), or both (mipro).",
        rich_help_panel=PANEL,
    ),
]
HoldOut = Annotated[
    str,
    typer.Option(
        "--hold-out",
        metavar="WHAT",
        help="Topics to measure on, which nothing is learnt from: `topics` (30 %), a share, a"
        " number, or ids with commas.",
        rich_help_panel=PANEL,
    ),
]
Candidates = Annotated[
    int, typer.Option("--candidates", min=1, help="Try about N prompts.", rich_help_panel=PANEL)
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, help="Decides which topics are held out.", rich_help_panel=PANEL),
]
MostQuestions = Annotated[
    int,
    typer.Option(
        "--max-questions",
        min=1,
        help="Learn from at most N questions, and choose by as many.",
        rich_help_panel=PANEL,
    ),
]
ReflectionModel = Annotated[
    str,
    typer.Option(
        "--reflection-model",
        metavar="NAME",
        help="The model that proposes prompts; REFLECTION_BASE_URL and REFLECTION_API_KEY lead to"
        " another endpoint.",
        rich_help_panel=PANEL,
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        help="A file for the prompt, written if it is better; NAME.optimize.json has all figures.",
        rich_help_panel=PANEL,
    ),
]
KeepAnyway = Annotated[
    bool,
    typer.Option(
        "--keep-anyway",
        help="Write the prompt also where it is not shown to be better.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True, slots=True)
class OptimizeFlags:
    """What the command line asks for: a flag each."""

    truth: Truth
    mapped: flag.MapLabels = None
    judge: flag.JudgeName = None
    program: ProgramName = ""
    optimizer: With = "bootstrap"
    hold_out: HoldOut = "topics"
    candidates: Candidates = 6
    max_questions: MostQuestions = 200
    seed: Seed = 0
    reflection_model: ReflectionModel = ""
    out: Out = Path("prompt.json")
    keep_anyway: KeepAnyway = False
    responses: flag.Responses = None
    topics: flag.Topics = None
    documents: flag.Documents = None
    own_documents: flag.OwnDocuments = False
    nuggets: flag.Nuggets = None
    dataset: flag.Dataset = "auto"
    only_topics: flag.OnlyTopics = None
    only_runs: flag.OnlyRuns = None
    limit: flag.LimitFlag = None
    workflow: flag.WorkflowFile = None
    settings: flag.Settings = None
    use_env_llm: of_model.UseEnvLlm = False
    cache_dir: of_model.CacheDir = None
    cache_from: of_model.CacheFrom = None
    offline: of_model.Offline = False
    plan: of_model.Plan = False
    max_calls: of_model.MaxCalls = None
    max_tokens: of_model.MaxTokens = None
    max_cost: of_model.MaxCost = None
    quiet: flag.Quiet = False
    as_json: flag.AsJson = False


@taking(OptimizeFlags)
def optimize(ctx: typer.Context, flags: OptimizeFlags) -> None:
    """Make a judge's prompt agree with labels of people.

    Whole topics are held out. Agreement on them is shown before and after, with a test.
    """

    def work() -> int:
        with limited(flags.limit or ()):
            return _optimize(flags)

    raise typer.Exit(exit_status(work))


def _optimize(flags: OptimizeFlags) -> int:
    find_in_working_folder()
    printer = common.FindingPrinter(flags.quiet)
    asked = optimizing.PromptJob(
        job=_job(flags),
        truth=flags.truth,
        program=flags.program,
        optimizer=flags.optimizer,
        hold_out=flags.hold_out,
        candidates=flags.candidates,
        seed=flags.seed,
        most_questions=flags.max_questions,
        reflection_model=flags.reflection_model,
        out=flags.out,
        keep_anyway=flags.keep_anyway,
        notify=warning_printer(flags.quiet),
    )
    if flags.plan:
        return print_plans([asked.plan(printer)], flags.as_json)
    found = asked.run(printer)
    if flags.as_json:
        files = {"record": str(found.record), "findings": printer.as_dicts()}
        print_json([found.as_dict() | files])
        return printer.status()
    printer.close()
    if not flags.quiet:
        result = found.result
        print_lines(shown.prompt_lines(result, found.diff))
        print_table(shown.figure_table(result.improvement))
        print_lines(shown.outcome_lines(result, str(flags.out), found.written))
        topics = found.parts.topics()
        print_lines(shown.optimized_lines(result, topics, found.spent, found.reflection))
        print_lines([f"record: {found.record}"])
    return printer.status()


def _job(flags: OptimizeFlags) -> Job:
    """Return the inputs, the judge with its settings, and how to use a model."""
    model = options_of(flags, plan=flags.plan)
    template = Job(
        flags.responses or (),
        Outputs(Path(), NAME),
        topics=flags.topics,
        documents=flags.documents or (),
        own_documents=flags.own_documents,
        nuggets=flags.nuggets or (),
        dataset=flags.dataset,
        only_topics=flags.only_topics or (),
        only_runs=flags.only_runs or (),
        model=model,
        words=words_of(flags.mapped or ()),
    )
    choice = Choice(
        flags.judge or (),
        workflow=workflow_at(flags.workflow),
        written=flags.settings or (),
    )
    (job,) = jobs_of(template, choice)
    return job
