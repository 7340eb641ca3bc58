"""Where the documents of runs are, and what a pack holds, as a table and lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trecjudge.findings import counted, shown
from trecjudge.inputs.documents.pack import LACKS, NOT_LOOKED_FOR, NOT_THERE
from trecjudge.job.documents import Checked, known
from trecjudge.job.packing import Pack
from trecjudge.show.columns import Column, Columns
from trecjudge.show.words import sized

WORST = 5
"""Runs that are listed, those with the fewest documents first."""


def source_table(checked: Checked) -> Columns:
    """Return a table with a row for each source, then for each kind of what is in none."""
    always = (*checked.sources, NOT_THERE, NOT_LOOKED_FOR)
    rows = [row for row in checked.rows() if row[1] or row[0] in always]
    total = max(1, checked.citations.total())
    columns = [
        Column("source", [name for name, _, _ in rows], is_left=True, is_key=True, least=24),
        Column("citations", [f"{cited:,}" for _, cited, _ in rows]),
        Column("share", [f"{100 * cited / total:.1f} %" for _, cited, _ in rows]),
        Column("documents", [f"{documents:,}" for _, _, documents in rows]),
    ]
    return Columns(columns)


def check_lines(checked: Checked) -> Iterator[str]:
    """Yield examples of what has no document, and the runs that lack some, the worst first."""
    for lack in LACKS:
        if ids := checked.ids.get(lack):
            yield f"{lack}: such as {shown(ids[0])}"
    if checked.none_found and checked.others:
        there = ", ".join(map(shown, checked.others))
        yield f"--documents has ids such as {there}: give the collection of these runs"
    worst = checked.worst()
    for run_id in worst[:WORST]:
        run = checked.runs[run_id]
        found = f"run {run_id}: {known(run):,} of {run.total():,} citations found"
        yield ", ".join((found, *(f"{run[lack]:,} {lack}" for lack in LACKS if run[lack])))
    if len(worst) > WORST:
        yield f"… {counted(len(worst) - WORST, 'more run')} without all documents; --json has them"
    if whole := len(checked.runs) - len(worst):
        yield f"all found: {counted(whole, 'run')}"


def pack_lines(pack: Pack) -> Iterator[str]:
    """Yield what a pack holds, and what is missing in it."""
    size = f"{sized(pack.path.stat().st_size)}, {sized(pack.text)} of text"
    yield f"{pack.path}: {pack.documents:,} document{'s' * (pack.documents != 1)} ({size})"
    lacks = Counter(pack.lacks)
    if lacks:
        listed = ", ".join(f"{lacks[lack]:,} {lack}" for lack in LACKS if lacks[lack])
        yield f"without a document: {listed}"
