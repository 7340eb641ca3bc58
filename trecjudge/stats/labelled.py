"""Items that people could label, summed by response: what an estimate from labels needs of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Labellable(NamedTuple):
    """An item of a response that people have labelled, or could.

    `reach` is by how much it moves the response's measure from worst to best. `judged`, `expected`
    and `label` are where the judge, its expected weight and a person put it between these, 0 to 1;
    `label` is None without one. A `blind` item has no value of the judge's: `judged` is a guess.
    """

    reach: float
    judged: float
    expected: float
    label: float | None = None
    blind: bool = False


class Row(NamedTuple):
    """Sums over the items of a response."""

    known: float
    """The measure with all open items at their worst; `least` and `most` are what they can add."""
    least: float = 0.0
    most: float = 0.0
    n: float = 0.0
    """Labelled items that have a value of the judge's, x; e is its expected weight, y = label - x.

    Then sums over them.
    """
    x: float = 0.0
    e: float = 0.0
    xx: float = 0.0
    xe: float = 0.0
    ee: float = 0.0
    y: float = 0.0
    xy: float = 0.0
    ey: float = 0.0
    yy: float = 0.0
    open: float = 0.0
    """Sums over the open items of their reach, and of it times x, times e, and squared."""
    open_x: float = 0.0
    open_e: float = 0.0
    squares: float = 0.0
    blind: float = 0.0
    """The squared reach of those that are blind."""
    reach: float = 0.0
    """Sums over all items of their reach, and of it times x and times e."""
    reach_x: float = 0.0
    reach_e: float = 0.0
    spread: float = 0.0
    """Squared distances of x from its mean here, over this many `items`."""
    items: float = 0.0
    labels: float = 0.0


def row_of(known: float, items: Iterable[Labellable]) -> Row:
    """Return the sums of a response whose measure is `known` with all its items at their worst."""
    items = list(items)
    labelled = [one for one in items if one.label is not None]
    seen = [
        (one.judged, one.expected, (one.label or 0.0) - one.judged)
        for one in labelled
        if not one.blind
    ]
    open_ = [one for one in items if one.label is None]
    sighted = [one.judged for one in items if not one.blind]
    middle = sum(sighted) / (len(sighted) or 1)
    return Row(
        known=known + sum(one.reach * (one.label or 0.0) for one in labelled),
        least=sum(min(one.reach, 0.0) for one in open_),
        most=sum(max(one.reach, 0.0) for one in open_),
        n=len(seen),
        x=sum(x for x, _, _ in seen),
        e=sum(e for _, e, _ in seen),
        xx=sum(x * x for x, _, _ in seen),
        xe=sum(x * e for x, e, _ in seen),
        ee=sum(e * e for _, e, _ in seen),
        y=sum(y for _, _, y in seen),
        xy=sum(x * y for x, _, y in seen),
        ey=sum(e * y for _, e, y in seen),
        yy=sum(y * y for _, _, y in seen),
        open=sum(one.reach for one in open_),
        open_x=sum(one.reach * one.judged for one in open_),
        open_e=sum(one.reach * one.expected for one in open_),
        squares=sum(one.reach**2 for one in open_),
        blind=sum(one.reach**2 for one in open_ if one.blind),
        reach=sum(one.reach for one in items),
        reach_x=sum(one.reach * one.judged for one in items),
        reach_e=sum(one.reach * one.expected for one in items),
        spread=sum((x - middle) ** 2 for x in sighted),
        items=len(sighted),
        labels=len(labelled),
    )
