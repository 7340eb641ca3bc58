"""What a season has found so far, in a line for each step that has something to say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from trecjudge.files import read_text
from trecjudge.findings import plural
from trecjudge.job.season.steps import CHECKED, PUBLISHED


def results_of(folder: Path) -> Iterator[str]:
    """Yield lines on the runs that are accepted, and on how people agree with the judge."""
    if checked := _read(folder / CHECKED / "all.json"):
        verdicts = [run["verdict"] for run in checked["runs"]]
        refused = verdicts.count("refused")
        accepted = len(verdicts) - refused
        yield f"{plural(len(verdicts), 'run')}: {accepted} accepted, {refused} refused"
    for one in _read(folder / PUBLISHED / "agreement.json").get("jobs", ()):
        figures = {figure["figure"]: figure["pooled"] for figure in one["figures"]}
        known = (
            f"{n} {figures[n]:.3f}" for n in ("accuracy", "kappa") if figures.get(n) is not None
        )
        yield f"people and {one['judge']}: {', '.join([plural(one['items'], 'item'), *known])}"
    for pair in _read(folder / PUBLISHED / "correlations.json").get("pairs", ()):
        tau = pair["correlations"].get("kendall", {}).get("value")
        if tau is not None and pair["measure"] == pair["truth_measure"]:
            yield f"order by {pair['measure']} and that of the truth: kendall {tau:.3f}"


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(read_text(path)) if path.is_file() else {}
    return found
