"""Charts that compare a judge with people, each a file of its own."""

from __future__ import annotations

from trecjudge.measures import ranks
from trecjudge.show.charts import Axes, bump, scatter
from trecjudge.stats.meta import Correlated


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
