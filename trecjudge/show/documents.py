"""Where the documents of runs are, and what a pack holds, as tables and lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trecjudge.findings import counted, shown
from trecjudge.inputs.documents.pack import NOT_KNOWN, NOT_LOOKED_FOR, NOT_THERE
from trecjudge.job.documents import CARRIED, FOUND, STATES, Checked, RunCitations
from trecjudge.job.packing import Pack
from trecjudge.show.columns import Column, Columns
from trecjudge.show.words import sized

WORST = 5
"""Runs that are listed, those with the fewest documents first."""
ALWAYS = (NOT_THERE, NOT_LOOKED_FOR)
"""States that the table has even where no document is in them."""


def source_table(checked: Checked, wide: bool = False) -> Columns:
    """Return a table with a row for each source, then one for each state of what is in none."""
    citations = checked.citations
    rows = [
        (name, checked.by_source[n], checked.documents_by_source[n])
        for n, name in enumerate(checked.sources)
    ]
    rows += [
        (state, citations[state], checked.documents[state])
        for state in STATES[1:]
        if state in ALWAYS or citations[state]
    ]
    total = max(1, citations.total())
    columns = [
        Column("source", [name for name, _, _ in rows], is_left=True, is_key=True, least=24),
        Column("citations", [f"{cited:,}" for _, cited, _ in rows]),
        Column("share", [f"{100 * cited / total:.1f} %" for _, cited, _ in rows]),
        Column("documents", [f"{documents:,}" for _, _, documents in rows]),
    ]
    return Columns(columns, wide=wide)


def check_lines(checked: Checked, show_all: bool = False) -> Iterator[str]:
    """Yield an example of each state that lacks a document, and the runs, the worst first."""
    for state, doc_id in checked.examples.items():
        if state not in (FOUND, CARRIED):
            yield f"{state}: such as {shown(doc_id)}"
    for number, other in sorted(checked.other_text.items()):
        what = f"{counted(other, 'document')} with another text than a source before it"
        yield f"{checked.sources[number]}: {what}; the first source counts"
    worst = [run for run in checked.worst() if run.share < 1]
    yield from map(_run_line, worst if show_all else worst[:WORST])
    if not show_all and len(worst) > WORST:
        yield f"… {counted(len(worst) - WORST, 'more run')}; --all lists them"
    if whole := len(checked.runs) - len(worst):
        yield f"all found: {counted(whole, 'run')}"


def _run_line(run: RunCitations) -> str:
    known = run.states[FOUND] + run.states[CARRIED]
    found = f"run {run.run_id}: {known:,} of {counted(run.citations, 'citation')} found"
    return ", ".join((found, *_lacks(run.states)))


def _lacks(states: Mapping[str, int]) -> list[str]:
    lacks = (NOT_THERE, NOT_LOOKED_FOR, NOT_KNOWN)
    return [f"{states[state]:,} {state}" for state in lacks if states.get(state)]


def pack_lines(packed: Pack) -> Iterator[str]:
    """Yield what a pack holds, and what is missing in it."""
    size = f"{sized(packed.bytes)}, {sized(packed.text)} of text"
    yield f"{packed.path}: {counted(packed.documents, 'document')} ({size})"
    if lacks := _lacks({str(why): count for why, count in packed.lacks.items()}):
        yield f"without a document: {', '.join(lacks)}"
    if packed.other_text:
        what = f"{counted(packed.other_text, 'document')} with another text in a later job"
        yield f"{what}: the text of the first job is packed"
