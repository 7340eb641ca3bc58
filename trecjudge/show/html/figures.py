"""The charts of a report, and how far two sides agree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from trecjudge.errors import InputError, unknown
from trecjudge.evaluation.agreement import AgreementOptions, agreements
from trecjudge.evaluation.comparing import scores_at
from trecjudge.findings import ignore, plural
from trecjudge.judging.battles import distinct_battles
from trecjudge.measures import MeasureSpec
from trecjudge.records import Place
from trecjudge.records.battles import Battle
from trecjudge.results.jobs import outcome
from trecjudge.results.outputs import Outputs
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.show.charts import (
    MOST_PANELS,
    Axes,
    bump,
    distribution,
    panels_of_reliability,
    quartiles,
    scatter,
)
from trecjudge.show.formats import interval
from trecjudge.show.html.page import Chart
from trecjudge.show.templates import number
from trecjudge.stats.alignment import Rules, few
from trecjudge.stats.battles import BattleTable, WinMatrix
from trecjudge.stats.meta import Correlation, meta_evaluate
from trecjudge.stats.scores import Scores, scores_of

if TYPE_CHECKING:
    from trecjudge.scores.reliability import Reliability

# How far two sides agree, as the page shows it: the order of their runs, the labels of items.
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
    "tau_b": "Kendall's tau-b",
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
    drawn = [["topics", *one.topics], ["runs", *one.runs]]
    named = {"key": one.name, "name": COEFFICIENTS[one.name], "value": one.value}
    return named | {"intervals": [each for each in drawn if each[1] is not None]}


def labels_agreement(truth: Path, predicted: Path) -> dict[str, Any] | None:
    """Return how two files of judgments agree, as `agree` has it; None without a common item.

    Of several judges, each figure names its own.
    """
    try:
        # What is relevant is not shown; its AUC takes most of the work and of the memory.
        found = agreements(truth, predicted, ignore, AgreementOptions(threshold=None))
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
    bounds = [f"{interval(own)} over {drawn}" for drawn, *own in figure["intervals"]]
    within = f" (95 %: {', '.join(bounds)})" if bounds else ""
    return f"{figure['name']} {figure['value']:.3f}{within}"


# The charts of a report: ranks by measure, distributions, agreement with others.
Means = Mapping[str, Mapping[str, float]]
"""measure -> run_id -> mean"""
Gaps = Mapping[str, Mapping[str, str]]
"""measure -> run_id -> how many of its items are unjudged, and what its mean could be"""


SPREAD = "Run", "Topics", "Lowest", "First quartile", "Median", "Third quartile", "Highest"


def own_charts(board: Leaderboard, leading: Collection[str] = ()) -> Iterator[Chart]:
    """Yield ranks by measure, then the distribution of each measure.

    Where some measures are `leading`, lines go from one of these to the next; the ranks by all
    stand in the table.
    """
    every = [measure.name for measure in board.spec.measures]
    names = [name for name in every if name in leading or not leading]
    lower = [measure.name for measure in board.spec.measures if measure.lower_is_better]
    if len(names) > 1 and len(board.scores) > 1:
        caption = (
            "Each line is a run, from its rank by one measure to its rank by the next."
            " A frame holds runs that are tied: they share the rank of its first."
        )
        found = ranks(board)
        rows = [[run, *("no value" if r is None else str(r) for r in found[run])] for run in found]
        at = [every.index(name) for name in names]
        drawn = {run: [row[i] for i in at] for run, row in found.items()}
        svg = bump(names, drawn, lower) + bump(names, drawn, lower, narrow=True)
        if len(names) < len(every):
            caption += f" The table has all {len(every)} measures."
        heads = "Run", *map(label, board.spec.measures)
        yield Chart("Ranks by measure", caption, svg, heads=heads, rows=rows, wide=True)
    caption = (
        "Each point is a topic; the box is the middle half of the topics, the bar their median."
    )
    for measure in board.spec.measures:
        values = {run_id: _over_topics(board, run_id, measure.name) for run_id in board.ranking()}
        name = label(measure)
        rows = [[run_id, *_spread(found)] for run_id, found in values.items()]
        svg = distribution(name, values) + distribution(name, values, narrow=True)
        yield Chart(f"{name} over topics", caption, svg, measure.name, SPREAD, rows)


STATED = "Run", "Stated from", "Responses", "Mean stated", "Mean found"


def stated_charts(stated: Sequence[Reliability]) -> Iterator[Chart]:
    """Yield the confidence that runs state, held against what is found, where any states it."""
    if not stated:
        return
    caption = (
        f"Each point is a bin of a tenth: the confidence stated across, {stated[0].measure}"
        " upwards, and how many responses. On the line both are the same; below it a run is too"
        " sure."
    )
    if len(stated) > MOST_PANELS:
        caption += f" The {MOST_PANELS} best runs are drawn; the table has all {len(stated)}."
    svg = panels_of_reliability(stated) + panels_of_reliability(stated, narrow=True)
    rows = [
        [run.run_id, f"{least:.1f}", str(count), number(mean), number(found)]
        for run in stated
        for least, count, mean, found in run.bins
    ]
    yield Chart("Stated confidence", caption, svg, heads=STATED, rows=rows, wide=True)


def label(measure: MeasureSpec) -> str:
    """Return a measure's name, and whether less of it is better."""
    return f"{measure.name} (lower is better)" if measure.lower_is_better else measure.name


def _spread(values: Sequence[float]) -> list[str]:
    """Return the cells of a run's values over topics, named as in SPREAD."""
    if not values:
        return ["0", *["n/a"] * 5]
    spread = min(values), *quartiles(values), max(values)
    return [str(len(values)), *map(number, spread)]


def _over_topics(board: Leaderboard, run_id: str, measure: str) -> list[float]:
    scores = board.scores[run_id]
    found = (scores[topic][measure].value for topic in board.expected if topic in scores)
    return [value for value in found if value is not None]


def ranks(board: Leaderboard) -> Mapping[str, list[int | None]]:
    """Return the rank of each run by each measure, the best run first; equal values share one."""
    columns = [board.ranks(measure) for measure in board.spec.measures]
    return {run_id: [column[run_id] for column in columns] for run_id in board.ranking()}


@dataclass(frozen=True, slots=True)
class Sides:
    """Two leaderboards: what they are called, what the other one has, and how the two agree.

    `means`, `unjudged` and `figures` of the other are by our names of measures; `renamed` has its
    own names, where they differ.
    """

    ours: str
    name: str
    means: Means
    unjudged: Gaps = field(default_factory=dict)
    figures: Mapping[str, Sequence[Figure]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)


def agreement(board: Leaderboard, both: Sides) -> Iterator[Chart]:
    """Yield a scatter of each measure that others have too, with a point for each run."""
    every, unjudged = means_of(board), unjudged_of(board)
    for measure in board.spec.measures:
        ours, common = every[measure.name], both.means.get(measure.name, {})
        points = {run: (ours[run], common[run]) for run in ours if run in common}
        # No run in common: an empty chart would look like a result.
        if points:
            gaps = [side.get(measure.name, {}) for side in (unjudged, both.unjudged)]
            yield _agreement_chart(measure, both, points, gaps)


def _agreement_chart(
    measure: MeasureSpec,
    both: Sides,
    points: Mapping[str, tuple[float, float]],
    gaps: Sequence[Mapping[str, str]],
) -> Chart:
    called = both.renamed.get(measure.name, measure.name)
    against = both.name if called == measure.name else f"{called} of {both.name}"
    named = both.ours, both.name
    caption = f"Each point is a run ({len(points)} in all). On the line both means are the same."
    heads = ["Run", both.ours, against]
    rows = [[run_id, *map(number, pair)] for run_id, pair in points.items()]
    if is_open := [run for run in points if any(run in side for side in gaps)]:
        caption += f" Of {plural(len(is_open), 'run')} some items are unjudged, and in no mean."
        heads += [f"Unjudged in {side}" for side in named]
        rows = [[*row, *(side.get(row[0], "") for side in gaps)] for row in rows]
    texts = list(map(figure_text, both.figures.get(measure.name, ())))
    if texts:
        caption += f" Order of the runs: {'; '.join(texts)}."
    gaps_of = {
        run: ", ".join(
            f"unjudged in {where}: {side[run]}"
            for where, side in zip(named, gaps, strict=True)
            if run in side
        )
        for run in is_open
    }
    axes, tau = Axes(label(measure), against, both.ours), "".join(texts[:1])
    svg = Markup("").join(scatter(axes, points, gaps_of, tau, narrow=n) for n in (False, True))
    title = f"{label(measure)}, compared with {against}"
    return Chart(title, caption, svg, measure.name, heads, rows)


def unjudged_of(board: Leaderboard) -> Gaps:
    """Return what is unjudged of each mean: `3 of 12 (0.25 to 1)`."""
    return {
        measure.name: {
            run_id: gaps.with_bounds
            for run_id in board.scores
            if (gaps := board.mean(run_id, measure).gaps).items
        }
        for measure in board.spec.measures
    }


def unjudged_of_truth(truth: Scores, renamed: Mapping[str, str]) -> Gaps:
    """Return what is unjudged of each mean of others' leaderboard, by our names of its measures."""
    return {
        ours: {
            run: g.with_bounds for (run, m), g in truth.unjudged.items() if m == theirs and g.items
        }
        for ours, theirs in renamed.items()
    }


def means_of(board: Leaderboard) -> Means:
    """Return the means of a leaderboard, the best run first."""
    return {
        measure.name: {
            run_id: mean
            for run_id in board.ranking()
            if (mean := board.mean(run_id, measure).mean) is not None
        }
        for measure in board.spec.measures
    }


def renamed_measures(given: Sequence[str], board: Leaderboard) -> Mapping[str, str]:
    """Return our measures and what others call them, from texts `OURS=THEIRS`.

    A bare `THEIRS` goes with the measure that ranks. Where nothing is given, each of our measures
    goes with that of its name. Raises InputError for a measure that we do not have, or one twice.
    """
    ours = [measure.name for measure in board.spec.measures]
    if not given:
        return {name: name for name in ours}
    found: dict[str, str] = {}
    for text in given:
        ours_name, _, theirs = text.rpartition("=")
        name = ours_name or board.spec.ranked_by
        if name not in ours:
            raise InputError(f"--truth FILE measure={text}: {unknown('measure', name, ours)}")
        if name in found:
            raise InputError(
                f"--truth FILE measure={text}: {name} is compared with {found[name]} already"
            )
        found[name] = theirs
    return found


def means_of_truth(
    truth: Scores, board: Leaderboard, renamed: Mapping[str, str], strict: bool = False
) -> Means:
    """Return the means of a leaderboard of others, by our names of its measures.

    Raises InputError where it has none of the measures (if `strict`, not all of them), or no run
    that we have.
    """
    path, measures = truth.name, truth.measures
    found = {
        ours: {
            run: value
            for run, value in zip(truth.runs, truth.overall(theirs).tolist(), strict=True)
            if value == value  # not NaN
        }
        for ours, theirs in renamed.items()
        if theirs in measures
    }
    if not found or (strict and len(found) < len(renamed)):
        has = ", ".join(measures) or "nothing"
        lacks = ", ".join(theirs for theirs in renamed.values() if theirs not in measures)
        hint = "" if strict else "; name it with --truth FILE measure=OURS=THEIRS"
        raise InputError(f"{path}: has rows of {has}, none of {lacks}{hint}")
    if not any(set(values) & set(board.scores) for values in found.values()):
        run_id = next(iter(board.scores))
        there = few(truth.runs)
        raise InputError(
            f"{path}: has no row of any of these runs, such as {run_id!r}; it has {there}"
        )
    return found


def win_matrix(battles: Iterable[Sequence[Battle]], runs: Sequence[str]) -> dict[str, Any]:
    """Return the share of points of each of the runs against each other one, and their battles.

    A share is None where two runs never met.
    """
    matrix = WinMatrix.of(BattleTable.of(distinct_battles(battles)))
    place = {run: i for i, run in enumerate(matrix.runs)}
    met = [[(place[a], place[b]) if {a, b} <= place.keys() else None for b in runs] for a in runs]
    shares, counts = matrix.shares.round(3).tolist(), matrix.battles.tolist()
    return {
        "shares": [
            [shares[at[0]][at[1]] if at and counts[at[0]][at[1]] else None for at in row]
            for row in met
        ],
        "counts": [[counts[at[0]][at[1]] if at else 0 for at in row] for row in met],
    }
