"""`label-next`: the items that people should label first, to rank or to calibrate."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from trecjudge.cli import command_options as own
from trecjudge.cli import options as flag
from trecjudge.cli import shared as common
from trecjudge.cli.exits import exits
from trecjudge.cli.lazy import Later
from trecjudge.cli.printing import print_json, print_lines, print_table
from trecjudge.errors import InputError
from trecjudge.inputs.labels import read_labels
from trecjudge.inputs.labels.vocabulary import words_of
from trecjudge.show import tables

if TYPE_CHECKING:  # numpy: not for --help
    from trecjudge.evaluation import candidates
    from trecjudge.stats.labelling import Candidate
else:
    candidates = Later("trecjudge.evaluation.candidates")


@exits
def label_next(
    job: own.JudgedJob,
    budget: Annotated[int, typer.Option(min=1, help="How many items to list.")] = 100,
    human: Annotated[
        Path | None,
        typer.Option(help="The labels that you have already; their items are left out."),
    ] = None,
    mapped: flag.MapLabels = None,
    measure: Annotated[
        str, typer.Option(help="The measure to rank by; by default the job's.")
    ] = "",
    at_random: Annotated[
        bool, typer.Option("--random", help="Draw the items at random, responses first.")
    ] = False,
    purpose: Annotated[
        Literal["ranking", "calibration"],
        typer.Option(
            "--for", help="What the labels are for: to settle the ranking, or to calibrate."
        ),
    ] = "ranking",
    out: common.JsonlFile = None,
    trust: own.Trust = False,
    as_json: flag.AsJson = False,
    quiet: flag.Quiet = False,
) -> int:
    """List the items that people should label first.

    Their labels would narrow the ranking most, or calibrate best. Fill in the file of --output, and
    give it to --human, or to `calibrate --labels`. From 20 labels of --human on, it says what more
    would buy.
    """
    printer = common.FindingPrinter(quiet)
    labelled = read_labels(human, printer, words_of(mapped or ())) if human else {}
    number, chosen = "gain", None
    if purpose == "calibration":
        if measure or at_random:
            raise InputError("--for calibration: --measure and --random are for the ranking")
        number = "expected"
        drawn = candidates.label_for_calibration(job, budget, labelled, trust)
        found = [(candidate.share or 0.0, candidate) for candidate in drawn]
    else:
        chosen = candidates.label_next(job, budget, labelled, measure, at_random, trust, printer)
        found = chosen.items
    records = [_record(value, number, candidate) for value, candidate in found]
    # Written before anything is printed, so that a closed pipe does not lose it.
    if out is not None:
        common.write_jsonl(out, records)
    if as_json:
        bought: dict[str, Any] = {}
        if chosen is not None:
            bought = {"judge": chosen.judge, "measure": chosen.measure}
            bought["forecast"] = chosen.forecast and asdict(chosen.forecast)
        print_json([{"items": records, **bought, "findings": printer.as_dicts()}])
        return printer.status()
    printer.close()
    if not quiet:
        print_table(tables.candidate_table(found, number))
        if chosen is not None:
            of_judge = f" of judge {chosen.judge}" if chosen.judge else ""
            print_lines([f"gain: on {chosen.measure}{of_judge}; --measure names another"])
            print_lines([tables.forecast_line(chosen.forecast, chosen.why)])
    return printer.status()


def _record(value: float, number: str, candidate: Candidate) -> dict[str, Any]:
    """Return an item as a line to fill in: the key of a label, and what helps to choose it."""
    fields = asdict(candidate)
    key = {k: fields[k] for k in ("topic_id", "run_id", "sentence_index", "doc_id")}
    if candidate.nugget:
        key["nugget"] = candidate.nugget
    context = {"text": candidate.text, "judged": candidate.label, "reason": candidate.reason}
    return key | {"label": None} | context | {number: value}
