"""`trust`: a judge's card, and whether the judge is still the one of its card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from trecjudge.cli.exits import warning_printer
from trecjudge.cli.flags import MapFlags, OutputFlags
from trecjudge.cli.jobs import request_job
from trecjudge.cli.parameters import argument, command_with, option, part, several
from trecjudge.cli.printing import FindingPrinter, print_json, print_lines, print_plans
from trecjudge.cli.stability import StabilityFlags, changes_named
from trecjudge.errors import InputError
from trecjudge.evaluation.perturbation import DARK
from trecjudge.evaluation.trust.card import JudgeCard, read_card
from trecjudge.evaluation.trust.drift import Drift, compare_cards
from trecjudge.evaluation.trust.probes import USUAL
from trecjudge.inputs.labels.vocabulary import parse_label_map
from trecjudge.job.audit.rules import AuditRules
from trecjudge.job.request import Job, warn_without_model
from trecjudge.job.trust.measuring import TrustRequest, measure_trust
from trecjudge.results.config import read_config
from trecjudge.results.outputs import Outputs
from trecjudge.settings.plugins import find_in_working_folder
from trecjudge.show import trust as shown

NAME = "trust"


class CardFlags(StabilityFlags, MapFlags, OutputFlags):
    """The judge, what it is tried on, and where its card goes."""

    WITHOUT: ClassVar = frozenset({"measures", "show_all", "wide", "compress"})
    judge: Sequence[str] = argument("The judge to try.", metavar="JUDGE")
    labels: Path | None = option("Labels of people, as `judges audit` takes them.")
    most_labelled: int | None = part(
        "--max", "labelled", "Labelled responses, drawn from all.", min=1
    )
    changes: Sequence[str] = several(
        "Only these changes, or none; `game` is all games, `dark` asks where nothing is to find.",
        "--change",
        metavar="NAME",
    )
    against: Path | None = option(
        "An earlier NAME.card.json: ask its items again, and exit with 1 if the judge has changed.",
        metavar="OTHER",
    )


@command_with(CardFlags)
def trust(flags: CardFlags) -> int:
    """Make a judge's card, and see whether it is still the same judge.

    The card says what the judge is, how far people agree with it, how often it changes its mind,
    what it favours, and what it says where there is nothing to find. It is printed, and written as
    NAME.card.json beside the leaderboard of the job of that name, whose report shows it. Runs,
    topics and documents are those of the job where none are given.
    """
    find_in_working_folder()  # for the user's own judges, measures and prompts
    printer, warn = FindingPrinter(flags.quiet), warning_printer(flags.quiet)
    outputs = Outputs(flags.out_dir, flags.name)
    before = read_card(flags.against) if flags.against else None
    job = _job(flags, outputs)
    _check_place(job, outputs)
    if message := warn_without_model([job]):
        warn(message)
    card, spent = measure_trust(job, _request(flags, before), printer, warn)
    if card is None:
        return print_plans([{"name": NAME} | spent], flags.as_json)
    drift = compare_cards(before, card) if before else None
    written = _write(card, outputs, flags.against)
    if flags.as_json:
        more = {"drift": drift.as_dict()} if drift else {}
        print_json([card.as_dict() | more | {"findings": printer.as_dicts()}])
    else:
        printer.close()
        _print(flags, card, drift, before, written)
    if drift is not None and drift.moved:
        return 1
    return 3 if card.about["unjudged"] else printer.status()


def _job(flags: CardFlags, outputs: Outputs) -> Job:
    """Return the job that tries the judge. Raises InputError without runs or labelled pairs."""
    job = request_job(flags, NAME)
    inputs = read_config(outputs.config).inputs
    if not job.runs and inputs.runs:
        return replace(
            job,
            runs=inputs.runs,
            topics=job.topics or inputs.topics,
            documents=job.documents or inputs.documents,
            own_documents=job.own_documents or inputs.own_documents,
            dataset=inputs.dataset if job.dataset == "auto" else job.dataset,
        )
    if not job.runs:
        raise InputError(
            f"{NAME}: give runs to try the judge on (--rag-responses), or a job that has some"
            f" (--out-dir, --name); {outputs.config} is not there"
        )
    return job


def _check_place(job: Job, outputs: Outputs) -> None:
    """Raise InputError where a job of that name was judged by others, before anything is paid."""
    judges = read_config(outputs.config).record.get("judges")
    if judges and not set(judges).intersection(job.judges):
        raise InputError(
            f"{outputs.config}: is a job of {', '.join(judges)}, not of {', '.join(job.judges)}:"
            " give another --name for the card"
        )


def _request(flags: CardFlags, before: JudgeCard | None) -> TrustRequest:
    """Return what is tried: beside an earlier card, only what that can be compared in."""
    usual = USUAL if before is None else ()
    asked = changes_named(flags.changes, (DARK,)) if flags.changes else usual
    labels = None
    if flags.labels is not None:
        labels = AuditRules(str(flags.labels), map=parse_label_map(flags.mapped))
    return TrustRequest(
        most=flags.most,
        samples=flags.samples if before is None else 0,
        changes=asked,
        dark=not flags.changes or DARK in flags.changes,
        labels=labels,
        most_labelled=flags.most_labelled,
        against=before,
    )


def _write(card: JudgeCard, outputs: Outputs, against: Path | None) -> Path | None:
    """Write a card beside the job of its name; not over the one that it was compared with."""
    if against is not None and outputs.card.exists() and outputs.card.samefile(against):
        return None
    outputs.folder.mkdir(parents=True, exist_ok=True)
    card.write(outputs.card)
    return outputs.card


def _print(
    flags: CardFlags,
    card: JudgeCard,
    drift: Drift | None,
    before: JudgeCard | None,
    written: Path | None,
) -> None:
    if not flags.quiet and drift is None:
        print_lines(shown.card_page(card))
    if drift is not None and before is not None:
        print_lines(shown.drift_lines(drift, before))
    if not flags.quiet:
        print_lines([f"card: {written}" if written else f"card: {flags.against} stays as it is"])
