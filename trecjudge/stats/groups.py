"""Groups of runs that a test cannot separate, as letters: a compact letter display."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import numpy.typing as npt


def letter_groups(alike: npt.NDArray[Any]) -> list[list[str]]:
    """Return the letters of each run: (runs, runs) of truth, best run first -> letters.

    Two runs share a letter if and only if they are alike (Piepho, Journal of Computational and
    Graphical Statistics 2004). Groups are grown greedily in the order of the runs, so that there
    are few; `a` holds the best run.
    """
    runs = range(len(alike))
    groups: list[list[int]] = []
    together: set[tuple[int, int]] = set()
    for first in runs:
        # The farthest partner first: the group grown from it covers most nearer pairs.
        for last in reversed(range(first, len(alike))):
            pair = (first, last)
            if not alike[first, last] or pair in together or (first == last and _in(first, groups)):
                continue
            group = _grown(pair, alike)
            groups.append(group)
            together |= {(a, b) for a in group for b in group if a <= b}
    return [[_letter(i) for i, group in enumerate(groups) if run in group] for run in runs]


def _in(run: int, groups: Sequence[Sequence[int]]) -> bool:
    return any(run in group for group in groups)


def _grown(pair: tuple[int, int], alike: npt.NDArray[Any]) -> list[int]:
    """Return the pair with every run, in order, that is alike to all taken so far."""
    group = list(dict.fromkeys(pair))
    for run in range(len(alike)):
        if run not in group and alike[run, group].all():
            group.append(run)
    return sorted(group)


def _letter(number: int) -> str:
    """Return `a` to `z`, then `aa`, `ab`, ..."""
    whole, part = divmod(number, len(ascii_lowercase))
    return (_letter(whole - 1) if whole else "") + ascii_lowercase[part]
