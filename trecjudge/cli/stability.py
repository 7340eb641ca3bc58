"""`stability`: whether a judge says the same again, and what it favours."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from trecjudge.cli import model_options as of_model
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.asking import options_of
from trecjudge.cli.exits import exit_status, warning_printer
from trecjudge.cli.flags import taking
from trecjudge.cli.printing import print_json, print_lines, print_plans, print_table
from trecjudge.errors import InputError, unknown
from trecjudge.evaluation.stability.changes import CHANGES, Change
from trecjudge.job.choice import Choice, jobs_of, without_effect, workflow_at
from trecjudge.job.job import Job
from trecjudge.job.stability import measure_stability
from trecjudge.results.outputs import Outputs
from trecjudge.settings.plugins import find_in_working_folder
from trecjudge.show import stability as shown

NAME = "stability"
MOST_SAMPLES = 20
MostResponses = Annotated[
    int, typer.Option("--responses", min=1, help="Test on so many responses, drawn from all.")
]
Samples = Annotated[
    int,
    typer.Option(min=0, max=MOST_SAMPLES, help="Ask a model each question so many times; 0 never."),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--change", metavar="NAME", help="Only these changes, or none; by default all."),
]


@dataclass(frozen=True, slots=True)
class StabilityFlags:
    """What the command line asks for: a flag each."""

    responses: flag.Responses = None
    topics: flag.Topics = None
    documents: flag.Documents = None
    own_documents: flag.OwnDocuments = False
    nuggets: flag.Nuggets = None
    dataset: flag.Dataset = "auto"
    judge: flag.JudgeName = None
    workflow: flag.WorkflowFile = None
    settings: flag.Settings = None
    most: MostResponses = 100
    samples: Samples = 3
    changes: Changes = None
    use_env_llm: of_model.UseEnvLlm = False
    cache_dir: of_model.CacheDir = None
    cache_from: of_model.CacheFrom = None
    refresh: of_model.Refresh = False
    offline: of_model.Offline = False
    plan: of_model.Plan = False
    max_calls: of_model.MaxCalls = None
    max_tokens: of_model.MaxTokens = None
    max_cost: of_model.MaxCost = None
    wide: flag.Wide = False
    quiet: flag.Quiet = False
    as_json: flag.AsJson = False


@taking(StabilityFlags)
def stability(ctx: typer.Context, flags: StabilityFlags) -> None:
    """Test whether a judge is stable, and what it favours.

    Some answers are judged again: the same question several times, groups in reverse order, and
    answers that say the same in another order, at greater length, or in another style.
    """
    raise typer.Exit(exit_status(lambda: _test(flags)))


def _test(flags: StabilityFlags) -> int:
    find_in_working_folder()  # for the user's own judges, measures and prompts
    job, printer = _job(flags), common.FindingPrinter(flags.quiet)
    warn = warning_printer(flags.quiet)
    if message := without_effect([job]):
        warn(message)
    changes = _changes(flags.changes)
    tested = measure_stability(job, flags.most, flags.samples, printer, warn, changes)
    if flags.plan:
        plan = tested.spent | {"name": NAME, "items": tested.items}
        return print_plans([plan], flags.as_json)
    if flags.as_json:
        print_json([tested.as_dict() | {"findings": printer.as_dicts()}])
        return 3 if tested.unjudged else printer.status()
    printer.close()
    if not flags.quiet:
        for found in (shown.flip_table(tested), shown.shift_table(tested, flags.wide)):
            print_table(found)
    print_lines(shown.stability_lines(tested))
    return 3 if tested.unjudged else printer.status()


def _changes(names: list[str] | None) -> list[Change]:
    """Return the changes by name. Raises InputError for an unknown one."""
    known = {change.name: change for change in CHANGES}
    if names == ["none"]:
        return []
    for name in names or ():
        if name not in known:
            raise InputError(f"--change: {unknown('change', name, [*known, 'none'])}")
    return [known[name] for name in names or known]


def _job(flags: StabilityFlags) -> Job:
    """Return the judge, its inputs, and how to use a model."""
    model = options_of(flags, flags.refresh, flags.plan, flags.documents or ())
    template = Job(
        runs=flags.responses or (),
        outputs=Outputs(Path(), NAME),
        topics=flags.topics,
        documents=flags.documents or (),
        own_documents=flags.own_documents,
        nuggets=flags.nuggets or (),
        dataset=flags.dataset,
        model=model,
        command_line=tuple(sys.argv),
    )
    workflow = workflow_at(flags.workflow)
    choice = Choice(flags.judge or (), workflow=workflow, written=flags.settings or ())
    (job,) = jobs_of(template, choice)
    return job
