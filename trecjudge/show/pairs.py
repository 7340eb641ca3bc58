"""Tables and closing lines of `pairs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trecjudge.evaluation.pairs.measuring import (
    FEWEST_PAIRS,
    FIGURES,
    MOST_GROUPS,
    PairBin,
    PairFigures,
    VerdictTally,
)
from trecjudge.findings import brief_line
from trecjudge.show.closing import model_line
from trecjudge.show.tables import TextTable, interval, number, table


def figure_table(part: PairBin) -> TextTable:
    """Return the figures of all pairs, each with its interval."""
    rows = ((f.name, number(f.value, 3), interval(f.interval)) for f in part.figures)
    return table((f"{part.pairs} labels", "all", f"95 % over {part.over}"), rows)


def part_table(title: str, parts: Sequence[PairBin]) -> TextTable:
    """Return a row for each part, its figures in columns."""
    columns = (title, "labels", *(FIGURES))
    rows = (
        (part.name or "(none)", part.pairs, *(_figure_text(part, i) for i in range(len(FIGURES))))
        for part in parts
    )
    return table(columns, rows)


def _figure_text(part: PairBin, place: int) -> str:
    figure = part.figures[place]
    low, high = figure.interval
    within = "" if low is None or high is None else f" ({low:.2f}-{high:.2f})"
    return f"{number(figure.value, 3)}{within}"


def pair_lines(
    tally: VerdictTally, measured: PairFigures, output: str, spent: Mapping[str, Any]
) -> Iterator[str]:
    """Yield lines on what was judged, how labels were read, and the file written."""
    if measured.numbered:
        yield f"labels that are numbers: {measured.scale:g} is taken for full support, 0 for none"
    if measured.rest:
        yield (
            f"{measured.rest} groups have no row: only the {MOST_GROUPS} largest with"
            f" {FEWEST_PAIRS} labels or more have one"
        )
    judged = tally.pairs - tally.failures.total()
    yield f"pairs: {tally.pairs}, {judged} judged, {tally.labelled} labelled"
    if tally.nothing:
        yield f"nothing to check: {tally.nothing} sentences, in no figure"
    for kind, count in sorted(tally.failures.items()):
        first = brief_line(tally.examples[kind].message)
        yield f"unjudged: {count} pairs, {kind}, in no figure; the first: {first}"
    if spent:
        yield model_line(spent)
    yield f"verdicts: {output}"
