"""How far two sides agree, as the page shows it: the order of their runs, the labels of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trecjudge.errors import InputError
from trecjudge.evaluation.agreement import agreements
from trecjudge.evaluation.loading import scores_at
from trecjudge.findings import ignore
from trecjudge.records import Place
from trecjudge.results.jobs import outcome
from trecjudge.results.outputs import Outputs
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.stats.alignment import Rules
from trecjudge.stats.meta import Correlation, meta_evaluate
from trecjudge.stats.scores import Scores, scores_of

COEFFICIENTS = {
    "kendall": "Kendall's tau-b",
    "tauap_b": "tau-AP,b",
    "spearman": "Spearman's rho",
}
"""Coefficients that the page shows, by their names in `meta-evaluate`."""
OF_LABELS = {
    "accuracy": "accuracy",
    "kappa": "Cohen's kappa",
    "kappa_linear": "kappa, linear weights",
    "kappa_quadratic": "kappa, quadratic weights",
    "alpha_nominal": "Krippendorff's alpha",
    "alpha_ordinal": "ordinal alpha",
}
"""Figures of labels that the page shows, by their names in `agree`."""

Figure = Mapping[str, Any]
"""`key` and `name` of a figure, its `value`, and its `intervals`: [what is drawn, low, high]."""


def scores_of_job(outputs: Outputs, board: Leaderboard) -> Scores:
    """Return the scores of a job as `meta-evaluate` reads them, or of `board` without its files."""
    if outputs.leaderboard.is_file():
        return scores_at(outcome(outputs.leaderboard), ignore)
    rows = ((Place(outputs.name), row) for row in board.rows())
    return scores_of(outputs.name, rows, ignore)


def correlate_measures(
    truth: Scores, predicted: Scores, names: Mapping[str, str]
) -> dict[str, Sequence[Figure]]:
    """Return the coefficients of each of our measures with theirs, as `meta-evaluate` has them.

    `names` are their names by ours. A measure of which none is defined is left out.
    """
    found: dict[str, Sequence[Figure]] = {}
    for ours, theirs in names.items():
        rules = Rules("common", "checked", tuple(COEFFICIENTS), (theirs,), (ours,))
        try:
            (pair,) = meta_evaluate(truth, predicted, rules, ignore)
        except InputError:  # fewer than three runs in common, or the measure on one side only
            continue
        if figures := [_coefficient(one) for one in pair.correlations if one.value is not None]:
            found[ours] = figures
    return found


def _coefficient(one: Correlation) -> Figure:
    drawn = (("topics", *one.topics), ("runs", *one.runs))
    intervals = [list(each) for each in drawn if each[1] is not None]
    return {
        "key": one.name,
        "name": COEFFICIENTS[one.name],
        "value": one.value,
        "intervals": intervals,
    }


def labels_agreement(truth: Path, predicted: Path) -> dict[str, Any] | None:
    """Return how two files of judgments agree, as `agree` has it; None without a common item.

    Of several judges, each figure names its own.
    """
    try:
        # What is relevant is not shown; its AUC takes most of the work and of the memory.
        found = agreements(truth, predicted, ignore, threshold=None)
    except InputError:
        return None
    figures = [
        {
            "key": one.name if len(found) == 1 else f"{one.name}:{each.judge}",
            "name": OF_LABELS[one.name] + (f" of {each.judge}" if len(found) > 1 else ""),
            "value": one.pooled,
            "intervals": [["topics", *one.interval]] if one.interval.low is not None else [],
        }
        for each in found
        for one in each.figures
        if one.name in OF_LABELS and one.pooled is not None
    ]
    items, topics = (max(getattr(one, name) for one in found) for name in ("items", "topics"))
    return {"items": items, "topics": topics, "figures": figures}


def figure_text(figure: Figure) -> str:
    """Return a figure in words: `Kendall's tau-b 0.816 (95 %: 0.75 to 0.88 over topics)`."""
    bounds = [f"{low:.3f} to {high:.3f} over {drawn}" for drawn, low, high in figure["intervals"]]
    return f"{figure['name']} {figure['value']:.3f}" + (
        f" (95 %: {', '.join(bounds)})" if bounds else ""
    )
