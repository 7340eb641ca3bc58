"""Leaderboards and judgments of jobs as the statistics take them, and compared."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding, plural, visible_line
from trecjudge.measures import UNJUDGED
from trecjudge.results.jobs import JobFiles, judged_job, outcome
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.leaderboards.reading import read_all
from trecjudge.results.statistics import RunScore, Unjudged, read_statistics
from trecjudge.results.trec import LeaderboardRow, companion
from trecjudge.stats import comparison
from trecjudge.stats.alignment import report_unjudged
from trecjudge.stats.comparison import Correction, Difference, report_unmatched
from trecjudge.stats.flips import VerdictChanges, verdict_changes
from trecjudge.stats.release_gate import RunScores
from trecjudge.stats.scores import Duplicates, Scores, scores_of


# Leaderboards, statistics and judgments of jobs, as the statistics take them.
def scores_at(
    found: JobFiles,
    report: OnFinding,
    format_name: str = "auto",
    duplicates: Duplicates = "first",
) -> Scores:
    """Return the scores of one leaderboard, with its statistics where it has some.

    Statistics of another job are reported, and not used. Raises InputError if it has no leaderboard
    file.
    """
    files = _files(found)
    with _without_garbage_collection():
        rows = read_all(files, report, format_name)
        statistics = read_statistics(found.statistics, report) if found.statistics else ()
        known = {(one.run_id, one.measure): one for one in statistics}
        scores = scores_of(str(found.place), rows, report, duplicates, known)
        return replace(scores, statistics=str(found.statistics) if scores.known else "")


def truth_at(path: Path, report: OnFinding, format_name: str = "auto") -> Scores:
    """Return the scores of a truth; `all` rows that contradict their topics are recomputed."""
    scores = scores_at(outcome(path), report, format_name)
    report_unjudged(scores, scores.measures, report)
    return scores.without_all(scores.disputed)


def _files(found: JobFiles) -> Sequence[Path]:
    files = found.leaderboard or ([found.statistics] if found.statistics else [])
    if not files:
        raise InputError(f"{found.judgments}: no leaderboard beside it; `job rescore` writes one")
    return files


def rows_with_companions(
    found: JobFiles, scores: Scores, report: OnFinding, format_name: str = "auto"
) -> Iterator[LeaderboardRow]:
    """Yield the rows of a leaderboard as they are, and companion rows that only statistics know."""
    rows = [row for _, row in read_all(_files(found), report, format_name)]
    with_own = {(row.run_id, row.measure) for row in rows if row.topic_id is None}
    lacking = {
        (run_id, measure): companion(LeaderboardRow(run_id, None, measure, 0.0), gaps.items)
        for (run_id, measure), gaps in scores.unjudged.items()
        if gaps.items and (run_id, f"{measure}{UNJUDGED}") not in with_own
    }
    for row in rows:
        yield row
        if row.topic_id is None and (row.run_id, row.measure) in lacking:
            yield lacking.pop((row.run_id, row.measure))
    yield from lacking.values()


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause garbage collection while many small objects are made: it takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def unranked_scores(scores: Scores, lower_is_better: Collection[str] = ()) -> Iterator[RunScore]:
    """Yield each run by each measure, with what is known of unjudged items.

    `lower_is_better` names measures that are so, whatever the statistics have.
    """
    for measure in scores.measures:
        for run_id, mean in zip(scores.runs, scores.overall(measure).tolist(), strict=True):
            known = scores.known.get((run_id, measure))
            gaps = scores.unjudged.get((run_id, measure), Unjudged(0))
            expected = gaps.items if gaps.expected is None else gaps.expected
            yield RunScore(
                run_id,
                measure,
                None if np.isnan(mean) else mean,
                judged=expected - gaps.items,
                expected=expected,
                lowest=gaps.lowest,
                highest=gaps.highest,
                lower_is_better=measure in lower_is_better or bool(known and known.lower_is_better),
                only_unjudged=gaps.expected is None,
            )


def bounded_means(scores: Scores, lower_is_better: Collection[str] = ()) -> RunScores:
    """Return the same by run and measure; where nothing is unjudged, the bounds are the means."""
    return {
        (one.run_id, one.measure): replace(one, lowest=one.mean, highest=one.mean)
        if one.only_unjudged and not one.expected
        else one
        for one in unranked_scores(scores, lower_is_better)
    }


def judgments_at(path: Path) -> JudgmentsReader:
    """Return a reader of the judgments of a job. Raises InputError if there are none."""
    return JudgmentsReader(judged_job(path).judgments)


# Leaderboards compared: differences by measure, and items that two jobs judged differently.
@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The result of a comparison: a difference for each pair of runs and measure.

    `verdicts` are those of two jobs that judged the same runs, None for anything else. `note` is
    why there are no differences, where only the verdicts can be compared.
    """

    differences: tuple[Difference, ...]
    verdicts: VerdictChanges | None
    leaderboards: tuple[Scores, ...]
    note: str = ""

    def __repr__(self) -> str:
        whose = ", ".join(dict.fromkeys(table.name for table in self.leaderboards))
        found = self.verdicts
        flips = (
            f", {len(found.flips)} of {plural(found.shared, 'verdict')} flipped" if found else ""
        )
        count = plural(len(self.differences), "difference")
        return visible_line(f"<Comparison {whose}: {count}{flips}>")

    def as_dict(self) -> dict[str, Any]:
        """Return differences and verdicts as JSON values."""
        found = [asdict(one) | {"difference": one.difference} for one in self.differences]
        changes = None if self.verdicts is None else _verdicts_dict(self.verdicts)
        return {"differences": found, "verdicts": changes}


def compare(
    tables: Sequence[Scores],
    jobs: Sequence[JobFiles],
    report: OnFinding,
    measures: Collection[str] = (),
    runs: Collection[str] = (),
    against: str = "",
    correction: Correction = "max-t",
) -> Comparison:
    """Return how systems, or two judgments of one, differ by each measure, paired over topics.

    `correction` is that of p for several comparisons by a measure. Raises InputError where nothing
    can be compared.
    """
    tables = [table.without_all(table.disputed) for table in tables]
    pairs = comparison.pairs_of(tables, against, runs)
    # A flip has a before and an after.
    flipped, note = flips_between(*jobs) if len(jobs) == 2 else None, ""
    try:
        found = comparison.compare(pairs, measures, correction)
    except InputError as error:
        if flipped is None or measures:
            raise
        # Two judges may have no measure in common; their verdicts can still be compared.
        found, note = [], str(error)
    report_unmatched(tables, pairs, found, report, runs, measures)
    return Comparison(tuple(found), flipped, tuple(tables), note)


def flips_between(before: JobFiles, after: JobFiles) -> VerdictChanges | None:
    """Return the verdicts of two jobs that differ; None where they judged no item in common."""
    if before.judgments is None or after.judgments is None:
        return None
    found = verdict_changes(JudgmentsReader(before.judgments), JudgmentsReader(after.judgments))
    return found if found.shared else None


def _verdicts_dict(found: VerdictChanges) -> dict[str, Any]:
    return {
        "shared": found.shared,
        "only_before": found.only_before,
        "only_after": found.only_after,
        "counts": [
            {"before": before, "after": after, "items": items}
            for (before, after), items in sorted(found.counts.items())
        ],
        "flips": found.flips,
    }
