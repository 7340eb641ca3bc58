"""`pairs`: judge bare pairs of a sentence and a document, and compare them with labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import orjson

from trecjudge.cli.exits import warning_printer
from trecjudge.cli.flags import AskingFlags, PrintFlags
from trecjudge.cli.jobs import choice_of, request_job
from trecjudge.cli.parameters import LimitFlags, argument, command_with, option, several
from trecjudge.cli.printing import (
    FindingPrinter,
    print_json,
    print_lines,
    print_plans,
    print_table,
)
from trecjudge.errors import InputError
from trecjudge.evaluation.pairs.differences import VerdictComparison, VerdictDifferences
from trecjudge.evaluation.pairs.earlier import VerdictLine, read_earlier
from trecjudge.evaluation.pairs.measuring import VerdictTally
from trecjudge.evaluation.pairs.reading import bare_pairs, parse_field_names, require_pairs
from trecjudge.evaluation.pairs.verdicts import PairVerdict
from trecjudge.job.pairs import JUDGE, RUN, judge_pairs
from trecjudge.job.request import warn_without_model
from trecjudge.results.json_lines import open_json_lines
from trecjudge.show import evaluation as shown


class PairFlags(LimitFlags, AskingFlags, PrintFlags):
    """The pairs, and where the verdicts go."""

    WITHOUT: ClassVar = frozenset({"judge"})
    files: Sequence[Path] = argument(
        "JSONL with sentence (or claim, text, …) and document (or passage, evidence, …), and"
        " label, group and id if you have them; may be compressed. Each of several files is a"
        " group."
    )
    fields: Sequence[str] = several(
        "How the files call sentence, document, label, group or id.",
        "--keys",
        metavar="PART=KEY",
        old=("--field",),
    )
    output: Path = option(
        "A file for the verdicts: JSONL, or Parquet by its name.",
        Path("verdicts.jsonl"),
    )
    against: Path | None = option(
        "Verdicts of an earlier run on the same pairs (its --output): show by how much each figure"
        " differs from theirs.",
        metavar="OTHER",
    )


@command_with(PairFlags)
def pairs(flags: PairFlags) -> int:
    """Judge bare pairs of a sentence and a document.

    If the files have labels, it shows how good the judge is.
    """
    printer = FindingPrinter(flags.quiet)
    tally = VerdictTally(printer)
    read = bare_pairs(flags.files, printer, parse_field_names(flags.fields))
    where = ", ".join(map(str, flags.files))
    found = require_pairs(read, where)
    warn = warning_printer(flags.quiet)
    job = request_job(flags, RUN, choice=choice_of(flags, judges=(JUDGE,)))
    if message := warn_without_model([job]):
        warn(message)
    if flags.plan:
        plan = {"name": RUN} | judge_pairs(job, found, tally.add, warn)
        return print_plans([plan | {"items": tally.pairs}], flags.as_json)
    if any(_is_same(flags.output, path) for path in flags.files):
        raise InputError(f"--output {flags.output}: is one of the files to judge; give another")
    comparison = _open_comparison(flags, printer)
    with open_json_lines(flags.output) as file:

        def take(verdict: PairVerdict) -> None:
            file.write(orjson.dumps(verdict.as_dict(), option=orjson.OPT_APPEND_NEWLINE))
            tally.add(verdict)
            if comparison:
                comparison.add(VerdictLine.of(verdict), verdict.pair.place.path)

        spent = judge_pairs(job, found, take, warn)
    compared = comparison.compute_differences() if comparison else None
    _print(flags, tally, compared, spent, printer)
    if comparison:
        comparison.require_pairs(where)
    return 3 if tally.failures else printer.status()


def _open_comparison(flags: PairFlags, printer: FindingPrinter) -> VerdictComparison | None:
    """Return what compares with --against, if given. Raises InputError for a file of no verdicts.

    It is read before anything is judged, and is not written over.
    """
    if flags.against is None:
        return None
    if _is_same(flags.output, flags.against):
        raise InputError(f"--output {flags.output}: is the file of --against; give another")
    return VerdictComparison(read_earlier(flags.against, printer))


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _print(
    flags: PairFlags,
    tally: VerdictTally,
    compared: VerdictDifferences | None,
    spent: dict[str, Any],
    printer: FindingPrinter,
) -> None:
    """Print figures and counts, as tables or as JSON."""
    measured = tally.compute_figures()
    counts = {
        "pairs": tally.pairs,
        "labelled": tally.labelled,
        "nothing_to_check": tally.nothing,
        "unjudged": dict(sorted(tally.failures.items())),
        "withheld": dict(sorted(tally.withheld.items())),
    }
    if flags.as_json:
        files = {"output": str(flags.output), "calls": spent, "findings": printer.as_dicts()}
        against = {"against": compared.as_dict()} if compared else {}
        print_json([counts | measured.as_dict() | against | files])
        return
    printer.close()
    if flags.quiet:
        return
    if measured.whole is not None:
        print_table(shown.pairs_table(measured.whole))
        for title, parts in (("group", measured.by_group), ("document", measured.by_length)):
            if parts:
                print_table(shown.pair_parts_table(title, parts))
    if compared is not None:
        for shown_table in shown.difference_tables(compared):
            print_table(shown_table)
        print_lines(shown.verdict_difference_lines(compared))
    print_lines(shown.pair_lines(tally, measured, str(flags.output), spent))
