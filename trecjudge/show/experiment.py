"""An experiment for a person: a row for each variant, with its difference from the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trecjudge.findings import brief_line, plural
from trecjudge.job.experiment.running import ExperimentReport, VariantRun
from trecjudge.scores.summary import RunSummary
from trecjudge.show.check import cause_lines, place_lines, shared_rules
from trecjudge.show.comparison import SIGNIFICANT, difference_lines
from trecjudge.show.formats import interval, number, probability
from trecjudge.show.tables import TextTable, table
from trecjudge.stats.comparison import Difference

COLUMNS = ("variant", "answered", "words", "check", "mean", "difference", "95 %", "p (Holm)")
SHOWN = ("leaderboard", "judgments", "report")
"""The files that are named; the others lie beside them."""


def variant_tables(found: ExperimentReport) -> Iterator[TextTable]:
    """Yield a table for each measure that a judge ranks by: a row a variant, as in the file."""
    summary = found.summary
    runs = {run.run_id: run for run in summary.runs} if summary else {}
    ranking = summary.ranked_by_judge.values() if summary else ()
    own = [summary.ranked_by] if summary else [""]
    differences = found.compared.differences if found.compared else ()
    for measure in dict.fromkeys(ranking or own):
        of_measure = {_run_of(d): d for d in differences if d.measure == measure}
        rows = (
            _row(run, measure, runs.get(run.variant), of_measure.get(run.variant))
            for run in found.runs
        )
        yield TextTable(table(COLUMNS, rows).columns, measure)


def _row(
    run: VariantRun, measure: str, judged: RunSummary | None, own: Difference | None
) -> tuple[str, ...]:
    mean = judged.means.get(measure) if judged else None
    counts = run.counts
    return (
        run.variant,
        str(counts.get("answered", "-")),
        str(counts.get("words", "-")),
        "no run" if run.failure else run.standing or "-",
        number(None if mean is None else mean.mean),
        "" if own is None else f"{own.difference:+.4f}",
        "" if own is None else interval(own.interval),
        "" if own is None else probability(own.holm),
    )


def _run_of(difference: Difference) -> str:
    return difference.after.partition(": ")[2]


def closing_lines(found: ExperimentReport) -> Iterator[str]:
    """Yield what went wrong, what can be told apart, and where everything is."""
    for run in found.runs:
        if run.failure:
            yield f"no run: {brief_line(run.variant)}: {brief_line(run.failure)}"
    if found.checked is not None and found.checked.is_refused:
        shared = shared_rules(found.checked)
        yield from cause_lines(found.checked, shared)
        yield from place_lines(found.checked, shared, show_all=False)
    if found.note:
        yield f"note: {found.note}"
    if found.compared is not None:
        yield from difference_lines(found.compared.differences)
        yield from _too_few(found.compared.differences)
    reused = [run.variant for run in found.runs if run.reused]
    if reused:
        yield f"not made again: {', '.join(map(brief_line, reused))}"
    if found.summary is not None:
        files = found.summary.files
        yield from (f"{kind}: {files[kind]}" for kind in SHOWN if kind in files)


def _too_few(differences: Sequence[Difference]) -> Iterator[str]:
    """Yield a line where no difference over so few topics could be significant."""
    topics = max((d.topics for d in differences), default=0)
    pairs = len({d.after for d in differences})
    # Of n topics the smallest p of a sign-flip test is 2 / 2^n; Holm multiplies it by the pairs.
    if topics and pairs * 2.0 ** (1 - topics) >= SIGNIFICANT:
        yield f"note: {plural(topics, 'topic')}: too few for any difference to be significant"
