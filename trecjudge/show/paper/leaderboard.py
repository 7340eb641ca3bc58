"""A leaderboard as a table for a paper: runs down, measures across."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from trecjudge.evaluation.standings import Standings
from trecjudge.results.statistics import Corrected, RunScore, Unjudged
from trecjudge.show.folding import fold_equal
from trecjudge.show.paper.grid import Cell, Grid, GridColumn, bracket_interval, decimal
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
    """Return `2`, `2=` for a tie, `?` where unjudged items leave it open."""
    if score is None or score.rank is None or score.gaps.is_open:
        return "?"
    return f"{score.rank}{TIE if bool(score.ties) else ''}"


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
            "95 %": bracket_interval(score.low, score.high, self._digits),
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
    return (
        f"{decimal(human.mean, digits)} {bracket_interval(human.low, human.high, digits)}".strip()
    )


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
    run: str, by_measure: Mapping[str, Mapping[str, RunScore]], measures: Sequence[str]
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
    if any(score.groups for score in scores):
        test = f"paired sign-flip test over topics, Holm, p < {ALPHA:g}"
        yield f"Runs that share a letter are not told apart by a test ({test})."
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
