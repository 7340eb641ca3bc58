"""Leaderboards compared: differences by measure, and items that two jobs judged differently."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding
from trecjudge.results.jobs import JobFiles
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.stats import comparison
from trecjudge.stats.comparison import Difference, report_unmatched
from trecjudge.stats.flips import VerdictChanges, verdict_changes
from trecjudge.stats.scores import Scores


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison: a difference for each pair of runs and measure.

    `verdicts` are those of two jobs that judged the same runs, None for anything else. `note` is
    why there are no differences, where only the verdicts can be compared.
    """

    differences: tuple[Difference, ...]
    verdicts: VerdictChanges | None
    leaderboards: tuple[Scores, ...]
    note: str = ""

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
) -> Comparison:
    """Return how systems, or two judgments of one, differ by each measure, paired over topics.

    Raises InputError where nothing can be compared.
    """
    tables = [table.without_all(table.disputed) for table in tables]
    pairs = comparison.pairs_of(tables, against, runs)
    flipped, note = _flips(jobs), ""
    try:
        found = comparison.compare(pairs, measures)
    except InputError as error:
        if flipped is None or measures:
            raise
        # Two judges may have no measure in common; their verdicts can still be compared.
        found, note = [], str(error)
    report_unmatched(tables, pairs, found, report, runs, measures)
    return Comparison(tuple(found), flipped, tuple(tables), note)


def _flips(jobs: Sequence[JobFiles]) -> VerdictChanges | None:
    """Return the verdicts of two jobs that judged the same runs; None for anything else."""
    if len(jobs) != 2:  # a flip has a before and an after
        return None
    before, after = (job.judgments for job in jobs)
    if before is None or after is None:
        return None
    found = verdict_changes(JudgmentsReader(before), JudgmentsReader(after))
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
