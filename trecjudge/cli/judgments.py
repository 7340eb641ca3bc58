"""`show` and `judgments`: what a job judged, as responses to read, or as lines to filter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from trecjudge.cli.exits import print_errors
from trecjudge.cli.flags import ItemFlags, QuietFlags
from trecjudge.cli.parameters import command_with, option, several
from trecjudge.cli.printing import output, print_lines
from trecjudge.errors import InputError
from trecjudge.findings import plural
from trecjudge.results.jobs import judged_job
from trecjudge.results.json_lines import open_json_lines
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.show.judgments import (
    UNJUDGED,
    Row,
    Selected,
    Selection,
    file_lines,
    judgment_lines,
    sentence_texts,
    text_of,
)
from trecjudge.show.terminal import (
    LabelCounts,
    chosen_view,
    find_response,
    response_view,
    summary_view,
)


@command_with(ItemFlags)
def show_response(flags: ItemFlags) -> int:
    """Print responses with labels, reasons and evidence.

    The flags choose which sentences and citations are shown.
    """
    path = judged_job(flags.job, flags.name).judgments
    wanted = selection_of(flags)
    if wanted == Selection():
        raise InputError(
            "give --run, --topic, --judge or --label; `job judgments` lists all in lines"
        )
    if wanted.is_of_responses and len(wanted.runs) == len(wanted.topics) == 1:
        found = find_response(path, wanted.runs[0], wanted.topics[0])
        counts = LabelCounts()
        counts.add(*found)
        output().print(summary_view(counts), response_view(*found))
        return 0
    _print_summary(path, wanted)
    return _show_chosen(Selected(JudgmentsReader(path), wanted))


def selection_of(flags: ItemFlags, **more: Any) -> Selection:
    """Return which judgments are chosen; `more` are those fields of it that not all flags have."""
    return Selection(
        runs=flags.run,
        topics=flags.topic,
        judges=flags.judge,
        labels=tuple(label for label in flags.label if label != UNJUDGED),
        unjudged=UNJUDGED in flags.label,
        **more,
    )


def _print_summary(path: Path, wanted: Selection) -> None:
    """Print what was said in all of the responses, of which maybe only some labels are wanted.

    The file is read for it before it is read to be shown: memory stays small.
    """
    counts, every = LabelCounts(), Selected(JudgmentsReader(path), wanted.of_all_labels())
    for response, judgments in every:
        counts.add(response, judgments)
    every.check(wanted)
    if every.judgments:
        output().print(summary_view(counts), end="")


def _show_chosen(selected: Selected) -> int:
    view = response_view if selected.selection.is_of_responses else chosen_view
    console = output()
    for response, judgments in selected:
        if selected.responses > 1:
            print_lines([""])
        console.print(view(response, judgments))
    if not selected.responses:
        print_errors([selected.none_line])
    elif not selected.selection.is_of_responses:
        found = plural(selected.judgments, "judgment")
        print_errors([f"{found} on {plural(selected.responses, 'response')}"])
    return 0


class JudgmentsFlags(ItemFlags, QuietFlags):
    """Which judgments of a job are listed, and where."""

    text: str = option("Only where the sentence, claim or nugget has this text.", "")
    doc: Sequence[str] = several("Only these documents; else all.", "--document", old=("--doc",))
    limit: int | None = option("Only the first N.", None, "--top", old=("--limit",), min=1)
    out: Path | None = option(
        "Write them to a file instead: .jsonl, .csv, .tsv or .parquet.", None, "--output"
    )


@command_with(JudgmentsFlags)
def judgments(flags: JudgmentsFlags) -> int:
    """List, filter and export judgments.

    Each judgment is one line, in the order of the job.
    """
    path, limit, out = judged_job(flags.job, flags.name).judgments, flags.limit, flags.out
    wanted = selection_of(flags, documents=flags.doc, text=flags.text)
    selected = Selected(JudgmentsReader(path), wanted)
    rows = _rows(selected)
    first = rows if limit is None else islice(rows, limit)
    if out is not None:
        with open_json_lines(out) as file:
            file.writelines(file_lines(out, first))
            _read_on(rows)
    elif not flags.quiet:
        several_judges = len(selected.reader.header.judges) > 1 and len(wanted.judges) != 1
        print_lines(judgment_lines(first, output().width, several_judges))
    _read_on(rows)
    if not flags.quiet:
        _print_counts(selected, limit, out)
    return 0


def _rows(selected: Selected) -> Iterator[Row]:
    for response, found in selected:
        texts = sentence_texts(response)
        yield from ((judgment, text_of(judgment, texts)) for judgment in found)


def _read_on(rows: Iterator[Row]) -> None:
    """Read to the end: a truncated file must be noticed, and all judgments are counted."""
    for _ in rows:
        pass


def _print_counts(selected: Selected, limit: int | None, out: Path | None) -> None:
    if not selected.judgments:
        print_errors([selected.none_line])
        return
    shown = selected.judgments if limit is None else min(limit, selected.judgments)
    more = f"; the first {shown} shown" if shown < selected.judgments else ""
    where = f" in {out}" if out is not None else ""
    found = plural(selected.judgments, "judgment")
    print_errors([f"{found} on {plural(selected.responses, 'response')}{more}{where}"])
