"""Agreement as SVG text: a point for each run, its name beside it where there is room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from trecjudge.findings import visible
from trecjudge.show.charts import NARROW, NOTHING, Axis, gap_text, heading, kind, short, short_names
from trecjudge.show.templates import number, render

SIZE = 520
NEAR = 5.4
"""Pixels of a character of a name near a point, in the wider of the usual fonts."""
LINE, LONGEST_NEAR = 11, 22
MOST_POINTS = 200
"""With more points no names are shown, since only few would have room."""

Box = tuple[float, float, float, float]
"""left, top, right, bottom"""


@dataclass(frozen=True, slots=True)
class Axes:
    """What stands on the axes: our measure upwards, that of another across, and whose ours is."""

    measure: str
    other: str
    ours: str = ""


def scatter(
    axes: Axes,
    points: Mapping[str, tuple[float, float]],
    unjudged: Mapping[str, str] = NOTHING,
    figure: str = "",
    title: str = "",
    narrow: bool | None = None,
) -> Markup:
    """Return a point for each run: our mean upwards, that of the other across, the diagonal.

    What is `unjudged` of a run shows with its values, `figure` says how the two agree. With a
    `title` it is a file of its own, for two measures whose scales may differ: each axis
    has its own, and there is no diagonal.
    """
    size = NARROW if narrow else SIZE
    left, top, right, bottom = 64, 40, size - 16, size - 56
    across, upwards = _scales(points, (left, right), (bottom, top), one=not title)
    ticks = [
        {"x": across.at(x), "y": upwards.at(y), "across": f"{x:.3g}", "upwards": f"{y:.3g}"}
        for x, y in zip(across.ticks, upwards.ticks, strict=True)
    ]
    here, there = (axes.measure, axes.other) if title else (f"in {axes.ours}", f"in {axes.other}")
    dots = [
        {
            "x": across.at(theirs),
            "y": upwards.at(ours),
            "tip": visible(f"{run_id}: {number(ours)} {here}, {number(theirs)} {there}")
            + gap_text(unjudged, run_id),
            "open": bool(title) and run_id in unjudged,
        }
        for run_id, (ours, theirs) in points.items()
    ]
    places = [(across.at(theirs), upwards.at(ours)) for ours, theirs in points.values()]
    near = list(names_near(list(points), places, (left, top, right, bottom)))
    box = {"size": size, "left": left, "top": top, "right": right, "bottom": bottom}
    text = f"{axes.measure}, in {axes.ours} and in {axes.other}"
    head = heading(title or text, title, "hollow", unjudged)
    more = {
        "across": visible(axes.other),
        "upwards": visible(axes.measure) if title else short(axes.measure),
        "one_scale": not title,
        "figure": visible(figure.partition(" (")[0]),
        "radius": 4 if narrow else 5,
        "classes": kind("chart", narrow),
    }
    return render("scatter.svg", points=dots, ticks=ticks, names=near, **more, **head, **box)


def _scales(
    points: Mapping[str, tuple[float, float]],
    across: tuple[float, float],
    upwards: tuple[float, float],
    one: bool,
) -> tuple[Axis, Axis]:
    """Return the axes; with `one` scale for both the diagonal means equal values."""
    ours, theirs = ([pair[side] for pair in points.values()] for side in (0, 1))
    if one:
        return Axis.over(ours + theirs, *across), Axis.over(ours + theirs, *upwards)
    return Axis.around(theirs, *across), Axis.around(ours, *upwards)


def names_near(
    run_ids: Sequence[str], places: Sequence[tuple[float, float]], frame: Box
) -> Iterator[dict[str, Any]]:
    """Yield the names that fit near their points, over no point and no other name."""
    if len(places) > MOST_POINTS:
        return
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    names = short_names(run_ids, LONGEST_NEAR)
    for run_id, (x, y) in zip(run_ids, places, strict=True):
        text = names[run_id]
        for at, anchor, box in _around(x, y, NEAR * len(text)):
            if _inside(box, frame) and not any(_meet(box, other) for other in taken):
                taken.append(box)
                yield {"x": round(at[0], 1), "y": round(at[1], 1), "anchor": anchor, "text": text}
                break


def _around(x: float, y: float, width: float) -> Iterator[tuple[tuple[float, float], str, Box]]:
    """Yield places for a name near a point, the best first: where, its anchor, and its box."""
    for rise in (0.0, -7.0, 7.0):
        top = y + rise - LINE / 2
        yield (x + 8, y + rise + 3), "start", (x + 7, top, x + 9 + width, top + LINE)
        yield (x - 8, y + rise + 3), "end", (x - 9 - width, top, x - 7, top + LINE)
    for top in (y - 7 - LINE, y + 7):
        box = (x - width / 2, top, x + width / 2, top + LINE)
        yield (x, top + LINE - 2), "middle", box


def _inside(box: Box, frame: Box) -> bool:
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
