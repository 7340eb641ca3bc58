"""The measures of a rubric's axes, named as the bank names them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import partial

from trecjudge import MeasureSpec, Nugget

from .scoring import NO_WEIGHT, supportive


def axes_in(nuggets: Iterable[Nugget]) -> list[str]:
    """Return the axes of weighted criteria, sorted."""
    return sorted({n.group for n in nuggets if n.weight is not None and n.group})


def axis_measures(axes: Sequence[str]) -> list[MeasureSpec]:
    """Return a measure for each axis: `AXIS_` and its name in capitals."""
    found: dict[str, MeasureSpec] = {}
    for number, axis in enumerate(axes, 1):
        plain = unicodedata.normalize("NFKD", axis).encode("ascii", "ignore").decode()
        name = f"AXIS_{re.sub('[^A-Z0-9]+', '_', plain.upper()).strip('_') or number}"
        if name in found:  # two axes that differ in what a name cannot have
            name = f"{name}_{number}"
        found[name] = MeasureSpec(
            name,
            partial(supportive, axis=axis),
            default_if_undefined=False,
            description=f"SUPPORTIVE_SCORE of the criteria of axis {axis!r} alone.",
            undefined=NO_WEIGHT,
        )
    return list(found.values())
