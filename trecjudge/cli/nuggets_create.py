"""`nuggets create`: banks of nuggets from documents, from runs, or from topics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from trecjudge.cli import model_options as of_model
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.asking import options_of
from trecjudge.cli.exits import exits, print_errors, warning_printer
from trecjudge.cli.flags import taking
from trecjudge.cli.printing import print_json, print_plans
from trecjudge.evaluation.banks.asking import PROGRAMS, REPLY
from trecjudge.evaluation.banks.making import Kind, Made, Making, make_banks, trail, trail_of
from trecjudge.evaluation.banks.material import Inputs, read_material
from trecjudge.files import default_folder
from trecjudge.inputs.nuggets.registry import BankFormat, bank_format_named
from trecjudge.inputs.nuggets.writing import report_lost, write_banks
from trecjudge.job.choice import workflow_at
from trecjudge.models.model import Model
from trecjudge.models.opening import ModelOptions, open_model
from trecjudge.show.closing import model_line

Target = Annotated[
    Path,
    typer.Argument(
        help="The new file, .jsonl or .jsonl.gz; or a folder, with a file for each topic."
    ),
]
FromDocuments = Annotated[
    bool,
    typer.Option(
        "--from-documents",
        help="Make nuggets from the documents that runs cite, or from graded ones.",
    ),
]
FromRuns = Annotated[
    bool, typer.Option("--from-runs", help="Make nuggets from what the responses state.")
]
FromTopic = Annotated[
    bool, typer.Option("--from-topic", help="Make nuggets from the topic itself; needs a model.")
]
To = Annotated[str, typer.Option("--to", help="The format of the banks, as for `convert`.")]
MaxNuggets = Annotated[int, typer.Option(min=1, help="Keep at most N nuggets of a topic.")]
MaxDocuments = Annotated[
    int, typer.Option(min=1, help="Read at most N documents of a topic, the most cited first.")
]
Window = Annotated[
    int, typer.Option(min=1, help="Ask a model about N documents or nuggets at a time.")
]
DocumentText = Annotated[
    bool,
    typer.Option("--document-text/--no-document-text", help="Include document text in the trail."),
]
Grades = Annotated[
    Path | None,
    typer.Option("--qrels", help="Grades of documents; those above 0 are documents of the topic."),
]


@dataclass(frozen=True, slots=True)
class CreateFlags:
    """What the command line asks for: a flag each."""

    target: Target
    from_documents: FromDocuments = False
    from_runs: FromRuns = False
    from_topic: FromTopic = False
    to: To = "autoargue"
    topics: flag.Topics = None
    responses: flag.Responses = None
    documents: flag.Documents = None
    qrels: Grades = None
    dataset: flag.Dataset = "auto"
    only_topics: flag.OnlyTopics = None
    only_runs: flag.OnlyRuns = None
    max_topics: flag.MaxTopics = None
    max_nuggets: MaxNuggets = 20
    max_documents: MaxDocuments = 50
    window: Window = 10
    workflow: flag.WorkflowFile = None
    use_env_llm: of_model.UseEnvLlm = False
    cache_dir: of_model.CacheDir = None
    cache_from: of_model.CacheFrom = None
    refresh: of_model.Refresh = False
    offline: of_model.Offline = False
    plan: of_model.Plan = False
    max_calls: of_model.MaxCalls = None
    max_tokens: of_model.MaxTokens = None
    max_cost: of_model.MaxCost = None
    document_text: DocumentText = True
    quiet: flag.Quiet = False
    as_json: flag.AsJson = False

    @property
    def making(self) -> Making:
        """How banks are made."""
        asked: dict[Kind, bool] = {
            "documents": self.from_documents,
            "runs": self.from_runs,
            "topic": self.from_topic,
        }
        kinds = [kind for kind, wanted in asked.items() if wanted]
        return Making(kinds, self.max_nuggets, self.max_documents, self.window)

    @property
    def inputs(self) -> Inputs:
        """What banks are made from."""
        return Inputs(
            self.topics,
            self.responses or (),
            self.documents or (),
            self.qrels,
            self.dataset,
            self.only_topics or (),
            self.only_runs or (),
            self.max_topics,
        )

    @property
    def model(self) -> ModelOptions:
        """How a model may be used."""
        return options_of(self, self.refresh, self.plan)


@exits
def create_banks(flags: CreateFlags) -> int:
    """Make the banks, write them and their trail; return the exit status."""
    making, model, format_ = flags.making, flags.model, bank_format_named(flags.to)
    making.check(model.use)
    printer = common.FindingPrinter(flags.quiet)
    made, spent = asyncio.run(_made(flags, making, model, printer))
    if flags.plan:
        if not (flags.quiet or flags.as_json):
            note = "matching and importance are asked about what was found: not counted"
            print_errors([f"note: {note}"])
        return print_plans([{"name": "nuggets"} | spent], flags.as_json)
    banks = [one.bank for one in made]
    report_lost(banks, format_, "--to", printer, "; the trail has it")
    files = _write(made, flags, format_)
    printer.close()
    count = sum(len(one.drafts) for one in made)
    if flags.as_json:
        counts = {"banks": len(made), "nuggets": count, "files": files, "calls": spent}
        print_json([counts | {"findings": printer.as_dicts()}])
    elif not flags.quiet:
        by = "a model" if model.use else "words"
        lines = [f"banks: {len(made)} topics, {count} nuggets, by {by}: {flags.target}"]
        lines += [f"trail: {files[0]}", *([model_line(spent)] if spent else [])]
        print_errors(lines)
    return printer.status()


def _write(made: Sequence[Made], flags: CreateFlags, format_: BankFormat) -> list[str]:
    """Write the trail and the banks; return the names of the files, that of the trail first."""
    files = write_banks((one.bank for one in made), flags.target, format_)
    path, text = trail_of(flags.target), flags.document_text
    common.write_jsonl(path, (line for one in made for line in trail(one, format_, text)))
    return list(map(str, (path, *files)))


create = taking(CreateFlags)(lambda ctx, flags: create_banks(flags))
create.__doc__ = """Make banks of nuggets from documents, from runs, or from topics.

A file beside the bank, NAME.trail.jsonl, shows where each nugget is from.
"""


async def _made(
    flags: CreateFlags, making: Making, options: ModelOptions, printer: common.FindingPrinter
) -> tuple[list[Made], dict[str, Any]]:
    workflow = workflow_at(flags.workflow)
    programs = {program.name for program in PROGRAMS}
    prompts = {name: text for name, text in workflow.prompts.items() if name in programs}
    warn = warning_printer(flags.quiet)
    async with open_model(options, REPLY | workflow.llm, prompts, PROGRAMS, warn) as model:
        materials = read_material(flags.inputs, flags.cache_dir or default_folder(), printer)
        made = await make_banks(materials, making, model, printer, flags.plan)
        return made, _spent(model, made)


def _spent(model: Model, made: Sequence[Made]) -> dict[str, Any]:
    spent = model.spent()
    return spent | {"items": len(made)} if "items" in spent else spent
