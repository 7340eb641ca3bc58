"""Tables for a paper or a page from Python: of a leaderboard, a comparison, a meta-evaluation."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TypeAlias

from trecjudge.api.inputs import PathLike, names, warn
from trecjudge.api.result import Result
from trecjudge.api.statistics import MetaEvaluation
from trecjudge.errors import InputError
from trecjudge.evaluation.comparing import Comparison
from trecjudge.evaluation.standings import Standings, standings_at
from trecjudge.findings import OnFinding, brief
from trecjudge.results.jobs import outcome
from trecjudge.show.paper.forms import Form, render_table
from trecjudge.show.paper.latex import PAGE, Layout
from trecjudge.show.paper.tables import DIGITS, correlation_grid, difference_grid, leaderboard_grid
from trecjudge.stats.alignment import report_unjudged

Tabled: TypeAlias = "Result | PathLike | Comparison | MetaEvaluation"
MOST_DIGITS = 6


def table(
    found: Tabled,
    to: Form = "markdown",
    *,
    measures: str | Collection[str] = (),
    all_measures: bool = False,
    digits: int = DIGITS,
    layout: str = PAGE.name,
    plain: bool = False,
    lower_is_better: str | Collection[str] = (),
    format_name: str = "auto",
    on_finding: OnFinding = warn,
) -> str:
    """Return a table of a result, a leaderboard's path, a comparison or a meta-evaluation.

    `measures` are those of a leaderboard, by default what its judges rank by, and
    `lower_is_better` those that are so where no statistics say it. `layout` is for LaTeX: `page`,
    `column` or `wide` of a page with two columns, or `landscape`, with a width in pt as in
    `page:360`; `plain` sets its numbers without siunitx. Raises InputError.
    """
    laid = Layout.of(layout, plain)
    if digits not in range(MOST_DIGITS + 1):
        raise InputError(f"digits is {brief(digits)}, must be 0 to {MOST_DIGITS}")
    if isinstance(found, Comparison):
        return render_table(difference_grid(found.differences, digits), to, laid)
    if isinstance(found, MetaEvaluation):
        return render_table(correlation_grid(found.pairs, digits), to, laid)
    if not isinstance(found, Result | str | os.PathLike):
        wanted = "give a result, a path, a comparison or a meta-evaluation"
        raise InputError(f"{brief(found)}: {wanted}")
    job = found.outcome() if isinstance(found, Result) else outcome(Path(found))
    lower = names(lower_is_better) if lower_is_better else ()
    standings, scores = standings_at(job, on_finding, format_name, lower)
    wanted = _measures(standings, names(measures) if measures else (), all_measures)
    report_unjudged(scores, wanted, on_finding)
    return render_table(leaderboard_grid(standings, wanted, digits=digits), to, laid)


def _measures(found: Standings, given: Collection[str], every: bool) -> list[str]:
    """Return the chosen measures; several may be named in one text, separated by commas."""
    parted = [
        part.strip()
        for name in given
        # A measure's own name may hold a comma.
        for part in ([name] if name in found.by_measure else name.split(","))
    ]
    return found.choose_measures([part for part in parted if part], every)
