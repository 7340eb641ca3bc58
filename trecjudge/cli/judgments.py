"""`judgments`: the judgments of a job listed, filtered and exported."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from trecjudge.cli import command_options as own
from trecjudge.cli import options as flag
from trecjudge.cli.exits import exits, print_errors
from trecjudge.cli.printing import output, print_lines
from trecjudge.files import chosen
from trecjudge.findings import counted
from trecjudge.results.jobs import judged_job
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.show.judgments import Row, file_lines, listed, with_texts
from trecjudge.show.selection import Selected, Selection, sentence_texts

Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", help="Write them to a file instead: .jsonl, .csv or .tsv."),
]


@exits
def judgments(
    job: own.JudgedJob,
    run: own.OfRuns = None,
    topic: own.OfTopics = None,
    judge: own.OfJudges = None,
    label: own.OfLabels = None,
    unjudged: own.Unjudged = False,
    text: Annotated[
        str, typer.Option(help="Only where the sentence, claim or nugget has this text.")
    ] = "",
    doc: Annotated[list[str] | None, typer.Option(help="Only these documents; else all.")] = None,
    limit: Limit = None,
    out: Output = None,
    name: own.JobName = None,
    quiet: flag.Quiet = False,
) -> int:
    """List, filter and export judgments.

    Each judgment is one line, in the order of the job.
    """
    wanted = Selection(
        runs=run or (),
        topics=topic or (),
        judges=judge or (),
        labels=label or (),
        documents=doc or (),
        unjudged=unjudged,
        text=text,
    )
    selected = Selected(JudgmentsReader(judged_job(job, name).judgments), wanted)
    rows = _rows(selected)
    first = rows if limit is None else islice(rows, limit)
    if out is not None:
        with chosen(out) as file:
            file.writelines(file_lines(out, first))
            _read_on(rows)
    elif not quiet:
        several = len(selected.reader.header.judges) > 1 and len(wanted.judges) != 1
        print_lines(listed(first, output().width, several))
    _read_on(rows)
    if not quiet:
        _print_counts(selected, limit, out)
    return 0


def _rows(selected: Selected) -> Iterator[Row]:
    for response, found in selected:
        yield from with_texts(found, sentence_texts(response))


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
    found = counted(selected.judgments, "judgment")
    print_errors([f"{found} on {counted(selected.responses, 'response')}{more}{where}"])
