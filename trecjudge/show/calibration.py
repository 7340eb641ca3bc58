"""Tables and closing lines of `calibrate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trecjudge.evaluation.calibrate.calibrate import CalibrationReport, WordCountReport
from trecjudge.evaluation.calibrate.quality import CalibrationFigure
from trecjudge.findings import Finding
from trecjudge.show.tables import TextTable, table


def figure_table(done: CalibrationReport) -> TextTable:
    """Return the figures of the shipped weights beside those fitted, with 95 % intervals."""
    rows = (
        (shipped.name, figure_text(shipped), figure_text(fitted))
        for shipped, fitted in zip(done.shipped, done.fitted, strict=True)
    )
    by = f"{done.groups} {done.held_out} held out one by one"
    return table((by, "shipped weights", "fitted weights"), rows)


def figure_text(figure: CalibrationFigure) -> str:
    """Return `0.862 (0.832-0.885)`, without the interval where there is none."""
    if figure.value is None:
        return "n/a"
    low, high = figure.interval
    if low is None or high is None:
        return f"{figure.value:.3f}"
    return f"{figure.value:.3f} ({low:.3f}-{high:.3f})"


def reliability_table(done: CalibrationReport) -> TextTable:
    """Return predicted against observed support, by bins of predicted probability."""
    rows = (
        (part.pairs, f"{part.predicted:.2f}", f"{part.observed:.2f}") for part in done.reliability
    )
    return table(("pairs", "P(supported)", "supported by people"), rows, left=0)


def closing_lines(done: CalibrationReport) -> list[str]:
    """Return lines on a missing interval, findings, the labels used, and the file written."""
    lines = [] if done.no_interval is None else [done.no_interval]
    lines += _finding_lines(done.findings)
    lines.append(f"labels: {done.labels}, of them {done.copies} on copies, which are in no fit")
    if done.passed_over:
        lines.append(
            f"passed over: {done.passed_over} labels of pairs without words or a common script"
        )
    return [*lines, _used(done.path)]


def counted_lines(done: WordCountReport) -> list[str]:
    """Return lines on what was counted, and the file written."""
    counted = f"counted: {done.words} words of {done.documents} documents; weights as shipped"
    return [*_finding_lines(done.findings), counted, _used(done.path)]


def _used(path: Path) -> str:
    return f"calibration: {path}; use it with --calibration {path}"


def _finding_lines(findings: Sequence[Finding]) -> list[str]:
    by_kind: dict[str, list[Finding]] = {}
    for finding in findings:
        by_kind.setdefault(finding.kind, []).append(finding)
    return [
        f"{found[0].severity}: {len(found)} x {kind}; the first: {found[0]}"
        for kind, found in by_kind.items()
    ]
