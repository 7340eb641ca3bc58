"""The page of a folder of jobs: how runs stand from night to night, with links to the reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from trecjudge.evaluation.trend import TrendPoint, night_of, trend_of
from trecjudge.files import open_target
from trecjudge.findings import OnFinding
from trecjudge.results.history import name_of_job
from trecjudge.results.jobs import JobFiles
from trecjudge.results.outputs import Outputs
from trecjudge.show.html.page import policy
from trecjudge.show.templates import asset, render

INDEX = "index.html"
WIDTH, HEIGHT, EDGE = 220, 36, 4
"""The size of a line of values, and what is free around it, in pixels."""


@dataclass(slots=True)
class _Line:
    """A run by a measure over the nights; None where it has no value."""

    run_id: str
    measure: str
    points: list[TrendPoint | None] = field(default_factory=list)

    @property
    def newest(self) -> TrendPoint | None:
        return self.points[-1]

    def path(self) -> str:
        """Return the points of an SVG polyline; a single night is a short line."""
        there = [(i, p.score.mean) for i, p in enumerate(self.points) if p is not None]
        values = [(i, mean) for i, mean in there if mean is not None]
        if not values:
            return ""
        low, high = min(v for _, v in values), max(v for _, v in values)
        step = (WIDTH - 2 * EDGE) / max(len(self.points) - 1, 1)
        scale = (HEIGHT - 2 * EDGE) / (high - low) if high > low else 0.0
        middle = 0.0 if scale else HEIGHT / 2 - EDGE
        dots = [(EDGE + i * step, HEIGHT - EDGE - middle - (v - low) * scale) for i, v in values]
        dots += [(dots[0][0] + EDGE, dots[0][1])] if len(dots) == 1 else []
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)


def write_nights(folder: Path, jobs: Sequence[JobFiles], report: OnFinding) -> Path:
    """Write `index.html` into a folder of jobs; return it.

    Jobs of one name, as a history has them, are nights of one trend, the oldest first. Each is
    linked to its report, where that is written. Raises InputError.
    """
    by_name: dict[str, list[JobFiles]] = {}
    for job in jobs:
        by_name.setdefault(name_of_job(job), []).append(job)
    groups = [_group(name, own, report) for name, own in by_name.items()]
    style = Markup("").join(asset(f"{name}.css") for name in ("style", "chart", "nights"))
    path = folder / INDEX
    with open_target(path) as file:
        page = render(
            "nights.html",
            name=folder.resolve().name,
            style=style,
            policy=policy(style, (), beside=False),
            groups=groups,
            size=(WIDTH, HEIGHT),
        )
        file.write(page.encode())
    return path


def _group(name: str, jobs: Sequence[JobFiles], report: OnFinding) -> dict[str, Any]:
    points = trend_of(jobs, report).points
    place = {night_of(job): number for number, job in enumerate(jobs)}
    lines: dict[tuple[str, str], _Line] = {}
    for point in points:
        key = (point.score.run_id, point.score.measure)
        line = lines.setdefault(key, _Line(*key, [None] * len(jobs)))
        line.points[place[point.entry]] = point
    flips: list[int | None] = [None] * len(jobs)
    for point in (point for point in points if point.flipped is not None):
        at = place[point.entry]
        flips[at] = (flips[at] or 0) + (point.flipped or 0)
    return {
        "name": name,
        "lines": sorted(lines.values(), key=_rank),
        "nights": [
            {"name": job.place.name, "report": _report_of(job), "flipped": count}
            for job, count in zip(jobs, flips, strict=True)
        ],
    }


def _rank(line: _Line) -> tuple[int, str]:
    rank = line.newest.score.rank if line.newest else None
    return (rank if rank is not None else len(line.points) + 10**9, line.run_id)


def _report_of(job: JobFiles) -> str:
    """Return the name of a job's report, empty where none is written."""
    path = Outputs(job.place.parent, job.place.name).report
    return path.name if path.exists() else ""


def index_lines(path: Path, jobs: Sequence[JobFiles]) -> Iterator[str]:
    """Yield what is printed of the page."""
    lacking = [job.place.name for job in jobs if not _report_of(job)]
    if lacking:
        yield f"note: no report of {', '.join(lacking[:3])}{' …' if lacking[3:] else ''}"
    yield f"index: {path} ({len(jobs)} jobs)"
