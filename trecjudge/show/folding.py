"""Columns that say the same as another one, told in a line in place of being shown."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from trecjudge.measures import DIGITS
from trecjudge.results.statistics import RunScore


def fold_equal(columns: Mapping[str, Sequence[Hashable]]) -> tuple[list[str], list[str]]:
    """Return the columns that differ from all before them, and a line on the others.

    A cell without a value is None; a column of nothing else is left out, unless it is the first. Of
    a single row nothing is folded: that two values of it are equal may be chance.
    """
    rows = max(map(len, columns.values()), default=0)
    if rows < 2:
        return list(columns), []
    alike: dict[tuple[Hashable, ...], list[str]] = {}
    for name, cells in columns.items():
        alike.setdefault(tuple(cells), []).append(name)
    kept: list[str] = []
    lines = []
    for cells, (first, *others) in alike.items():
        empty = [first, *others] if kept and set(cells) == {None} else []
        kept += [] if empty else [first]
        if empty:
            lines.append(f"no value in any of {rows} rows: {', '.join(empty)}")
        elif others:
            verb = "is" if len(others) == 1 else "are"
            lines.append(f"{', '.join(others)} {verb} the same as {first} in all {rows} rows")
    return kept, lines


def mean_cells(means: Iterable[RunScore]) -> list[Hashable]:
    """Return means as cells to be compared: to as many digits as files have, with their bounds."""
    ends = ((mean.mean, mean.lowest, mean.highest) for mean in means)
    return [
        None
        if known[0] is None
        else tuple(None if end is None else round(end, DIGITS) for end in known)
        for known in ends
    ]
