"""A leaderboard as a table for a paper: runs down, measures across."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from trecjudge.evaluation.standings import Stand, Standings
from trecjudge.show.folding import fold_equal
from trecjudge.show.paper.grid import Cell, Column, Grid, bracketed, decimal
from trecjudge.stats.paired import ALPHA
from trecjudge.stats.resampling import RESAMPLES
from trecjudge.version import __version__

TIE = "="
NAMED = ("unjudged", "with labels")
"""Parts that do not explain themselves beside a value."""
ALPHABET = 26
DIGITS = 3


def leaderboard_grid(
    found: Standings, wanted: Collection[str] = (), every: bool = False, digits: int = DIGITS
) -> Grid:
    """Return the wanted measures of a leaderboard, the best run by the first of them first.

    Without any wanted they are those that its judges rank by; `every` takes all. Raises InputError
    for a measure that is not there.
    """
    chosen = found.chosen(wanted, every)
    runs = found.runs(chosen[0])
    measures, folded = fold_equal(
        {m: [_shown(found.by_measure[m].get(run)) for run in runs] for m in chosen}
    )
    shown = {measure: _Measure(measure, found.by_measure[measure], digits) for measure in measures}
    columns = [Column("", "detail"), Column("run")]
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


def _shown(stand: Stand | None) -> tuple[object, ...] | None:
    """Return what is shown of a run by a measure; None where that is nothing."""
    if stand is None or stand.mean is None:
        return None
    own = (stand.mean, stand.low, stand.high, stand.lowest, stand.highest, stand.rank)
    return (*own, tuple(stand.groups), stand.unjudged, stand.expected)


def _rank(stand: Stand | None) -> str:
    """Return `2`, `2=` for a tie, `?` where unjudged items leave it open."""
    if stand is None or stand.rank is None or stand.is_open:
        return "?"
    return f"{stand.rank}{TIE if stand.tied else ''}"


class _Measure:
    """The columns of a measure, and what a run has in them: only the parts that some run has."""

    def __init__(self, name: str, stands: Mapping[str, Stand], digits: int) -> None:
        self._stands = stands
        self._digits = digits
        every = stands.values()
        arrow = any(stand.lower_is_better for stand in every)
        parts = {
            "95 %": any(stand.low is not None for stand in every),
            "group": any(stand.groups or stand.tied for stand in every),
            "unjudged": any(stand.unjudged for stand in every),
            "with labels": any(stand.human for stand in every),
        }
        self._parts = [part for part, is_there in parts.items() if is_there]
        details = (Column(name, "detail", part, arrow, part in NAMED) for part in self._parts)
        self.columns = (Column(name, "number", "", arrow), *details)

    def cells(self, run_id: str) -> Iterator[Cell]:
        """Yield the value of a run and its details."""
        stand = self._stands.get(run_id)
        if stand is None:
            yield Cell("n/a")
            yield from (Cell("") for _ in self._parts)
            return
        unjudged = stand.mean is None and stand.unjudged > 0
        value = "unjudged" if unjudged else decimal(stand.mean, self._digits)
        yield Cell(value, bold=stand.rank == 1)
        texts = {
            "95 %": bracketed(stand.low, stand.high, self._digits),
            "group": f"{letters(stand.groups)}{TIE if stand.tied else ''}",
            "unjudged": _gaps(stand, self._digits),
            "with labels": _corrected(stand.human or {}, self._digits),
        }
        yield from (Cell(texts[part]) for part in self._parts)


def _gaps(stand: Stand, digits: int) -> str:
    """Return `3 of 12: 0.250 to 1.000`: unjudged items, and what the mean could be with them."""
    if not stand.unjudged:
        return ""
    of_all = "" if stand.expected is None else f" of {stand.expected}"
    if stand.lowest is None or stand.highest is None:
        return f"{stand.unjudged}{of_all}: no bounds"
    bounds = f"{decimal(stand.lowest, digits)} to {decimal(stand.highest, digits)}"
    return f"{stand.unjudged}{of_all}: {bounds}"


def _corrected(human: Mapping[str, float | None], digits: int) -> str:
    """Return a mean as labels of people correct it, with its interval."""
    if human.get("mean") is None:
        return ""
    interval = bracketed(human.get("low"), human.get("high"), digits)
    return f"{decimal(human['mean'], digits)} {interval}".strip()


def letters(groups: Sequence[str]) -> str:
    """Return letters of groups as one word, three and more in a row as `a-d`."""
    runs: list[list[str]] = []
    for letter in sorted(groups, key=_place):
        if runs and _place(letter) == _place(runs[-1][-1]) + 1:
            runs[-1].append(letter)
        else:
            runs.append([letter])
    parts = [part for run in runs for part in ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else run)]
    return ("" if all(len(part) == 1 for part in parts) else ",").join(parts)


def _place(letter: str) -> int:
    """Return the place of `a` to `z`, then `aa`, `ab`, ..."""
    place = 0
    for character in letter:
        place = place * ALPHABET + ord(character) - ord("a") + 1
    return place


def _record(
    run: str, by_measure: Mapping[str, Mapping[str, Stand]], measures: Sequence[str]
) -> dict[str, object]:
    """Return a run as a line of a spreadsheet: each measure with what is known of it."""
    record: dict[str, object] = {"run": run}
    for name in measures:
        one = by_measure[name].get(run)
        record |= {
            name: one and one.mean,
            f"{name}_low": one and one.low,
            f"{name}_high": one and one.high,
            f"{name}_groups": " ".join(one.groups) if one else "",
            f"{name}_rank": one and one.rank,
            f"{name}_tied": one and one.tied,
            f"{name}_unjudged": one and one.unjudged,
            f"{name}_expected": one and one.expected,
            f"{name}_lowest": one and one.lowest,
            f"{name}_highest": one and one.highest,
        }
    return record


def _notes(found: Standings, measures: Sequence[str]) -> Iterator[str]:
    """Yield the sentences that say what stands in a table of these measures."""
    stands = [stand for name in measures for stand in found.by_measure[name].values()]
    counts = sorted({stand.topics for stand in stands if stand.topics})
    if counts:
        many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        yield f"Means over {many} topics." if counts != [1] else "Values of 1 topic."
    yield "Bold: the best of a measure."
    if any(stand.lower_is_better for stand in stands):
        yield "Arrow: lower is better."
    if any(stand.low is not None for stand in stands):
        yield f"In brackets: 95 % bootstrap interval over topics ({RESAMPLES} resamples)."
    if any(stand.groups for stand in stands):
        test = f"paired sign-flip test over topics, Holm, p < {ALPHA:g}"
        yield f"Runs that share a letter are not told apart by a test ({test})."
    if any(stand.tied for stand in stands):
        yield f"{TIE}: another run has the same mean."
    if any(stand.unjudged for stand in stands):
        yield (
            "Unjudged items are in no mean: how many they are, and between which bounds the"
            " mean would lie with them."
        )
    if any(stand.human for stand in stands):
        yield "With labels: the mean as labels of people correct it, with its interval."
    if any(stand.mean is None and not stand.unjudged for stand in stands):
        yield "n/a: the measure is not defined for the run."
    if any(_rank(found.by_measure[measures[0]].get(s.run_id)) == "?" for s in stands):
        yield "?: the rank is open."
    yield f"trecjudge {__version__}."
