"""`optimize`: make a judge's prompt agree with people, and measure it on topics held out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from trecjudge.cli.exits import Later, warning_printer
from trecjudge.cli.flags import (
    AskingFlags,
    MapFlags,
    MaterialFlags,
    PrintFlags,
    SelectionFlags,
)
from trecjudge.cli.jobs import request_job
from trecjudge.cli.parameters import LimitFlags, command_with, option, part, switch
from trecjudge.cli.printing import (
    FindingPrinter,
    print_json,
    print_lines,
    print_plans,
    print_table,
)
from trecjudge.inputs.labels.vocabulary import parse_label_map
from trecjudge.settings.plugins import find_in_working_folder

if TYPE_CHECKING:  # DSPy takes a second to load: not for --help
    from trecjudge.job import optimizing
    from trecjudge.show import evaluation as shown
else:
    optimizing = Later("trecjudge.job.optimizing")
    shown = Later("trecjudge.show.evaluation")

NAME = "optimize"


class OptimizeFlags(MapFlags, MaterialFlags, SelectionFlags, LimitFlags, AskingFlags, PrintFlags):
    """The labels, the prompt that is to agree with them, and how it is looked for."""

    WITHOUT: ClassVar = frozenset({"max_topics", "max_runs", "calibration", "refresh"})
    truth: Path = option(
        "The labels of people, in any form that `labels agree` reads. Without --rag-responses,"
        " pairs of sentence, document, label and topic, as `judges pairs` reads them.",
        ...,
        "--labels",
        old=("--truth",),
    )
    program: str = option(
        "The prompt, by name; by default the one by which the judge decides on labels.", ""
    )
    optimizer: Literal["bootstrap", "gepa", "mipro"] = option(
        "Demonstrations (bootstrap), instructions (gepa), or both (mipro).", "bootstrap", "--with"
    )
    hold_out: str = option(
        "Topics to measure on, which nothing is learnt from: `topics` (30 %), a share, a"
        " number, or ids with commas.",
        "topics",
        metavar="WHAT",
    )
    candidates: int = part("--max", "candidates", "Prompts to try, about (6).", 6, min=1)
    max_questions: int = part(
        "--max", "questions", "Questions to learn from, and as many to choose by (200).", 200, min=1
    )
    seed: int = option("Decides which topics are held out.", 0, min=0)
    reflection_model: str = option(
        "The model that proposes prompts; REFLECTION_BASE_URL and REFLECTION_API_KEY lead to"
        " another endpoint.",
        "",
        metavar="NAME",
    )
    out: Path = option(
        "A file for the prompt, written if it is better; NAME.optimize.json has all figures."
        " FILE.py is a script for DSPy's own optimisers instead; no model is asked.",
        Path("prompt.json"),
        "--output",
        old=("--out",),
    )
    keep_anyway: bool = switch(
        "Write the prompt also where it is not shown to be better.",
        "--force",
        old=("--keep-anyway",),
    )


@command_with(OptimizeFlags)
def optimize(flags: OptimizeFlags) -> int:
    """Make a judge's prompt agree with labels of people.

    Whole topics are held out. Agreement on them is shown before and after, with a test.
    """
    find_in_working_folder()
    printer = FindingPrinter(flags.quiet)
    asked = optimizing.PromptJob(
        job=request_job(flags, NAME, words=parse_label_map(flags.mapped)),
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
    if asked.is_export:
        items = asked.export(printer)
        printer.close()
        print_lines([f"script: {flags.out}", f"items: {items}"] if not flags.quiet else ())
        return printer.status()
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
