"""`nuggets create`: banks of nuggets from documents, from runs, or from topics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, get_args

from trecjudge.cli.exits import print_errors, warning_printer
from trecjudge.cli.flags import (
    ModelFlags,
    PrintFlags,
    RunFlags,
    SelectionFlags,
    WorkflowFlags,
)
from trecjudge.cli.jobs import model_of
from trecjudge.cli.parameters import OUTPUT, argument, command_with, option, part, several, switch
from trecjudge.cli.printing import FindingPrinter, print_json, print_plans, write_jsonl
from trecjudge.errors import InputError, unknown
from trecjudge.evaluation.banks.making import (
    BankSettings,
    DraftBank,
    Kind,
    trail,
    trail_of,
)
from trecjudge.inputs.nuggets.bank_files import report_lost, write_banks
from trecjudge.inputs.nuggets.bank_formats import BankFormat, bank_format_named
from trecjudge.job.banks import make_job_banks
from trecjudge.job.request import Job, load_workflow
from trecjudge.models.opening import ModelOptions
from trecjudge.results.outputs import Outputs
from trecjudge.show.closing import model_line


class CreateFlags(RunFlags, SelectionFlags, WorkflowFlags, ModelFlags, PrintFlags):
    """What banks are made from, how, and where they go."""

    WITHOUT: ClassVar = frozenset({"max_runs"})
    target: Path = argument(
        "The new file, .jsonl or .jsonl.gz; or a folder, with a file for each topic.",
        old=OUTPUT,
    )
    sources: Sequence[str] = several(
        "What nuggets are made from: documents that runs cite or that have a grade, runs (what"
        " their responses state), or the topic itself, which needs a model.",
        "--from",
        metavar="SOURCE",
        old=tuple(f"--from-{kind}={kind}" for kind in get_args(Kind)),
    )
    to: str = option("The format of the banks, as for `job convert`.", "autoargue")
    qrels: Path | None = option("Grades of documents; those above 0 are documents of the topic.")
    max_nuggets: int = part("--max", "nuggets", "Nuggets of a topic (20).", 20, min=1)
    max_documents: int = part(
        "--max", "documents", "Documents of a topic, the most cited first (50).", 50, min=1
    )
    window: int = option("Ask a model about N documents or nuggets at a time.", 10, min=1)
    document_text: bool = switch(
        "Include document text in the trail.", "--document-text/--no-document-text", on=True
    )

    @property
    def making(self) -> BankSettings:
        """How banks are made."""
        kinds: tuple[Kind, ...] = get_args(Kind)
        for name in self.sources:
            if name not in kinds:
                raise InputError(f"--from: {unknown('source', name, kinds)}")
        kinds = tuple(kind for kind in kinds if kind in self.sources)
        return BankSettings(kinds, self.max_nuggets, self.max_documents, self.window)

    def job(self, model: ModelOptions) -> Job:
        """Return the job of whose inputs banks are made."""
        return Job(
            runs=self.responses,
            outputs=Outputs(Path(), "nuggets"),
            workflow=load_workflow(self.workflow),
            topics=self.topics,
            documents=self.documents,
            qrels=self.qrels,
            dataset=self.dataset,
            model=model,
            max_topics=self.max_topics,
            only_topics=self.only_topics,
            only_runs=self.only_runs,
        )


@command_with(CreateFlags)
def create(flags: CreateFlags) -> int:
    """Make banks of nuggets from documents, from runs, or from topics.

    A file beside the bank, NAME.trail.jsonl, shows where each nugget is from.
    """
    making, model, format_ = flags.making, model_of(flags), bank_format_named(flags.to)
    making.check(model.use)
    printer = FindingPrinter(flags.quiet)
    warn = warning_printer(flags.quiet)
    made, spent = make_job_banks(flags.job(model), making, printer, warn)
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


def _write(made: Sequence[DraftBank], flags: CreateFlags, format_: BankFormat) -> list[str]:
    """Write the trail and the banks; return the names of the files, that of the trail first."""
    files = write_banks((one.bank for one in made), flags.target, format_)
    path, text = trail_of(flags.target), flags.document_text
    write_jsonl(path, (line for one in made for line in trail(one, format_, text)))
    return list(map(str, (path, *files)))
