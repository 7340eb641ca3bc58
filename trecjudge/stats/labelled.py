"""Items that people could label, summed by response: what an estimate from labels needs of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

KNOWN, LEAST, MOST, LABELS, ITEMS, SPREAD, SQUARES, BLIND = range(8)
"""Places in a row: the measure with open items at their worst, the least and the most that these
can add, labels, items with a value of the judge's and the squared distances of these values from
their mean, squared reaches of open items and of those of them that are blind."""
OPEN, ALL, SEEN = slice(8, 11), slice(11, 14), slice(14, 30)
"""Sums of reach times (1, x, e) over open items and over all; and those of the products, 4 x 4, of
(1, x, e, y) over labelled items: x is the judge's value, e its expected weight, y = label - x."""
SIZE: Final = 30


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


def row_of(known: float, items: Sequence[Labellable]) -> list[float]:
    """Return the sums of a response whose measure is `known` with all its items at their worst."""
    labels = [(one, one.label) for one in items if one.label is not None]
    seen = [(1.0, i.judged, i.expected, w - i.judged) for i, w in labels if not i.blind]
    open_ = [one for one in items if one.label is None]
    values = [one.judged for one in items if not one.blind]
    middle = sum(values) / (len(values) or 1)
    return [
        known + sum(one.reach * label for one, label in labels),
        sum(min(one.reach, 0.0) for one in open_),
        sum(max(one.reach, 0.0) for one in open_),
        float(len(labels)),
        float(len(values)),
        sum((value - middle) ** 2 for value in values),
        sum(one.reach**2 for one in open_),
        sum(one.reach**2 for one in open_ if one.blind),
        *_weighed_sums(open_),
        *_weighed_sums(items),
        *(sum(one[i] * one[j] for one in seen) for i in range(4) for j in range(4)),
    ]


def _weighed_sums(items: Iterable[Labellable]) -> list[float]:
    parts = [(one.reach, one.reach * one.judged, one.reach * one.expected) for one in items]
    return [sum(part[i] for part in parts) for i in range(3)]
