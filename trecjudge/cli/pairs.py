"""`pairs`: judge bare pairs of a sentence and a document, and compare them with labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from trecjudge.cli import model_options as of_model
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.asking import options_of
from trecjudge.cli.exits import exit_status, warning_printer
from trecjudge.cli.flags import taking
from trecjudge.cli.printing import print_json, print_lines, print_plans, print_table
from trecjudge.errors import InputError
from trecjudge.evaluation.pairs.measuring import Tally
from trecjudge.evaluation.pairs.reading import bare_pairs, renamed, some
from trecjudge.evaluation.pairs.verdicts import Verdict
from trecjudge.files import chosen
from trecjudge.job.choice import Choice, jobs_of, without_effect, workflow_at
from trecjudge.job.job import Job
from trecjudge.job.pairs import JUDGE, RUN, judge_pairs
from trecjudge.results.outputs import Outputs
from trecjudge.settings.limits import limited
from trecjudge.show import pairs as shown

Files = Annotated[
    list[Path],
    typer.Argument(
        help="JSONL with sentence (or claim, text, …) and document (or passage, evidence, …), and"
        " label, group and id if you have them; may be compressed. Each of several files is a"
        " group."
    ),
]
Output = Annotated[
    Path, typer.Option("--output", help="A file for the verdicts, one JSON object a line.")
]
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--field",
        metavar="PART=NAME",
        help="How the files call sentence, document, label, group or id.",
    ),
]


@dataclass(frozen=True, slots=True)
class PairFlags:
    """What the command line asks for: a flag each."""

    files: Files
    fields: Fields = None
    limit: flag.LimitFlag = None
    calibration: flag.CalibrationFile = None
    workflow: flag.WorkflowFile = None
    settings: flag.Settings = None
    use_env_llm: of_model.UseEnvLlm = False
    cache_dir: of_model.CacheDir = None
    cache_from: of_model.CacheFrom = None
    refresh: of_model.Refresh = False
    offline: of_model.Offline = False
    plan: of_model.Plan = False
    max_calls: of_model.MaxCalls = None
    max_tokens: of_model.MaxTokens = None
    max_cost: of_model.MaxCost = None
    output: Output = Path("verdicts.jsonl")
    quiet: flag.Quiet = False
    as_json: flag.AsJson = False


@taking(PairFlags)
def pairs(ctx: typer.Context, flags: PairFlags) -> None:
    """Judge bare pairs of a sentence and a document.

    If the files have labels, it shows how good the judge is.
    """

    def work() -> int:
        with limited(flags.limit or ()):
            return _judge(flags)

    raise typer.Exit(exit_status(work))


def _judge(flags: PairFlags) -> int:
    printer = common.FindingPrinter(flags.quiet)
    tally = Tally(printer)
    read = bare_pairs(flags.files, printer, renamed(flags.fields or ()))
    found = some(read, ", ".join(map(str, flags.files)))
    job, warn = _job(flags), warning_printer(flags.quiet)
    if message := without_effect([job]):
        warn(message)
    if flags.plan:
        plan = {"name": RUN} | judge_pairs(job, found, tally.add, warn)
        return print_plans([plan | {"items": tally.pairs}], flags.as_json)
    if any(_is_same(flags.output, path) for path in flags.files):
        raise InputError(f"--output {flags.output}: is one of the files to judge; give another")
    with chosen(flags.output) as file:

        def take(verdict: Verdict) -> None:
            file.write(orjson.dumps(verdict.as_dict(), option=orjson.OPT_APPEND_NEWLINE))
            tally.add(verdict)

        spent = judge_pairs(job, found, take, warn)
    _print(flags, tally, spent, printer)
    return 3 if tally.failures else printer.status()


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _job(flags: PairFlags) -> Job:
    """Return the settings of the judge, and how to use a model."""
    model = options_of(flags, flags.refresh, flags.plan)
    template = Job((), Outputs(Path(), RUN), model=model, calibration=flags.calibration)
    choice = Choice((JUDGE,), workflow=workflow_at(flags.workflow), written=flags.settings or ())
    (job,) = jobs_of(template, choice)
    return job


def _print(
    flags: PairFlags, tally: Tally, spent: dict[str, Any], printer: common.FindingPrinter
) -> None:
    """Print figures and counts, as tables or as JSON."""
    measured = tally.measured()
    counts = {
        "pairs": tally.pairs,
        "labelled": tally.labelled,
        "nothing_to_check": tally.nothing,
        "unjudged": dict(sorted(tally.failures.items())),
    }
    if flags.as_json:
        files = {"output": str(flags.output), "calls": spent, "findings": printer.as_dicts()}
        print_json([counts | measured.as_dict() | files])
        return
    printer.close()
    if flags.quiet:
        return
    if measured.whole is not None:
        print_table(shown.figure_table(measured.whole))
        for title, parts in (("group", measured.by_group), ("document", measured.by_length)):
            if parts:
                print_table(shown.part_table(title, parts))
    print_lines(shown.pair_lines(tally, measured, str(flags.output), spent))
