"""`agree`: how far two sets of labels agree on the same items."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits, warning_printer
from trecjudge.cli.lazy import Later
from trecjudge.cli.printing import print_json, print_lines, print_table
from trecjudge.inputs.labels.vocabulary import words_of

if TYPE_CHECKING:  # rich and the scores: not for --help
    from trecjudge.evaluation import agreement
    from trecjudge.evaluation.agreement import Agreement
    from trecjudge.show import people, tables
else:
    agreement = Later("trecjudge.evaluation.agreement")
    people, tables = Later("trecjudge.show.people"), Later("trecjudge.show.tables")

FORMS = "qrels, labels (JSONL, CSV), or a job (its folder, FOLDER/NAME, any of its files)."


@exits
def agree(
    truth: Annotated[Path, typer.Option(help=f"The labels to compare with: {FORMS}")],
    predicted: Annotated[Path, typer.Option(help=f"The labels to look at: {FORMS}")],
    threshold: Annotated[
        int, typer.Option(help="The lowest grade that counts as relevant, or supported.")
    ] = 1,
    on_missing: Annotated[
        Literal["common", "zero", "error"],
        typer.Option(
            help="An item that only one of them has: left out, 0 (no_support), or an error."
        ),
    ] = "common",
    judge: Annotated[
        str, typer.Option(help="The judge whose labels to compare; by default each by itself.")
    ] = "",
    mapped: flag.MapLabels = None,
    by_topic: Annotated[
        bool, typer.Option("--by-topic", help="Show the figures of each topic.")
    ] = False,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """Show how far labels agree.

    It prints confusion matrix, accuracy, kappa, alpha, overlap and AUC.
    """
    printer = common.FindingPrinter(quiet)
    sides = truth, predicted, printer, threshold, on_missing, judge, words_of(mapped or ())
    lacking: list[str] = []
    every = agreement.agreements(*sides, lacking.append)
    for why in lacking:
        warning_printer(quiet)(why)
    if as_json:
        print_json([found.as_dict() | {"findings": printer.as_dicts()} for found in every])
        return printer.status()
    printer.close()
    for found in every if not quiet else ():
        if len(every) + len(lacking) > 1:
            print_lines([f"judge {found.judge}"])
        _print(found, by_topic)
    return printer.status()


def _print(found: Agreement, by_topic: bool) -> None:
    print_lines([tables.agreement_sentence(found)])
    print_table(tables.confusion_table(found))
    print_table(tables.agreement_table(found))
    if by_topic:
        print_table(tables.topic_table(found))
    print_lines([tables.agreement_line(found)])
    if found.people is not None:
        print_lines(people.people_lines(found.people))
        for shown in people.people_tables(found.people):
            print_table(shown)
