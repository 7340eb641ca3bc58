"""Two leaderboards brought together: the runs, topics and measures that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding, plural
from trecjudge.records import Place
from trecjudge.stats.correlation import DEFAULT
from trecjudge.stats.scores import Scores

OneSidedRuns = Literal["error", "common", "zero"]
AllRows = Literal["error", "checked", "given", "recomputed"]
FEWEST_RUNS = 3
"""Two runs are always in the same order or in the opposite one: their correlation is 1 or -1."""
MOST_NAMED = 8
"""Names in a message; of more, the first ones."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for runs, topics and `all` rows that do not match.

    `on_missing`: a run on one side only is an error, left out (`common`), or has 0 where the
    predicted side lacks it (`zero`). `all_rows`: means are the `all` rows (`given`), also but for
    measures of which topics contradict some (`checked`; `error` where such rows were refused when
    they were read), or `recomputed` over the topics of both sides; of a side without topics they
    are the `all` rows in any case.
    """

    on_missing: OneSidedRuns = "error"
    all_rows: AllRows = "checked"
    correlations: Sequence[str] = DEFAULT
    truth_measures: Sequence[str] = ()
    measures: Sequence[str] = ()
    teams: Mapping[str, str] | None = None
    """The team of each run, where the order is looked at by team."""


def same_runs(
    truth: Scores, predicted: Scores, rules: Rules, report: OnFinding
) -> tuple[Scores, Scores]:
    """Return both sides over the same runs; those of one side only are named."""
    here, there = set(truth.runs), set(predicted.runs)
    common = [run for run in truth.runs if run in there]
    lacking = [run for run in truth.runs if run not in there]
    strange = [run for run in predicted.runs if run not in here]
    for where, runs in ((predicted.name, lacking), (truth.name, strange)):
        if not runs:
            continue
        message = f"has no scores of {plural(len(runs), 'run')}: {few(runs)}"
        if rules.on_missing == "error":
            raise InputError(
                f"{where}: {message}; --rows missing=common leaves them out, zero gives a run that"
                " the judge lacks 0"
            )
        report(Finding("run_one_sided", Place(where), message, few(runs)))
    # Only the predicted side: what the truth does not know cannot be right or wrong.
    if rules.on_missing == "zero":
        predicted = _with_zeros(predicted, lacking)
        common = list(truth.runs)
    if len(common) < FEWEST_RUNS:  # after zeros: they add runs
        raise InputError(
            f"{predicted.name}: {len(common)} runs in common with {truth.name}; a correlation"
            f" needs {FEWEST_RUNS} (here {few(predicted.runs)}; there {few(truth.runs)})"
        )
    return truth.only(common), predicted.only(common)


def _with_zeros(scores: Scores, runs: Sequence[str]) -> Scores:
    zeros = np.zeros((len(runs), len(scores.topics)))
    return replace(
        scores,
        runs=[*scores.runs, *runs],
        values={m: np.concatenate([v, zeros]) for m, v in scores.values.items()},
        given={m: np.concatenate([v, np.zeros(len(runs))]) for m, v in scores.given.items()},
    )


def same_topics(truth: Scores, predicted: Scores, rules: Rules, report: OnFinding) -> list[str]:
    """Return the topics of both sides; those of one side only are named."""
    common = sorted({*truth.topics} & {*predicted.topics})
    report_topics(truth, predicted, report)
    if rules.all_rows == "recomputed" and not common and truth.topics and predicted.topics:
        raise InputError(
            f"{predicted.name}: no topic in common with {truth.name}; --rows all=given takes the"
            " `all` rows as they are"
        )
    return common


def choose_all_rows(scores: Scores, rules: Rules, topics: Sequence[str]) -> Scores:
    """Return the scores with the `all` rows that count: `topics` are those of both sides."""
    if rules.all_rows == "given":
        return scores
    if rules.all_rows in ("checked", "error"):
        return scores.without_all(scores.disputed)
    return scores.only(scores.runs, topics or scores.topics).without_all(scores.measures)


def report_topics(one: Scores, other: Scores, report: OnFinding) -> None:
    """Name the topics of one side only; a side that has only `all` rows has no topics to name."""
    if not (one.topics and other.topics):
        return
    for here, there in ((one, other), (other, one)):
        lacking = sorted({*here.topics} - {*there.topics})
        if lacking:
            message = f"has no scores on {len(lacking)} topics of {here.name}: {few(lacking)}"
            report(Finding("topic_one_sided", Place(there.name), message, few(lacking)))


def report_unjudged(scores: Scores, measures: Sequence[str], report: OnFinding) -> None:
    """Name the runs of which items are unjudged, by measure."""
    for measure in measures:
        found = [(run, scores.unjudged.get((run, measure))) for run in scores.runs]
        lacking = [
            f"{run!r} {gaps.with_bounds}"
            for run, gaps in found
            if gaps is not None and gaps.is_open
        ]
        if lacking:
            more = ", …" if len(lacking) > MOST_NAMED else ""
            runs = ", ".join(lacking[:MOST_NAMED])
            message = f"{measure}: items of {len(lacking)} runs are unjudged: {runs}{more}"
            report(Finding("items_unjudged", Place(scores.name), message))


def defined_measures(
    scores: Scores, measures: Sequence[str], rules: Rules, report: OnFinding
) -> list[str]:
    """Return the measures that all runs have, or enough of them; those left out are named.

    Raises InputError where none is left.
    """
    least = len(scores.runs) if rules.on_missing == "error" else FEWEST_RUNS
    counts = scores.runs_with_value
    known = {measure: counts[measure] for measure in measures}
    if lacking := {m: len(scores.runs) - n for m, n in known.items() if n < least}:
        named = ", ".join(f"{measure} ({n})" for measure, n in lacking.items())
        message = f"measures that runs lack (how many of {len(scores.runs)}): {named}"
        if any(known[measure] >= FEWEST_RUNS for measure in lacking):
            message += "; --rows missing=common leaves out the runs instead"
        if len(lacking) == len(known):
            raise InputError(f"{scores.name}: no measure is left; {message}")
        report(Finding("measure_undefined", Place(scores.name), message, few(list(lacking))))
    return [measure for measure in measures if measure not in lacking]


def few(names: Sequence[str]) -> str:
    """Return names for a message, the first of them where there are many."""
    more = ", …" if len(names) > MOST_NAMED else ""
    return ", ".join(map(repr, names[:MOST_NAMED])) + more


def rows_of_both(
    truth: Scores,
    predicted: Scores,
    truth_measure: str,
    measure: str,
    report: OnFinding,
) -> tuple[int, ...]:
    """Return which runs have both measures, none where they are too few; others are named."""
    both = truth.overall(truth_measure) + predicted.overall(measure)
    rows = tuple(np.flatnonzero(~np.isnan(both)).tolist())
    lacking = [truth.runs[row] for row in np.flatnonzero(np.isnan(both)).tolist()]
    if not lacking:
        return rows
    message = (
        f"{len(lacking)} runs have no {measure}, or no {truth_measure} in {truth.name}:"
        f" {few(lacking)}"
    )
    if len(rows) < FEWEST_RUNS:
        report(Finding("measure_undefined", Place(predicted.name), message, few(lacking)))
        return ()
    report(Finding("run_one_sided", Place(predicted.name), message, few(lacking)))
    return rows


def refusing(on_finding: OnFinding, all_rows: str) -> OnFinding:
    """Return a callback that raises InputError for contradicted `all` rows if they are errors."""

    def check(finding: Finding) -> None:
        if finding.kind == "all_row_differs" and all_rows == "error":
            choices = "--rows all=given takes the row, checked or recomputed what its topics give"
            raise InputError(f"{finding}; {choices}")
        on_finding(finding)

    return check
