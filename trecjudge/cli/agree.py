"""`agree`: how far two sets of labels agree on the same items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from trecjudge.cli.exits import Later, warning_printer
from trecjudge.cli.flags import MapFlags, PrintFlags, missing_part
from trecjudge.cli.parameters import argument, command_with, option, part
from trecjudge.cli.printing import FindingPrinter, print_json, print_lines, print_table
from trecjudge.errors import InputError
from trecjudge.inputs.labels.vocabulary import parse_label_map

if TYPE_CHECKING:  # rich and the scores: not for --help
    from trecjudge.evaluation import agreement
    from trecjudge.evaluation.agreement import Agreement
    from trecjudge.show import tables
else:
    agreement = Later("trecjudge.evaluation.agreement")
    tables, tables = Later("trecjudge.show.tables"), Later("trecjudge.show.tables")

FORMS = "qrels, labels (JSONL, CSV), or a job (its folder, FOLDER/NAME, any of its files)."


class AgreeFlags(MapFlags, PrintFlags):
    """Two sets of labels, and how they are compared."""

    predicted: Sequence[Path] = argument(
        f"The labels to look at: {FORMS} Several without --labels are compared two by two.",
        metavar="JUDGED",
        old=("--predicted",),
    )
    truth: Path | None = option(
        f"The labels to compare with: {FORMS}", None, "--labels", old=("--truth",)
    )
    threshold: int = option("The lowest grade that counts as relevant, or supported.", 1)
    on_missing: Literal["common", "zero", "error"] = missing_part("common")
    judge: str = option("The judge whose labels to compare; by default each by itself.", "")
    by_topic: bool = part("--by", "topic", "Figures of each topic, too.", False)


@command_with(AgreeFlags)
def agree(flags: AgreeFlags) -> int:
    """Show how far labels agree.

    It prints confusion matrix, accuracy, kappa, alpha, overlap and AUC. Of several files without
    --labels, such as qrels of one pool by several judges, it prints a row for each two.
    """
    printer = FindingPrinter(flags.quiet)
    lacking: list[str] = []
    words = parse_label_map(flags.mapped)
    options = agreement.AgreementOptions(flags.threshold, flags.on_missing, flags.judge, words)
    every = _agreements(flags, printer, options, lacking.append)
    for why in lacking:
        warning_printer(flags.quiet)(why)
    if flags.as_json:
        print_json([found.as_dict() | {"findings": printer.as_dicts()} for found in every])
        return printer.status()
    printer.close()
    if not flags.quiet and flags.truth is None:
        print_table(tables.pairs_table(every))
        return printer.status()
    for found in every if not flags.quiet else ():
        if len(flags.predicted) > 1:
            print_lines([found.predicted.name])
        if len(every) + len(lacking) > len(flags.predicted):
            print_lines([f"judge {found.judge}"])
        _print(found, flags.by_topic)
    return printer.status()


def _agreements(
    flags: AgreeFlags,
    printer: FindingPrinter,
    options: agreement.AgreementOptions,
    notify: Callable[[str], None],
) -> Sequence[Agreement]:
    """Return the agreement of each set of labels with the truth, or of each two without one."""
    if flags.truth is not None:
        return [
            found
            for path in flags.predicted
            for found in agreement.agreements(flags.truth, path, printer, options, notify)
        ]
    if flags.by_topic:
        raise InputError("--by topic: give --labels too; or --json, which has all topics")
    if len(flags.predicted) == 1:
        raise InputError(
            "--labels is missing: give FILE: the labels to compare with; or several sets of labels"
        )
    return agreement.pairwise_agreements(flags.predicted, printer, options, notify)


def _print(found: Agreement, by_topic: bool) -> None:
    print_lines([tables.agreement_sentence(found)])
    print_table(tables.confusion_table(found))
    print_table(tables.agreement_table(found))
    if by_topic:
        print_table(tables.topic_table(found))
    print_lines([tables.agreement_line(found)])
    print_lines(tables.time_lines(found))
    if found.people is not None:
        print_lines(tables.people_lines(found.people))
        for shown in tables.people_tables(found.people):
            print_table(shown)
