"""`labels next`: the items that people should label first, and the page to label them on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from trecjudge.cli.exits import Later, warning_printer
from trecjudge.cli.flags import JudgedJobFlags, MapFlags, PrintFlags, RunFlags, TrustFlags
from trecjudge.cli.parameters import command_with, option, part
from trecjudge.cli.printing import (
    FindingPrinter,
    print_json,
    print_lines,
    print_table,
    write_jsonl,
)
from trecjudge.errors import InputError
from trecjudge.findings import plural
from trecjudge.inputs.labels import Labels, read_labels
from trecjudge.inputs.labels.vocabulary import parse_label_map
from trecjudge.results.config import RecordedInputs
from trecjudge.results.jobs import judged_job
from trecjudge.show import tables

if TYPE_CHECKING:  # numpy, and jinja2 for the page: not for --help
    from trecjudge.evaluation import candidates
    from trecjudge.show.html import labelling
    from trecjudge.stats.labelling import LabelCandidate
else:
    candidates = Later("trecjudge.evaluation.candidates")
    labelling = Later("trecjudge.show.html.labelling")


class LabelNextFlags(JudgedJobFlags, MapFlags, RunFlags, TrustFlags, PrintFlags):
    """The job, what its labels are for, and the page to label on."""

    WITHOUT: ClassVar = frozenset({"name"})
    budget: int = option("How many items to list.", 100, "--top", old=("--budget",), min=1)
    human: Path | None = option(
        "The labels that you have already; their items are left out.",
        None,
        "--labels",
        old=("--human",),
    )
    measure: str = option("The measure to rank by; by default the job's.", "", old=("--measures",))
    at_random: bool = part("--by", "random", "At random, responses first.", False, "--random")
    purpose: Literal["ranking", "calibration"] = option(
        "What the labels are for: to settle the ranking, or to calibrate.", "ranking", "--for"
    )
    by_strata: bool = part("--by", "strata", "As many of each run and label.", False, "--strata")
    by_cut: bool = part("--by", "cut", "Nearest to where the label changes.", False, "--cut")
    disagreements: bool = part(
        "--by", "disagreements", "Those on which the people of --labels differ.", False
    )
    out: Path | None = option("A file: JSONL, or Parquet by its name.", None, "--output")
    page: Path | None = part(
        "--page",
        "",
        "An HTML file to label the items on, in any browser and offline, or a workbook, FILE.xlsx."
        " A fifth of them is drawn at random",
    )
    guideline: Path | None = part("--page", "guideline", "Text for the page: how to label.")
    show_verdict: bool = part(
        "--page",
        "show-verdict",
        "Show what the judge says once the person has decided; else it is not in the file.",
        False,
    )
    assign: int = part(
        "--assign", "", "Write a page for each of so many people, FILE-1.html, ....", 1, min=1
    )
    overlap: float = part(
        "--assign", "overlap", "The share that all of them get (0.2).", 0.2, min=0, max=1
    )

    @property
    def way(self) -> candidates.Way | None:
        """How items are chosen that need not change the ranking."""
        return "strata" if self.by_strata else "cut" if self.by_cut else None


@command_with(LabelNextFlags)
def label_next(flags: LabelNextFlags) -> int:
    """List the items that people should label first.

    Their labels would narrow the ranking most, or calibrate best. Label them on the --page, or fill
    in the file of --output, and give the labels to --labels, there or of `judges calibrate`. From
    20 labels of --labels on, it says what more would buy.
    """
    _check(flags)
    printer = FindingPrinter(flags.quiet)
    chosen = _choose(flags, printer)
    number = "expected" if flags.purpose == "calibration" or flags.way else "gain"
    number = "votes" if flags.disagreements else number
    records = [_record(value, number, candidate) for value, candidate in chosen.items]
    # Written before anything is printed, so that a closed pipe does not lose it.
    if flags.out is not None:
        _check_unlabelled(flags.out)
        write_jsonl(flags.out, records)
    pages = _pages(flags, [candidate for _, candidate in chosen.items])
    if flags.as_json:
        bought: dict[str, Any] = {"pages": {str(path): n for path, n in pages}} if pages else {}
        if chosen.measure:
            bought |= {"judge": chosen.judge, "measure": chosen.measure}
            bought["forecast"] = chosen.forecast and asdict(chosen.forecast)
        print_json([{"items": records, **bought, "findings": printer.as_dicts()}])
        return printer.status()
    printer.close()
    if not flags.quiet:
        print_table(tables.candidate_table(chosen.items, number))
        if chosen.measure:
            of_judge = f" of judge {chosen.judge}" if chosen.judge else ""
            print_lines([f"gain: on {chosen.measure}{of_judge}; --measure names another"])
            print_lines([tables.forecast_line(chosen.forecast, chosen.why)])
        print_lines(f"page: {path} ({plural(n, 'item')})" for path, n in pages)
    return printer.status()


def _check_unlabelled(path: Path) -> None:
    """Raise InputError for a file that people have labelled: what they did would be lost."""
    text = path.read_bytes() if path.is_file() else b""
    is_list = path.suffix != ".parquet" and b'"sampled":' in text  # as this command writes it
    if is_list and re.search(rb'"label": ?"', text):
        raise InputError(f"{path}: has labels of people; give another file, or remove this one")


def _check(flags: LabelNextFlags) -> None:
    """Raise InputError for flags that do not go together."""
    ways = {"random": flags.at_random, "strata": flags.by_strata, "cut": flags.by_cut}
    by = [name for name, given in ways.items() if given]
    if flags.purpose == "calibration" and (flags.measure or by):
        what = by[0] if by else "random"
        raise InputError(f"--for calibration: --measure and --by {what} are for the ranking")
    if flags.disagreements and (flags.measure or by or flags.purpose == "calibration"):
        what = by[0] if by else "random"
        raise InputError(f"--by disagreements: --measure, --by {what} and --for choose other items")
    if len(by) > 1:
        raise InputError(f"--by: give one of {', '.join(by)}")
    if flags.way and flags.measure:
        raise InputError(f"--by {flags.way}: --measure chooses other items")
    if flags.disagreements and flags.page and flags.page.suffix.casefold() == ".xlsx":
        raise InputError("--by disagreements: a workbook has no place for votes: --page FILE.html")
    if flags.page and flags.page.suffix.casefold() not in (".html", ".htm", ".xlsx"):
        raise InputError(f"--page {flags.page}: give FILE.html, or FILE.xlsx for a workbook")
    if flags.disagreements and flags.human is None:
        raise InputError("--by disagreements: give the labels of several people, --labels FOLDER")
    for_page: dict[str, object] = {
        "guideline": flags.guideline, "show-verdict": flags.show_verdict,
        "--assign": flags.assign > 1, "--rag-responses": flags.responses,
        "--rag-topics": flags.topics, "--documents": flags.documents,
    }  # fmt: skip
    given = next((name for name, value in for_page.items() if value), "")
    if flags.page is None and given:
        raise InputError(f"{given} is for a page: give its file, --page FILE.html")


def _choose(flags: LabelNextFlags, printer: FindingPrinter) -> candidates.Chosen:
    """Return the items; those that are not for a ranking with no measure."""
    human, trust = flags.human, flags.trust
    labelled = read_labels(human, printer, parse_label_map(flags.mapped)) if human else Labels()
    asked = flags.job, flags.budget, labelled
    if flags.disagreements:
        disputed = candidates.disputed(*asked, trust, printer)
        return candidates.Chosen([(float(len(one.votes)), one) for one in disputed], None)
    if flags.purpose == "calibration":
        drawn = candidates.label_for_calibration(*asked, trust)
        return candidates.Chosen([(one.share or 0.0, one) for one in drawn], None)
    way = flags.way
    if flags.page is not None and not flags.at_random:
        return candidates.label_mixed(*asked, flags.measure, trust, printer, way)
    if way is not None:
        return candidates.label_by(*asked, way, trust)
    return candidates.label_next(*asked, flags.measure, flags.at_random, trust, printer)


def _pages(flags: LabelNextFlags, items: Sequence[LabelCandidate]) -> list[tuple[Path, int]]:
    """Write the pages, where they are asked for; what they lack is told."""
    if flags.page is None:
        return []
    given = RecordedInputs.given(flags.topics, flags.responses, flags.documents, flags.dataset)
    wanted = labelling.LabelPages(
        judged_job(flags.job).outputs,
        flags.page,
        given,
        flags.guideline,
        flags.assign,
        flags.overlap,
        flags.show_verdict,
        flags.trust,
    )
    pages, lacking = labelling.write_label_pages(wanted, items)
    for what in lacking:
        warning_printer(flags.quiet)(what)
    return pages


def _record(value: float, number: str, candidate: LabelCandidate) -> dict[str, Any]:
    """Return an item as a line to fill in: the key of a label, and what helps to choose it."""
    fields = asdict(candidate)
    key = {k: fields[k] for k in ("topic_id", "run_id", "sentence_index", "doc_id")}
    if candidate.nugget:
        key["nugget"] = candidate.nugget
    if candidate.against:
        key["against"] = candidate.against
    context = {"text": candidate.text, "judged": candidate.label, "reason": candidate.reason}
    how = {"sampled": candidate.sampled} if candidate.sampled else {}
    return key | {"label": None} | context | how | {number: value}
