"""Charts as SVG text: distributions, ranks, agreement; styled by the page's sheet."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from trecjudge.findings import plural, visible
from trecjudge.measures import ranks
from trecjudge.show.tables import disambiguate, shorten
from trecjudge.show.templates import asset, number, render
from trecjudge.stats.meta import Correlated

if TYPE_CHECKING:
    from trecjudge.scores.reliability import Reliability

PLOT_WIDTH, ROW = 460, 22
# Charts as SVG text: distributions and ranks by measure; styled by the page's sheet.
CHARACTER = 7.4
"""Pixels of a character of a name, in the wider of the usual fonts: an SVG cannot measure text."""

NOTHING: Mapping[str, str] = MappingProxyType({})
LONGEST_NAME = 30
COLUMN, CLOSEST, WIDEST = 190, 100, 1340
"""The fewest pixels between two columns of ranks, and the width of all columns together."""
RAISED = 13
"""Pixels by which every other head is raised where columns stand close."""
NARROW_NAMES = 120
"""Pixels for names beside a narrow chart."""
NARROW = 360
"""Pixels in width of a chart for a phone."""
BESIDE_TITLE = 240
"""Pixels beside the columns of a file of its own: its title and its note have room."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from `low` to `high` on the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> Axis:
        """Return an axis that holds the values: 0 to 1 where they fit, else their own range."""
        low, high = min((0.0, *values)), max((0.0, *values))
        if low >= 0.0 and high <= 1.0:
            # Most measures run from 0 to 1: one scale lets charts be compared.
            high = 1.0
        return cls(low, high if high > low else low + 1.0, start, end)

    @classmethod
    def around(cls, values: Sequence[float], start: float, end: float) -> Axis:
        """Return an axis of the values' own range; a single value is in its middle."""
        low, high = min(values), max(values)
        spare = 0.0 if high > low else 0.5  # a range of no width could not be divided by
        return cls(low - spare, high + spare, start, end)

    def at(self, value: float) -> float:
        """Return the pixel of a value."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def ticks(self) -> list[float]:
        """Five values with their ends."""
        return [self.low + (self.high - self.low) * i / 4 for i in range(5)]


def short(name: str) -> str:
    """Return a name that fits beside a chart, cut in the middle."""
    return shorten(visible(name), LONGEST_NAME)


def short_names(run_ids: Iterable[str], most: int = LONGEST_NAME) -> dict[str, str]:
    """Return the names of runs as they fit beside a chart, no two of them alike."""
    names = list(run_ids)
    return dict(zip(names, disambiguate(list(map(visible, names)), most), strict=True))


def margin(run_ids: Iterable[str]) -> int:
    """Return the pixels that the names of runs need beside a chart."""
    return 24 + round(CHARACTER * max(map(len, short_names(run_ids).values()), default=0))


def distribution(
    measure: str, values: Mapping[str, Sequence[float]], narrow: bool = False
) -> Markup:
    """Return the values of each run over topics: points, quartiles, median, lowest, highest.

    In a `narrow` one, as for a phone, names stand above their row.
    """
    left, top = 14 if narrow else margin(values), 36
    right = NARROW - 14 if narrow else left + PLOT_WIDTH
    every = [value for found in values.values() for value in found]
    axis = Axis.over(every, left, right)
    row = ROW * 1.5 if narrow else ROW
    names = short_names(values)
    rows = [
        {"name": names[run_id]}
        | _row(run_id, found, axis, round(top + row * (i + (0.7 if narrow else 0.5)), 1))
        for i, (run_id, found) in enumerate(values.items())
    ]
    bottom = round(top + row * len(rows))
    ticks = [{"at": axis.at(tick), "text": f"{tick:.4g}"} for tick in axis.ticks]
    size = {
        "width": NARROW if narrow else right + 24,
        "height": bottom + 12,
        "top": top,
        "bottom": bottom,
        "left": left,
        "classes": kind("chart", narrow),
        "narrow": narrow,
    }
    title = visible(f"{measure}: values of each run over topics")
    return render("distribution.svg", title=title, rows=rows, ticks=ticks, **size)


def kind(name: str, narrow: bool | None) -> str:
    """Return the classes of a chart; of a wide and a narrow one the page shows what fits."""
    return name if narrow is None else f"{name} {'narrow' if narrow else 'wide'}"


def _row(run_id: str, values: Sequence[float], axis: Axis, y: float) -> dict[str, Any]:
    if not values:
        tip = f"{visible(run_id)}: no values"
        return {"y": y, "tip": tip, "box": None}
    first, median, third = quartiles(values)
    box = {
        "lowest": axis.at(min(values)),
        "highest": axis.at(max(values)),
        "first": axis.at(first),
        "width": round(max(1.0, axis.at(third) - axis.at(first)), 1),
        "median": axis.at(median),
    }
    points = _points({axis.at(value) for value in values}, y)
    tip = (
        f"{visible(run_id)}: median {number(median)},"
        f" middle half {number(first)} to {number(third)},"
        f" {number(min(values))} to {number(max(values))} over {len(values)} topics"
    )
    return {"y": y, "box": box, "points": points, "tip": tip}


def _points(places: Collection[float], y: float) -> str:
    """Return the path of points in a row: each but the first by how far it is from the one before.

    A run may have a point for each of a thousand topics; what stands at one place is one point.
    """
    first, *_ = at = sorted(places)
    steps = "".join(f"m{round(b - a, 1):g} 0h0" for a, b in pairwise(at))
    return f"M{first} {y}h0{steps}"


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the first quartile, the median and the third quartile of one value or more."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    first, median, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, median, third


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where the columns of ranks stand: pixels beside and above them, and between two.

    `names` are the characters of a run's name, `raised` the pixels that every other head is higher.
    """

    left: int
    right: int
    top: int
    step: int
    names: int = LONGEST_NAME
    raised: int = 0

    @classmethod
    def of(cls, measures: Sequence[str], run_ids: Iterable[str], whole: bool) -> _Columns:
        """Return the columns of a page, or those of a `whole` file, whose title needs room."""
        beside = max(margin(run_ids), BESIDE_TITLE if whole else COLUMN // 2)
        room = (WIDEST - 2 * beside) // max(1, len(measures) - 1)
        step = COLUMN if whole else max(CLOSEST, min(COLUMN, room))
        raised = 0 if step == COLUMN else RAISED
        return cls(beside, beside, 48 + raised, step, raised=raised)

    @classmethod
    def narrow(cls, measures: Sequence[str]) -> _Columns:
        """Return the columns on a phone: heads stand upright, and names only at the end."""
        longest = max((len(short(name)) for name in measures), default=0)
        step = max(14, (NARROW - 14 - NARROW_NAMES) // max(1, len(measures) - 1))
        return cls(14, NARROW_NAMES, 24 + round(CHARACTER * longest), step, names=14)


def bump(
    measures: Sequence[str],
    ranks: Mapping[str, Sequence[int | None]],
    lower: Collection[str] = (),
    unjudged: Mapping[str, str] = NOTHING,
    title: str = "",
    narrow: bool = False,
) -> Markup:
    """Return a line for each run from its rank by one measure to its rank by the next.

    `ranks` has a rank for each measure, None where the run has no value. Runs come in the order of
    the leaderboard; the first five stand out. Runs that share a rank stand one below the other, in
    a frame. Of the measures in `lower` less is better. With a `title` it is a file of its own: the
    lines show which runs rise and which fall, and are dashed where something is `unjudged`.
    """
    place = _Columns.narrow(measures) if narrow else _Columns.of(measures, ranks, bool(title))
    xs = [place.left + place.step * i for i in range(len(measures))]
    by_measure = [[found[i] for found in ranks.values()] for i in range(len(measures))]
    stands = [_stands(found, place.top) for found in by_measure]
    names = short_names(ranks, place.names)
    lines = [
        _line(f"{run_id}: {_places(measures, found)}", xs, [column[row] for column in stands])
        | {"kind": _kind(row, found, title, run_id in unjudged), "name": names[run_id]}
        for row, (run_id, found) in enumerate(ranks.items())
    ]
    for line, run_id in zip(lines, ranks, strict=True):
        line["tip"] += gap_text(unjudged, run_id)
    bottom = place.top + ROW * (max(1, len(ranks)) - 1)
    ties = [
        {"x": x - 9, "y": min(ys) - 9, "height": max(ys) - min(ys) + 18, "tip": tip}
        for x, found, own in zip(xs, by_measure, stands, strict=True)
        for tip, ys in _ties(found, own)
    ]
    columns = [
        # Of columns that stand close every other head is raised.
        {"x": x, "name": visible(name), "lower": name in lower, "up": place.raised * (i % 2)}
        for i, (x, name) in enumerate(zip(xs, measures, strict=True))
    ]
    size = {"width": xs[-1] + place.right, "height": bottom + 24}
    box = {"left": place.left, "right": xs[-1], "top": place.top, "bottom": bottom}
    shape = {"narrow": narrow, "classes": kind("chart bump", None if title else narrow)}
    head = heading(f"Rank of each run by {', '.join(measures)}", title, "dashed", unjudged)
    drawn = {"columns": columns, "lines": lines, "ties": ties}
    return render("bump.svg", **drawn, **shape, **head, **size, **box)


def _kind(row: int, ranks: Sequence[int | None], title: str, is_open: bool) -> str:
    """Return the class of a run's line, behind `run`."""
    if not title:
        return f" first-{row + 1}" if row < 5 else ""
    first, last = ranks[0], ranks[-1]
    moved = 0 if first is None or last is None else first - last
    return f"{' rise' if moved > 0 else ' fall' if moved < 0 else ''}{' open' if is_open else ''}"


def gap_text(unjudged: Mapping[str, str], run_id: str) -> str:
    """Return the unjudged items of a run, for its tip."""
    return f"; {visible(unjudged[run_id])}" if run_id in unjudged else ""


def heading(text: str, title: str, mark: str, unjudged: Mapping[str, str]) -> dict[str, Any]:
    """Return the title of a chart; for a file of its own also style and note."""
    note = f"{mark}: items of the run are unjudged, in no mean; how many shows under the pointer"
    return {
        "title": visible(title or text),
        "standalone": bool(title),
        "note": note if title and unjudged else "",
        "style": asset("chart.css") if title else "",
    }


def _stands(ranks: Sequence[int | None], top: int) -> list[int | None]:
    """Return the pixel of each run in a column; runs of one rank follow below one another."""
    taken: Counter[int] = Counter()
    found: list[int | None] = []
    for rank in ranks:
        found.append(None if rank is None else top + ROW * (rank - 1 + taken[rank]))
        if rank is not None:
            taken[rank] += 1
    return found


def _ties(
    ranks: Sequence[int | None], ys: Sequence[int | None]
) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield a tip for each rank that several runs share, and the pixels of these runs."""
    shared: dict[int, list[int]] = defaultdict(list)
    for rank, y in zip(ranks, ys, strict=True):
        if rank is not None and y is not None:
            shared[rank].append(y)
    for rank, found in shared.items():
        if len(found) > 1:
            yield f"{len(found)} runs are tied at rank {rank}", found


def _places(measures: Sequence[str], ranks: Sequence[int | None]) -> str:
    known = ("no value" if rank is None else str(rank) for rank in ranks)
    return ", ".join(map(" ".join, zip(measures, known, strict=True)))


def _line(tip: str, xs: Sequence[int], ys: Sequence[int | None]) -> dict[str, Any]:
    dots = [(x, y) for x, y in zip(xs, ys, strict=True) if y is not None]
    ends = {"left": ys[0], "right": ys[-1]}
    return {"tip": visible(tip), "path": _curve(dots), "dots": dots} | ends


def _curve(dots: Sequence[tuple[int, int]]) -> str:
    """Return a path through the dots that leaves and reaches each of them level."""
    if not dots:
        return ""
    path = f"M{dots[0][0]} {dots[0][1]}"
    for (x0, y0), (x1, y1) in pairwise(dots):
        middle = (x0 + x1) / 2
        path += f"C{middle} {y0} {middle} {y1} {x1} {y1}"
    return path


# Agreement as SVG text: a point for each run, its name beside it where there is room.
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
    head = heading(text, title, "hollow", unjudged)
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


# Reliability as SVG text: a small panel for each run, a point for each bin of confidence.
MOST_PANELS = 12
PANELS, NARROW_PANELS = 4, 2
"""Panels in a row."""
PANEL = 200
"""Pixels of a panel in width."""


def panels_of_reliability(runs: Sequence[Reliability], narrow: bool = False) -> Markup:
    """Return a panel for each of the first runs: confidence stated across, what is found upwards.

    A point is a bin, its number is how many responses are in it; on the diagonal both are the same.
    """
    in_a_row = NARROW_PANELS if narrow else PANELS
    side = NARROW // in_a_row if narrow else PANEL
    left, top, right, bottom = 28, 34, side - 12, side
    across, upwards = Axis(0.0, 1.0, left, right), Axis(0.0, 1.0, bottom, top)
    ticks = [{"x": across.at(t), "y": upwards.at(t), "text": f"{t:g}"} for t in (0.0, 0.5, 1.0)]
    drawn = runs[:MOST_PANELS]
    names = short_names((run.run_id for run in drawn), LONGEST_NEAR)
    panels = [
        {
            "x": side * (i % in_a_row),
            "y": (side + 26) * (i // in_a_row),
            "name": names[run.run_id],
            "error": f"calibration error {number(run.error)}",
            "points": [_bin_point(one, across, upwards) for one in run.bins],
        }
        for i, run in enumerate(drawn)
    ]
    box = {"left": left, "top": top, "right": right, "bottom": bottom, "ticks": ticks}
    size = {"width": side * in_a_row, "height": (side + 26) * -(-len(drawn) // in_a_row)}
    head = heading("Confidence that runs state, held against what is found", "", "", NOTHING)
    shape = {"classes": kind("chart", narrow)}
    return render("reliability.svg", panels=panels, **box, **size, **head, **shape)


def _bin_point(one: tuple[float, int, float, float], across: Axis, upwards: Axis) -> dict[str, Any]:
    _, count, stated, found = one
    y = upwards.at(found)
    tip = f"{plural(count, 'response')}: {number(stated)} stated, {number(found)} found"
    # Above its point, unless that is at the top.
    count_at = y - 7 if y > upwards.end + LINE else y + 7 + LINE / 2
    return {"x": across.at(stated), "y": y, "tip": tip, "count": count, "count_at": count_at}


def scatter_picture(found: Correlated, title: str) -> str:
    """Return a point for each run: the truth across, the judge upwards."""
    columns = zip(found.runs, found.predicted, found.truth, strict=True)
    points = {run_id: (ours, theirs) for run_id, ours, theirs in sorted(columns)}
    axes = Axes(found.measure, _truth(found))
    return scatter(axes, points, _unjudged_picture(found), title=title)


def bump_picture(found: Correlated, title: str) -> str:
    """Return a line for each run, from its rank in the truth to its rank with the judge."""
    truth, judge = (
        ranks(dict(zip(found.runs, means, strict=True))) for means in (found.truth, found.predicted)
    )
    both = {run_id: [rank, judge[run_id]] for run_id, rank in truth.items()}
    return bump([_truth(found), found.measure], both, (), _unjudged_picture(found), title)


def _truth(found: Correlated) -> str:
    return f"{found.truth_measure} (truth)"


def _unjudged_picture(found: Correlated) -> dict[str, str]:
    return {run_id: f"unjudged {gaps}" for run_id, gaps in found.unjudged_runs().items()}
