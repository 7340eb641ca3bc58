"""What a person sees of a calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.table import Table

from trecjudge.calibrate.command import Calibrated
from trecjudge.calibrate.figures import Figure
from trecjudge.findings import Finding


def figure_table(done: Calibrated) -> Table:
    """Return the figures of the shipped weights beside those fitted, with 95 % intervals."""
    table = Table(box=None, pad_edge=False)
    by = f"{done.groups} {done.held_out} held out one by one"
    for column in (by, "shipped weights", "fitted weights"):
        table.add_column(column, justify="left" if column == by else "right")
    for shipped, fitted in zip(done.shipped, done.fitted, strict=True):
        table.add_row(shipped.name, figure_text(shipped), figure_text(fitted))
    return table


def figure_text(figure: Figure) -> str:
    """Return `0.862 (0.832-0.885)`, without the interval where there is none."""
    if math.isnan(figure.value):
        return "n/a"
    if math.isnan(figure.low):
        return f"{figure.value:.3f}"
    return f"{figure.value:.3f} ({figure.low:.3f}-{figure.high:.3f})"


def reliability_table(done: Calibrated) -> Table:
    """Return predicted against observed support, by bins of predicted probability."""
    table = Table(box=None, pad_edge=False)
    for column in ("pairs", "P(supported)", "supported by people"):
        table.add_column(column, justify="right")
    for part in done.reliability:
        table.add_row(str(part.pairs), f"{part.predicted:.2f}", f"{part.observed:.2f}")
    return table


def closing_lines(done: Calibrated) -> list[str]:
    """Return what was found in the input, what was fitted to, and where it is."""
    kinds = dict.fromkeys(finding.kind for finding in done.findings)
    lines = [_of_kind([f for f in done.findings if f.kind == kind]) for kind in kinds]
    lines.append(f"labels: {done.labels}, of them {done.copies} on copies, which are in no fit")
    if done.passed_over:
        lines.append(
            f"passed over: {done.passed_over} labels of pairs without words or a common script"
        )
    return [*lines, f"calibration: {done.path}; use it with --calibration {done.path}"]


def _of_kind(findings: Sequence[Finding]) -> str:
    first = findings[0]
    return f"{first.severity}: {len(findings)} x {first.kind}; the first: {first}"
