"""`judgments`: the judgments of a job listed, filtered and exported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar

from trecjudge.cli.exits import print_errors
from trecjudge.cli.flags import ItemFlags, PrintFlags
from trecjudge.cli.parameters import command_with, option, several
from trecjudge.cli.printing import output, print_lines
from trecjudge.cli.show import selection_of
from trecjudge.files import chosen
from trecjudge.findings import counted
from trecjudge.results.jobs import judged_job
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.show.judgments import Row, file_lines, listed, with_texts
from trecjudge.show.selection import Selected, sentence_texts


class JudgmentsFlags(ItemFlags, PrintFlags):
    """Which judgments of a job are listed, and where."""

    WITHOUT: ClassVar = frozenset({"as_json"})
    text: str = option("Only where the sentence, claim or nugget has this text.", "")
    doc: Sequence[str] = several("Only these documents; else all.")
    limit: int | None = option("Only the first N.", min=1)
    out: Path | None = option(
        "Write them to a file instead: .jsonl, .csv or .tsv.", None, "--output"
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
        with chosen(out) as file:
            file.writelines(file_lines(out, first))
            _read_on(rows)
    elif not flags.quiet:
        several_judges = len(selected.reader.header.judges) > 1 and len(wanted.judges) != 1
        print_lines(listed(first, output().width, several_judges))
    _read_on(rows)
    if not flags.quiet:
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
