"""What `meta-evaluate` prints: measures of one name, the best pair of all, each coefficient."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from trecjudge.findings import plural
from trecjudge.show.columns import TextTable
from trecjudge.show.folding import fold_equal
from trecjudge.show.tables import first_rows, hidden_line, interval, number, table

if TYPE_CHECKING:  # numpy: not for --help
    from trecjudge.stats.meta import Correlated, Correlation

COLUMNS = ("judge", "measure", "truth", "correlation", "value", "95 % over topics")
ONCE = ("judge", "truth", "measure", "correlation", "runs", "topics")


MOST_PAIRS = 3
"""Pairs of one name that have a sentence."""


def in_order(found: Sequence[Correlated]) -> list[Correlated]:
    """Return the pairs of one name, then the others, each by the first coefficient, highest first.

    Which pair is the best of many is partly chance: what was meant to be alike stands first.
    """
    return sorted(found, key=lambda one: (not one.of_one_name, -_value(_first(one))))


def fold_pairs(found: Sequence[Correlated]) -> tuple[list[Correlated], list[str]]:
    """Return the pairs by measures that repeat no other one, and lines on those that do.

    Of equal measures that one stays which the truth has by the same name: its pairs come first.
    """
    by_judge: dict[str, dict[str, list[Hashable]]] = {}
    for one in found:
        cells: list[Hashable] = [*sorted(zip(one.runs, one.predicted, strict=True))]
        by_judge.setdefault(one.name, {}).setdefault(one.measure, cells)
    folded = {name: fold_equal(columns) for name, columns in by_judge.items()}
    lines = [line for _, own in folded.values() for line in own]
    return [one for one in found if one.measure in folded[one.name][0]], lines


def correlation_lines(found: Sequence[Correlated]) -> Iterator[str]:
    """Yield a sentence on each of the first pairs of one name, and on the best of all pairs."""
    for one in [one for one in in_order(found) if one.of_one_name or len(found) == 1][:MOST_PAIRS]:
        yield _sentence(one)
    for one in sorted(found, key=lambda one: -_value(_first(one)))[: len(found) > 1]:
        yield f"best of {len(found)} pairs: {_sentence(one, 'most ')}"


def _sentence(one: Correlated, most: str = "") -> str:
    first, runs = _first(one), plural(len(one.runs), "run")
    if first is None or first.value is None:
        return f"no coefficient is defined on {runs}"
    over = interval(first.topics)
    bounds = "" if over == "n/a" else f" ({over} over topics)"
    return (
        f"{one.measure} by {one.name} orders {runs} {most}as {one.truth_measure} does:"
        f" {first.name} {first.value:.3f}{bounds}"
    )


def correlation_table(
    found: Sequence[Correlated], wide: bool = False, show_all: bool = True
) -> TextTable:
    """Return a row for each coefficient of each pair of measures; what is unjudged, if anything.

    Pairs of one name come first, then those that agree most.
    """
    counts = {id(one): one.items_unjudged() for one in found}
    is_open = any(of_truth or of_judge for of_truth, of_judge in counts.values())
    rows = (
        (
            one.name,
            one.measure,
            one.truth_measure,
            c.name,
            number(c.value),
            interval(c.topics),
            interval(c.runs),
            len(one.runs),
            one.topics,
            *(("n/a" if n is None else n for n in reversed(counts[id(one)])) if is_open else ()),
        )
        for one, c in first_rows(_rows(found), show_all)
    )
    more = ("unjudged", "unjudged in the truth") if is_open else ()
    headers = (*COLUMNS, "95 % over runs", "runs", "topics", *more)
    return table(headers, rows, left=4, once=ONCE, wide=wide)


def hidden_rows(found: Sequence[Correlated], show_all: bool) -> Iterator[str]:
    """Yield a line on the coefficients that the table does not show."""
    rows = _rows(found)
    yield from hidden_line(len(rows) - len(first_rows(rows, show_all)), "coefficient")


def _rows(found: Sequence[Correlated]) -> list[tuple[Correlated, Correlation]]:
    return [(one, c) for one in in_order(found) for c in one.correlations]


def _first(one: Correlated) -> Correlation | None:
    return one.correlations[0] if one.correlations else None


def _value(first: Correlation | None) -> float:
    return -2.0 if first is None or first.value is None else first.value
