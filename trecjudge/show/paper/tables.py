"""Leaderboards, comparisons and correlations as tables for a paper."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from trecjudge.evaluation.standings import Standings
from trecjudge.results.statistics import Corrected, RunScore, Unjudged
from trecjudge.show.comparison import CORRECTIONS, fold_differences
from trecjudge.show.formats import (
    bracket_interval,
    decimal,
    describe_test,
    gaps,
    letters,
    probability,
    rank_bounds,
)
from trecjudge.show.paper.grid import Cell, Grid, GridColumn
from trecjudge.show.tables import fold_equal
from trecjudge.stats.comparison import Difference
from trecjudge.stats.meta import Correlated
from trecjudge.stats.paired import ALPHA
from trecjudge.stats.resampling import FEWER_RESAMPLES, RESAMPLES, Interval
from trecjudge.version import __version__

# A leaderboard as a table for a paper: runs down, measures across.
TIE = "="
NAMED = ("unjudged", "with labels")
"""Parts that do not explain themselves beside a value."""
# Comparisons and correlations as tables for a paper.
DIGITS = 3


def leaderboard_grid(
    found: Standings, wanted: Collection[str] = (), every: bool = False, digits: int = DIGITS
) -> Grid:
    """Return the wanted measures of a leaderboard, the best run by the first of them first.

    Without any wanted they are those that its judges rank by; `every` takes all. Raises InputError
    for a measure that is not there.
    """
    chosen = found.choose_measures(wanted, every)
    runs = found.runs(chosen[0])
    measures, folded = fold_equal(
        {m: [_fold_key(found.by_measure[m].get(run)) for run in runs] for m in chosen}
    )
    shown = {measure: _Measure(measure, found.by_measure[measure], digits) for measure in measures}
    columns = [GridColumn("", "detail"), GridColumn("run")]
    columns += [column for measure in shown.values() for column in measure.columns]
    rows = [
        [
            Cell(_rank(found.by_measure[measures[0]].get(run))),
            Cell(run),
            *(cell for measure in shown.values() for cell in measure.cells(run)),
        ]
        for run in runs
    ]
    records = [_record(run, found.by_measure, chosen) for run in runs]
    notes = [*(f"{line}." for line in folded), *_notes(found, measures)]
    return Grid(found.name, columns, rows, notes, records)


def _fold_key(score: RunScore | None) -> tuple[object, ...] | None:
    """Return what is shown of a run by a measure; None where that is nothing."""
    if score is None or score.mean is None:
        return None
    own = (score.mean, score.low, score.high, score.lowest, score.highest, score.rank)
    return (*own, tuple(score.groups), score.gaps.items, score.gaps.expected)


def _rank(score: RunScore | None) -> str:
    """Return `2 (1-4)`, `2=` for a tie, `?` where unjudged items leave it open."""
    if score is None or score.rank is None or score.gaps.is_open:
        return "?"
    within = rank_bounds(score)
    return f"{score.rank}{TIE if bool(score.ties) else ''}{f' ({within})' if within else ''}"


class _Measure:
    """The columns of a measure, and what a run has in them: only the parts that some run has."""

    def __init__(self, name: str, scores: Mapping[str, RunScore], digits: int) -> None:
        self._scores = scores
        self._digits = digits
        every = scores.values()
        arrow = any(score.lower_is_better for score in every)
        parts = {
            "95 %": any(score.low is not None for score in every),
            "group": any(score.groups or bool(score.ties) for score in every),
            "unjudged": any(score.gaps.items for score in every),
            "with labels": any(score.human for score in every),
        }
        self._parts = [part for part, is_there in parts.items() if is_there]
        details = (GridColumn(name, "detail", part, arrow, part in NAMED) for part in self._parts)
        self.columns = (GridColumn(name, "number", "", arrow), *details)

    def cells(self, run_id: str) -> Iterator[Cell]:
        """Yield the value of a run and its details."""
        score = self._scores.get(run_id)
        if score is None:
            yield Cell("n/a")
            yield from (Cell("") for _ in self._parts)
            return
        is_unjudged = score.mean is None and score.gaps.items > 0
        value = "unjudged" if is_unjudged else decimal(score.mean, self._digits)
        yield Cell(value, bold=score.rank == 1)
        texts = {
            "95 %": bracket_interval((score.low, score.high), self._digits),
            "group": f"{letters(score.groups)}{TIE if bool(score.ties) else ''}",
            "unjudged": _gaps(score.gaps, self._digits),
            "with labels": _corrected_text(score.human, self._digits),
        }
        yield from (Cell(texts[part]) for part in self._parts)


def _gaps(unjudged: Unjudged, digits: int) -> str:
    """Return `3 of 12: 0.250 to 1.000`: unjudged items, and what the mean could be with them."""
    if not unjudged.items:
        return ""
    of_all = "" if unjudged.expected is None else f" of {unjudged.expected}"
    if unjudged.lowest is None or unjudged.highest is None:
        return f"{unjudged.items}{of_all}: no bounds"
    bounds = f"{decimal(unjudged.lowest, digits)} to {decimal(unjudged.highest, digits)}"
    return f"{unjudged.items}{of_all}: {bounds}"


def _corrected_text(human: Corrected | None, digits: int) -> str:
    if human is None or human.mean is None:
        return ""
    within = bracket_interval((human.low, human.high), digits)
    return f"{decimal(human.mean, digits)} {within}".strip()


def _record(
    run: str, by_measure: Mapping[str, Mapping[str, RunScore]], measures: Sequence[str]
) -> dict[str, object]:
    record: dict[str, object] = {"run": run}
    for name in measures:
        one = by_measure[name].get(run)
        record |= {
            name: one and one.mean,
            f"{name}_low": one and one.low,
            f"{name}_high": one and one.high,
            f"{name}_groups": " ".join(one.groups) if one else "",
            f"{name}_rank": one and one.rank,
            f"{name}_rank_low": one and one.rank_low,
            f"{name}_rank_high": one and one.rank_high,
            f"{name}_tied": one and bool(one.ties),
            f"{name}_unjudged": one and one.gaps.items,
            f"{name}_expected": one and one.gaps.expected,
            f"{name}_lowest": one and one.lowest,
            f"{name}_highest": one and one.highest,
        }
    return record


def _notes(found: Standings, measures: Sequence[str]) -> Iterator[str]:
    """Yield the sentences that say what scores in a table of these measures."""
    scores = [score for name in measures for score in found.by_measure[name].values()]
    counts = sorted({score.topics for score in scores if score.topics})
    if counts:
        many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        yield f"Means over {many} topics." if counts != [1] else "Values of 1 topic."
    yield "Bold: the best of a measure."
    if any(score.lower_is_better for score in scores):
        yield "Arrow: lower is better."
    if any(score.low is not None for score in scores):
        yield f"In brackets: 95 % bootstrap interval over topics ({RESAMPLES} resamples)."
    if any("(" in _rank(found.by_measure[measures[0]].get(s.run_id)) for s in scores):
        yield "In parentheses: 95 % bootstrap interval of the rank over topics."
    for test in dict.fromkeys(score.test for score in scores if score.groups):
        yield f"Runs that share a letter are not told apart by a test ({describe_test(test)})."
    if any(bool(score.ties) for score in scores):
        yield f"{TIE}: another run has the same mean."
    if any(score.gaps.items for score in scores):
        yield (
            "Unjudged items are in no mean: how many they are, and between which bounds the"
            " mean would lie with them."
        )
    if any(score.human for score in scores):
        yield "With labels: the mean as labels of people correct it, with its interval."
    if any(score.mean is None and not score.gaps.items for score in scores):
        yield "n/a: the measure is not defined for the run."
    if any(_rank(found.by_measure[measures[0]].get(s.run_id)) == "?" for s in scores):
        yield "?: the rank is open."
    yield f"trecjudge {__version__}."


FRAME = ("measure", "before", "after", "judge", "truth", "runs", "topics")
"""Columns that say what is compared: one that is the same in all rows is told in a note."""
OPEN = (
    "Unjudged items are in no mean: how many they are, and between which bounds the mean would"
    " lie with them."
)


def difference_grid(found: Sequence[Difference], digits: int = DIGITS) -> Grid:
    """Return a row for each measure of each pair of systems; bold where they differ by a test."""
    records = [_difference_record(d) for d in found]
    by = CORRECTIONS[found[0].correction if found else "max-t"]
    found, folded = fold_differences(found)
    is_open = any(_items(d.unjudged_before) or _items(d.unjudged_after) for d in found)
    columns = [
        *(GridColumn(head) for head in ("measure", "before", "after")),
        *(GridColumn(head, "number") for head in ("topics", "mean before", "mean after")),
        GridColumn("difference", "number"),
        GridColumn("difference", "detail", "95 %"),
        GridColumn(f"p ({by})", "detail"),
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
        f"Bold: p < {ALPHA:g} by a paired sign-flip test, corrected by {by} for each measure.",
        "d: Cohen's d of the paired differences.",
        *([OPEN] if is_open else []),
        f"trecjudge {__version__}.",
    ]
    return Grid("comparison", columns, rows, notes, records)


def _difference_row(d: Difference, digits: int, is_open: bool) -> Iterator[Cell]:
    yield from (Cell(d.measure), Cell(_system(d.before)), Cell(_system(d.after)))
    yield Cell(str(d.topics))
    yield from (Cell(decimal(mean, digits)) for mean in (d.mean_before, d.mean_after))
    yield Cell(decimal(d.difference, digits), bold=d.corrected is not None and d.corrected < ALPHA)
    yield Cell(bracket_interval(d.interval, digits))
    yield Cell(probability(d.corrected))
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
        "p_corrected": d.corrected,
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
            *(Cell(bracket_interval(bounds, digits) or "n/a") for bounds in (c.topics, c.runs)),
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


def _bounds(over: str, found: Interval) -> dict[str, object]:
    return {f"low_over_{over}": found.low, f"high_over_{over}": found.high}
