"""Where the documents of runs are, and what a pack holds, as a table and lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trecjudge.findings import brief, plural, visible_line
from trecjudge.inputs.documents.pack import LACKS, NOT_KNOWN
from trecjudge.job.documents import CARRIED, WITHOUT, WITHOUT_TEXT, CitedDocuments, count_known
from trecjudge.show.formats import format_size
from trecjudge.show.tables import TextTable, table

WORST = 5
"""Runs that are listed, those with the fewest documents first."""


def source_table(cited: CitedDocuments) -> TextTable:
    """Return a table with a row for each source, then for each kind of what is in none."""
    every = list(cited.rows())
    total = max(1, sum(citations for _, citations, _ in every))
    rows = [
        (name, f"{citations:,}", f"{100 * citations / total:.1f} %", f"{documents:,}")
        for name, citations, documents in every
        if citations or name not in (CARRIED, WITHOUT_TEXT, NOT_KNOWN)
    ]
    return table(("source", "citations", "share", "documents"), rows)


def check_lines(cited: CitedDocuments) -> Iterator[str]:
    """Yield an example of what has no document, and the runs that lack some, the worst first."""
    for lack in WITHOUT:
        if ids := cited.ids.get(lack):
            yield f"{lack}: such as {brief(next(iter(ids)))}"
    if cited.none_found and cited.others:
        there = ", ".join(map(brief, cited.others))
        yield f"--documents has ids such as {there}: give the collection of these runs"
    shares = {run_id: count_known(run) / max(1, run.total()) for run_id, run in cited.runs.items()}
    worst = sorted((run_id for run_id in shares if shares[run_id] < 1), key=shares.__getitem__)
    for run_id in worst[:WORST]:
        run = cited.runs[run_id]
        found = f"{count_known(run):,} of {plural(run.total(), 'citation')} found"
        found = f"run {visible_line(run_id)}: {found}"
        yield ", ".join((found, *(f"{run[lack]:,} {lack}" for lack in WITHOUT if run[lack])))
    if len(worst) > WORST:
        yield f"… {plural(len(worst) - WORST, 'more run')} without all documents; --json has them"
    if whole := len(shares) - len(worst):
        yield f"all found: {plural(whole, 'run')}"


def pack_lines(pack: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a pack holds, and what is missing in it."""
    size = f"{format_size(pack['bytes'])}, {format_size(pack['text'])} of text"
    yield f"{pack['pack']}: {plural(pack['documents'], 'document')} ({size})"
    if lacks := pack["lacks"]:
        listed = ", ".join(f"{lacks[lack]:,} {lack}" for lack in LACKS if lack in lacks)
        yield f"without a document: {listed}"
