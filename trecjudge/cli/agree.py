"""`agree`: how far two sets of labels agree on the same items."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import trecjudge  # its names are imported when they are asked for: no numpy for --help
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits
from trecjudge.cli.lazy import Later
from trecjudge.cli.printing import print_json, print_lines, print_table

if TYPE_CHECKING:  # rich and the scores: not for --help
    from trecjudge.show import tables
else:
    tables = Later("trecjudge.show.tables")

FORMS = "qrels, JSONL of labels, or a job (its folder, FOLDER/NAME, any of its files)."


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
    found = trecjudge.agree(
        truth, predicted, threshold=threshold, on_missing=on_missing, on_finding=printer
    )
    if as_json:
        print_json([found.as_dict() | {"findings": printer.as_dicts()}])
        return printer.status()
    printer.close()
    if not quiet:
        print_lines([tables.agreement_sentence(found)])
        print_table(tables.confusion_table(found))
        print_table(tables.agreement_table(found))
        if by_topic:
            print_table(tables.topic_table(found))
        print_lines([tables.agreement_line(found)])
    return printer.status()
