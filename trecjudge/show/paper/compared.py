"""Comparisons and correlations as tables for a paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from trecjudge.results.statistics import Unjudged
from trecjudge.show.comparison import fold_differences
from trecjudge.show.paper.grid import Cell, Grid, GridColumn, bracket_interval, decimal
from trecjudge.show.tables import gaps, probability
from trecjudge.stats.comparison import Difference
from trecjudge.stats.meta import Correlated
from trecjudge.stats.paired import ALPHA
from trecjudge.stats.resampling import FEWER_RESAMPLES, RESAMPLES, Interval
from trecjudge.version import __version__

DIGITS = 3
FRAME = ("measure", "before", "after", "judge", "truth", "runs", "topics")
"""Columns that say what is compared: one that is the same in all rows is told in a note."""
OPEN = (
    "Unjudged items are in no mean: how many they are, and between which bounds the mean would"
    " lie with them."
)


def difference_grid(found: Sequence[Difference], digits: int = DIGITS) -> Grid:
    """Return a row for each measure of each pair of systems; bold where they differ by a test."""
    records = [_difference_record(d) for d in found]
    found, folded = fold_differences(found)
    is_open = any(_items(d.unjudged_before) or _items(d.unjudged_after) for d in found)
    columns = [
        *(GridColumn(head) for head in ("measure", "before", "after")),
        *(GridColumn(head, "number") for head in ("topics", "mean before", "mean after")),
        GridColumn("difference", "number"),
        GridColumn("difference", "detail", "95 %"),
        GridColumn("p (Holm)", "detail"),
        GridColumn("d", "number"),
        *(GridColumn(head, "detail") for head in ("unjudged before", "unjudged after") if is_open),
    ]
    rows = [list(_difference_row(d, digits, is_open)) for d in found]
    columns, rows, told = _without_constants(columns, rows)
    notes = [
        *told,
        *(f"{line}." for line in folded),
        "After minus before, paired over topics.",
        f"In brackets: 95 % bootstrap interval over topics ({RESAMPLES} resamples).",
        f"Bold: p < {ALPHA:g} by a paired sign-flip test, corrected by Holm for each measure.",
        "d: Cohen's d of the paired differences.",
        *([OPEN] if is_open else []),
        f"trecjudge {__version__}.",
    ]
    return Grid("comparison", columns, rows, notes, records)


def _difference_row(d: Difference, digits: int, is_open: bool) -> Iterator[Cell]:
    yield from (Cell(d.measure), Cell(_system(d.before)), Cell(_system(d.after)))
    yield Cell(str(d.topics))
    yield from (Cell(decimal(mean, digits)) for mean in (d.mean_before, d.mean_after))
    yield Cell(decimal(d.difference, digits), bold=d.holm is not None and d.holm < ALPHA)
    yield Cell(_interval(d.interval, digits))
    yield Cell(probability(d.holm))
    yield Cell(decimal(d.effect, 2))
    if is_open:
        yield from (Cell(gaps(one)) for one in (d.unjudged_before, d.unjudged_after))


def _without_constants(
    columns: Sequence[GridColumn], rows: Sequence[Sequence[Cell]]
) -> tuple[list[GridColumn], list[list[Cell]], list[str]]:
    """Return columns and rows without what is the same in all rows, and sentences that say it."""
    kept, told = [], []
    for place, column in enumerate(columns):
        texts = {row[place].text for row in rows}
        if column.head in FRAME and len(rows) > 1 and len(texts) == 1:
            told.append(f"{column.head.capitalize()}: {texts.pop()}.")
        else:
            kept.append(place)
    return [columns[p] for p in kept], [[row[p] for p in kept] for row in rows], told


def _system(name: str) -> str:
    board, colon, run = name.partition(": ")
    return f"{Path(board).name}{colon}{run}"


def _items(one: Unjudged | None) -> int:
    return one.items if one else 0


def _difference_record(d: Difference) -> dict[str, object]:
    low, high = d.interval
    return {
        "measure": d.measure,
        "before": d.before,
        "after": d.after,
        "topics": d.topics,
        "mean_before": d.mean_before,
        "mean_after": d.mean_after,
        "difference": d.difference,
        "low": low,
        "high": high,
        "p": d.p,
        "p_holm": d.holm,
        "d": d.effect,
        **_unjudged_fields("before", d.unjudged_before),
        **_unjudged_fields("after", d.unjudged_after),
    }


def _unjudged_fields(side: str, one: Unjudged | None) -> dict[str, object]:
    return {
        f"unjudged_{side}": one and one.items,
        f"lowest_{side}": one and one.lowest,
        f"highest_{side}": one and one.highest,
    }


def correlation_grid(found: Sequence[Correlated], digits: int = DIGITS) -> Grid:
    """Return a row for each coefficient of each pair of measures."""
    counts = [one.items_unjudged() for one in found]
    is_open = any(truth or judge for truth, judge in counts)
    columns = [
        *(GridColumn(head) for head in ("judge", "measure", "truth", "correlation")),
        *(GridColumn(head, "number") for head in ("runs", "topics", "value")),
        *(GridColumn(head, "detail") for head in ("95 % over topics", "95 % over runs")),
        *(GridColumn(h, "number") for h in ("unjudged", "unjudged in the truth") if is_open),
    ]
    rows = [
        [
            *map(Cell, (Path(one.name).name, one.measure, one.truth_measure, c.name)),
            *map(Cell, (str(len(one.runs)), str(one.topics), decimal(c.value, digits))),
            *(Cell(_interval(bounds, digits) or "n/a") for bounds in (c.topics, c.runs)),
            *(Cell("n/a" if n is None else str(n)) for n in reversed(count) if is_open),
        ]
        for one, count in zip(found, counts, strict=True)
        for c in one.correlations
    ]
    columns, rows, told = _without_constants(columns, rows)
    notes = [
        *told,
        "How far the judge orders the runs as the truth does.",
        f"95 % bootstrap intervals over topics and over runs ({FEWER_RESAMPLES} resamples).",
        *(["Unjudged items are in no mean."] if is_open else []),
        f"trecjudge {__version__}.",
    ]
    records = [
        {
            "judge": one.name,
            "measure": one.measure,
            "truth": one.truth_measure,
            "correlation": c.name,
            "runs": len(one.runs),
            "topics": one.topics,
            "value": c.value,
            **_bounds("topics", c.topics),
            **_bounds("runs", c.runs),
            "unjudged": count[1],
            "unjudged_truth": count[0],
        }
        for one, count in zip(found, counts, strict=True)
        for c in one.correlations
    ]
    return Grid("meta-evaluation", columns, rows, notes, records)


def _interval(found: Interval, digits: int) -> str:
    return bracket_interval(found.low, found.high, digits)


def _bounds(over: str, found: Interval) -> dict[str, object]:
    return {f"low_over_{over}": found.low, f"high_over_{over}": found.high}
