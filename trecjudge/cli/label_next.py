"""`label-next`: the items that people should label first, to rank or to calibrate."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from trecjudge.cli.exits import Later
from trecjudge.cli.flags import JudgedJobFlags, MapFlags, PrintFlags, TrustFlags
from trecjudge.cli.parameters import command_with, option, switch
from trecjudge.cli.printing import (
    FindingPrinter,
    print_json,
    print_lines,
    print_table,
    write_jsonl,
)
from trecjudge.errors import InputError
from trecjudge.inputs.labels import read_labels
from trecjudge.inputs.labels.vocabulary import parse_label_map
from trecjudge.show import tables

if TYPE_CHECKING:  # numpy: not for --help
    from trecjudge.evaluation import candidates
    from trecjudge.stats.labelling import LabelCandidate
else:
    candidates = Later("trecjudge.evaluation.candidates")


class LabelNextFlags(JudgedJobFlags, MapFlags, TrustFlags, PrintFlags):
    """The job, and what its labels are for."""

    WITHOUT: ClassVar = frozenset({"name"})
    budget: int = option("How many items to list.", 100, "--top", old=("--budget",), min=1)
    human: Path | None = option(
        "The labels that you have already; their items are left out.",
        None,
        "--labels",
        old=("--human",),
    )
    measure: str = option("The measure to rank by; by default the job's.", "", old=("--measures",))
    at_random: bool = switch("Draw the items at random, responses first.", "--random")
    purpose: Literal["ranking", "calibration"] = option(
        "What the labels are for: to settle the ranking, or to calibrate.", "ranking", "--for"
    )
    out: Path | None = option("A file for JSONL, one object a line.", None, "--output")


@command_with(LabelNextFlags)
def label_next(flags: LabelNextFlags) -> int:
    """List the items that people should label first.

    Their labels would narrow the ranking most, or calibrate best. Fill in the file of --output, and
    give it to --labels, there or of `judges calibrate`. From 20 labels of --labels on, it says what
    more would buy.
    """
    printer, human = FindingPrinter(flags.quiet), flags.human
    labelled = read_labels(human, printer, parse_label_map(flags.mapped)) if human else {}
    asked = flags.job, flags.budget, labelled
    number, chosen = "gain", None
    if flags.purpose == "calibration":
        if flags.measure or flags.at_random:
            raise InputError("--for calibration: --measure and --random are for the ranking")
        number = "expected"
        drawn = candidates.label_for_calibration(*asked, flags.trust)
        found = [(candidate.share or 0.0, candidate) for candidate in drawn]
    else:
        chosen = candidates.label_next(*asked, flags.measure, flags.at_random, flags.trust, printer)
        found = chosen.items
    records = [_record(value, number, candidate) for value, candidate in found]
    # Written before anything is printed, so that a closed pipe does not lose it.
    if flags.out is not None:
        write_jsonl(flags.out, records)
    if flags.as_json:
        bought: dict[str, Any] = {}
        if chosen is not None:
            bought = {"judge": chosen.judge, "measure": chosen.measure}
            bought["forecast"] = chosen.forecast and asdict(chosen.forecast)
        print_json([{"items": records, **bought, "findings": printer.as_dicts()}])
        return printer.status()
    printer.close()
    if not flags.quiet:
        print_table(tables.candidate_table(found, number))
        if chosen is not None:
            of_judge = f" of judge {chosen.judge}" if chosen.judge else ""
            print_lines([f"gain: on {chosen.measure}{of_judge}; --measure names another"])
            print_lines([tables.forecast_line(chosen.forecast, chosen.why)])
    return printer.status()


def _record(value: float, number: str, candidate: LabelCandidate) -> dict[str, Any]:
    """Return an item as a line to fill in: the key of a label, and what helps to choose it."""
    fields = asdict(candidate)
    key = {k: fields[k] for k in ("topic_id", "run_id", "sentence_index", "doc_id")}
    if candidate.nugget:
        key["nugget"] = candidate.nugget
    context = {"text": candidate.text, "judged": candidate.label, "reason": candidate.reason}
    return key | {"label": None} | context | {number: value}
