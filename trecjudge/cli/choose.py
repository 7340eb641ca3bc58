"""`choose`: which judge is worth its price, by labels of people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trecjudge.cli.exits import warning_printer
from trecjudge.cli.flags import AskingFlags, MapFlags, MaterialFlags, PrintFlags
from trecjudge.cli.jobs import request_job
from trecjudge.cli.parameters import argument, command_with, option, part
from trecjudge.cli.printing import (
    FindingPrinter,
    print_json,
    print_lines,
    print_plans,
    print_table,
)
from trecjudge.evaluation.trust.buying import choose_option, workflow_of
from trecjudge.inputs.labels.vocabulary import parse_label_map
from trecjudge.job.audit.rules import AuditRules
from trecjudge.job.trust.choosing import compare_judges
from trecjudge.settings.plugins import find_in_working_folder
from trecjudge.show import trust as shown

NAME = "choose"


class ChooseFlags(MapFlags, MaterialFlags, AskingFlags, PrintFlags):
    """The judge, the labels, and what is wanted of it."""

    judge: Sequence[str] = argument("The judge to try.", metavar="JUDGE")
    labels: Path = option(
        "Labels of people, as `judges audit` takes them; 100 give a first answer.", ...
    )
    most_labelled: int | None = part(
        "--max", "labelled", "Labelled responses, drawn from all.", min=1
    )
    least: float | None = part(
        "--min", "right", "The share with people's label, held in 95 %.", min=0
    )
    most_asked: float | None = part(
        "--max", "asked", "The share of items a model may be asked, 0 to 1.", min=0
    )


@command_with(ChooseFlags)
def choose(flags: ChooseFlags) -> int:
    """Compare judges and cascades by what they cost and how right they are.

    By labels of people: the judge without a model, the model or each voter of the workflow, their
    votes, and cascades, in which words decide where they are sure and a model is asked for the
    rest. It names the one that keeps what is wanted for the least.
    """
    find_in_working_folder()  # for the user's own judges, measures and prompts
    printer, warn = FindingPrinter(flags.quiet), warning_printer(flags.quiet)
    job = request_job(flags, NAME)
    rules = AuditRules(str(flags.labels), map=parse_label_map(flags.mapped))
    found = compare_judges(job, rules, flags.most_labelled, printer, warn)
    if flags.plan:
        return print_plans([found.spent | {"name": NAME, "items": found.items}], flags.as_json)
    chosen = choose_option(found.options, flags.least, flags.most_asked)
    workflow = workflow_of(chosen, found.models) if chosen else {}
    if flags.as_json:
        record = {
            "options": [one.as_dict() for one in found.options],
            "chosen": chosen.as_dict() if chosen else None,
            "workflow": workflow,
        }
        print_json([record | {"calls": found.spent, "findings": printer.as_dicts()}])
    else:
        printer.close()
        if not flags.quiet:
            print_table(shown.option_table(found.options))
        print_lines(shown.choice_lines(chosen, _wanted(flags), workflow))
    return 1 if chosen is None else printer.status()


def _wanted(flags: ChooseFlags) -> str:
    """Return what is wanted, in words."""
    right = [] if flags.least is None else [f"right on {flags.least:g}"]
    asked = [] if flags.most_asked is None else [f"asked about {flags.most_asked:.0%} at most"]
    return " and ".join([*right, *asked]) or "the judge that is right most"
