"""`stability`: whether a judge says the same again, and what it favours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from trecjudge.cli.exits import warning_printer
from trecjudge.cli.flags import AskingFlags, MaterialFlags, PrintFlags, RankingFlags
from trecjudge.cli.jobs import request_job
from trecjudge.cli.parameters import command_with, option, part, several
from trecjudge.cli.printing import (
    FindingPrinter,
    print_json,
    print_lines,
    print_plans,
    print_table,
)
from trecjudge.errors import InputError, unknown
from trecjudge.evaluation.gaming import WAYS
from trecjudge.evaluation.perturbation import CHANGES, GAME, Perturbation
from trecjudge.evaluation.trust.probes import USUAL
from trecjudge.job.request import warn_without_model
from trecjudge.job.stability import measure_stability
from trecjudge.settings.plugins import find_in_working_folder
from trecjudge.show import evaluation as shown

NAME = "stability"
MOST_SAMPLES = 20
NAMES = [change.name for change in CHANGES]


class StabilityFlags(MaterialFlags, AskingFlags, RankingFlags, PrintFlags):
    """The judge, and by what it is tested."""

    WITHOUT: ClassVar = frozenset({"calibration", "measures", "show_all"})
    most: int = part(
        "--max",
        "responses",
        "Responses to test on, drawn from all (100).",
        100,
        "--responses",
        min=1,
    )
    samples: int = option(
        "Ask a model each question so many times; 0 never.", 3, min=0, max=MOST_SAMPLES
    )
    changes: Sequence[str] = several(
        "Only these changes, or none; by default all of them. `game` plays all ways of writing for"
        " the judge, which are tested only where asked for, and game:NAME plays one.",
        "--change",
        metavar="NAME",
    )


@command_with(StabilityFlags)
def stability(flags: StabilityFlags) -> int:
    """Test whether a judge is stable, and what it favours.

    Some answers are judged again: the same question several times, groups in reverse order, and
    answers that say the same in another order, at greater length, or in another style. Asked for
    games, it also judges answers that are written for the judge.
    """
    find_in_working_folder()  # for the user's own judges, measures and prompts
    job, printer = request_job(flags, NAME), FindingPrinter(flags.quiet)
    warn = warning_printer(flags.quiet)
    if message := warn_without_model([job]):
        warn(message)
    changes = changes_named(flags.changes)
    tested = measure_stability(job, flags.most, flags.samples, printer, warn, changes)
    if flags.plan:
        plan = tested.spent | {"name": NAME, "items": tested.items}
        return print_plans([plan], flags.as_json)
    if flags.as_json:
        print_json([tested.as_dict() | {"findings": printer.as_dicts()}])
        return 3 if tested.unjudged else printer.status()
    printer.close()
    if not flags.quiet:
        for found in shown.stability_tables(tested, flags.wide):
            print_table(found)
    print_lines(shown.stability_lines(tested))
    return 3 if tested.unjudged else printer.status()


def changes_named(names: Sequence[str], also: Sequence[str] = ()) -> list[Perturbation]:
    """Return the changes by name, each once. Raises InputError for one that is unknown.

    Names of `also` are known, and stand for no change.
    """
    if list(names) == ["none"]:
        return []
    known: dict[str, list[Perturbation]] = {name: [] for name in also}
    known |= {change.name: [change] for change in (*USUAL, *WAYS)} | {GAME: list(WAYS)}
    for name in names:
        if name not in known:
            raise InputError(f"--change: {unknown('change', name, [*known, 'none'])}")
    found = [change for name in names or NAMES for change in known[name]]
    return list({change.name: change for change in found}.values())
