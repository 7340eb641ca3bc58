"""The closing summary of a job as data: ranking, coverage, findings, costs and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from trecjudge.findings import plural
from trecjudge.measures import MeasureSpec, are_compared
from trecjudge.results.statistics import RunScore
from trecjudge.scores.leaderboard import Coverage, Leaderboard, judged_by_judge

if TYPE_CHECKING:
    from trecjudge.scores.reliability import Reliability

OPEN = "open"
"""In place of a band: unjudged items decide it."""
MOST_NAMED = 3
INCOMPLETE, REJECTED = 3, 4
"""Exit statuses of a job that left something unjudged, and of one whose gate rejects a response."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run by each measure, and how much of it could be judged.

    `means` have all their digits, and bounds; `standings` are rounded, and ranked.
    """

    run_id: str
    means: Mapping[str, RunScore]
    coverage: Coverage
    standings: Mapping[str, RunScore]
    spreads: Mapping[str, float] = field(default_factory=dict)
    """How far samples of one topic differ, by measure; empty where no topic has several."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        means = {
            name: {"value": one.mean, "lowest": one.lowest, "highest": one.highest}
            for name, one in self.means.items()
        }
        return {
            "run_id": self.run_id,
            "means": means,
            "coverage": asdict(self.coverage),
            "standings": {name: one.as_dict() for name, one in self.standings.items()},
            "spreads": self.spreads,
        }


@dataclass(slots=True)
class Summary:
    """The closing table of a job. `lost` counts findings by which something was not judged."""

    name: str
    judge: str
    ranked_by: str
    measures: list[str]
    runs: list[RunSummary]
    topics: int
    ranked_by_judge: Mapping[str, str] = field(default_factory=dict)
    """The measure that each judge ranks by; the first judge's is `ranked_by` as a rule."""
    remarks: list[str] = field(default_factory=list)
    """What whoever reads the values must know of the measures."""
    ranks_for: str = ""
    """The measure of labels that would rank, had not words alone decided; empty where it does."""
    ranking_named: bool = False
    """Whether the user named the measure that ranks."""
    ranking_judge: str = ""
    """The judge whose measure ranks; empty where that measure sees the judgments of all."""
    files: dict[str, str] = field(default_factory=dict)
    findings: dict[str, int] = field(default_factory=dict)
    findings_by_run: dict[str, dict[str, int]] = field(default_factory=dict)
    inventory: str = ""
    """What marks of citations the runs have in their texts."""
    lost: int = 0
    labels: dict[str, Any] | None = None
    """Labels of people: how many were given, are of judged items, are unknown; their effect."""
    failures_unknown: list[str] = field(default_factory=list)
    """Judges that hide what failed: a 0 of theirs may be a failure."""
    voters: list[dict[str, Any]] = field(default_factory=list)
    """How the voters of each judge agree; empty without voters."""
    gate: dict[str, int] = field(default_factory=dict)
    """Number of responses by the status that the gate gives; empty without a gate."""
    audit: dict[str, Any] = field(default_factory=dict)
    """How far the judge agreed with people before the job; empty without an audit."""
    bug: str = ""
    """Why judging stopped before its end: a bug in the code of a judge."""
    calls: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    without_values: list[str] = field(default_factory=list)
    """Optional measures that are no columns, since no run has a value."""
    reliability: list[dict[str, Any]] = field(default_factory=list)
    """The confidence that runs state, held against the verdicts: see `Reliability`."""

    @property
    def judges(self) -> list[str]:
        """The names of the judges, in their order."""
        return self.judge.split(",")

    @property
    def judged_by_judge(self) -> dict[str, tuple[int, int]]:
        """How many items each judge judged, and how many it was to judge."""
        return judged_by_judge((run.coverage for run in self.runs), self.judges)

    @property
    def unjudged(self) -> int:
        """Items that the judge could not decide."""
        return sum(run.coverage.expected - run.coverage.judged for run in self.runs)

    @property
    def rejected(self) -> int:
        """Responses that the gate rejects."""
        return self.gate.get("REJECTED", 0)

    @property
    def failures(self) -> dict[str, int]:
        """Unjudged items by kind of failure."""
        total: dict[str, int] = {}
        for run in self.runs:
            for kind, count in run.coverage.failures.items():
                total[kind] = total.get(kind, 0) + count
        return dict(sorted(total.items()))

    @property
    def examples(self) -> dict[str, str]:
        """The first item that failed in each way, and why."""
        runs = reversed(self.runs)  # the best run's example is set last, and stays
        return {kind: text for run in runs for kind, text in run.coverage.examples.items()}

    @property
    def exit_status(self) -> int:
        """0 if all was judged and passed, 4 if the gate rejects a response, else 3.

        A rejected response stays rejected whatever the unjudged items turn out to be.
        """
        if self.rejected:
            return REJECTED
        return INCOMPLETE if self.unjudged or self.lost else 0

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        own = asdict(replace(self, runs=[])) | {"runs": [run.as_dict() for run in self.runs]}
        derived = {
            "unjudged": self.unjudged,
            "judged_by_judge": self.judged_by_judge,
            "failures": self.failures,
        }
        return own | derived | {"exit_status": self.exit_status}


def summarise(
    name: str, judge: str, board: Leaderboard, standings: Mapping[str, Sequence[RunScore]]
) -> Summary:
    """Return the summary of a finished leaderboard, the best run first."""
    measures = board.spec.measures
    by_run: dict[str, dict[str, RunScore]] = {run_id: {} for run_id in board.scores}
    for measure, column in standings.items():
        for standing in column:
            by_run[standing.run_id][measure] = standing
    runs = [
        RunSummary(
            run_id,
            {m.name: board.mean(run_id, m) for m in measures},
            board.coverage[run_id],
            by_run[run_id],
            {m.name: s for m in measures if (s := board.spreads.get((run_id, m.name))) is not None},
        )
        for run_id in board.ranking()
    ]
    names = [measure.name for measure in measures]
    ranking = board.ranking_measure
    summary = Summary(name, judge, ranking.name, names, runs, len(board.expected))
    summary.ranking_judge = ranking.judge
    summary.ranks_for = board.ranks_for
    summary.without_values = [name for name in board.computed if name not in names]
    stated = stated_confidence(board)
    summary.reliability = [asdict(found) for found in stated]
    summary.remarks = list(dict.fromkeys([*_remarks(board), *(found.line for found in stated)]))
    return summary


def _remarks(board: Leaderboard) -> Iterator[str]:
    runs, topics = len(board.scores), len(board.expected)
    if not are_compared(runs, topics):
        yield f"{runs:,} runs on {topics:,} topics are too many to be tested against one another"
    wanted = board.passed_over or board.ranking_measure
    why = f": {wanted.undefined}" if wanted.undefined else ""
    which = "most runs" if board.has_value(wanted.name) else "any run"
    if board.passed_over is not None:
        yield f"ranked by {board.spec.ranked_by}: {wanted.name} has no value for {which}{why}"
    elif board.is_undefined(wanted.name):
        yield f"{wanted.name} has no value for any run{why}"
    for measure in board.spec.measures:
        if measure.remark and board.has_value(measure.name):
            yield measure.remark
    yield from board.remarks
    yield from claim_remarks(board)


def claim_remarks(board: Leaderboard) -> Iterator[str]:
    """Yield which runs have which bands, and what the claims are about that no document states."""
    for measure in board.spec.measures:
        if measure.bands and board.has_value(measure.name):
            yield _bands(board, measure)
    yield from _not_stated(board)


def stated_confidence(board: Leaderboard) -> list[Reliability]:
    """Return the reliability of each run that states confidence, the best run first."""
    if not any(run.confidence for run in board.coverage.values()):
        return []
    # Imported late, since it imports numpy: most runs state none, and their jobs start faster.
    from trecjudge.scores.reliability import reliability

    return list(reliability(board))


def _bands(board: Leaderboard, measure: MeasureSpec) -> str:
    """Return which runs have which band of a measure; one that unjudged items leave open has none.

    A run without a mean is not named.
    """
    runs: dict[str, list[str]] = {name: [] for name in (*measure.bands, OPEN)}
    for run_id in board.ranking():
        found = board.mean(run_id, measure)
        if found.mean is not None:
            ends = {measure.band(end) for end in (found.lowest, found.highest) if end is not None}
            runs[ends.pop() if len(ends) == 1 else OPEN].append(run_id)
    counts = (
        f"{len(own)} {name} ({', '.join(own[:MOST_NAMED])}{', …' if len(own) > MOST_NAMED else ''})"
        for name, own in runs.items()
        if own
    )
    bounds = (f"{name} from {least:g}" for name, least in measure.bands.items() if least)
    return f"{measure.name}: {', '.join(counts)}; {', '.join(bounds)}, else {[*measure.bands][-1]}"


def _not_stated(board: Leaderboard) -> Iterator[str]:
    """Yield for each judge what the claims are about that no document states, the most first."""
    every: dict[str, Counter[str]] = {}
    for coverage in board.coverage.values():
        for judge, kinds in coverage.not_stated.items():
            every.setdefault(judge, Counter()).update(kinds)
    for judge, found in every.items():
        counts = ", ".join(f"{count} {kind}" for kind, count in found.most_common())
        whose = f" ({judge})" if len(every) > 1 else ""
        yield f"{plural(found.total(), 'claim')} that no document states{whose}: {counts}"


def _by_judge(summary: Summary) -> dict[str, Any]:
    if len(summary.judges) == 1:
        return {}
    counts = summary.judged_by_judge.items()
    return {"items_by_judge": {j: {"judged": n, "expected": of} for j, (n, of) in counts}}


def counts_of(summary: Summary) -> dict[str, Any]:
    """Return the counts of a job, for the log's last event and the config."""
    runs = [run.coverage for run in summary.runs]
    hidden = {"failures_unknown": summary.failures_unknown} if summary.failures_unknown else {}
    voters = {"voters": summary.voters} if summary.voters else {}
    return (
        hidden
        | voters
        | {
            "ranked_by": summary.ranked_by,
            "runs": len(runs),
            "topics": summary.topics,
            "responses": sum(run.responses for run in runs),
            "responses_expected": sum(run.expected_responses for run in runs),
            "items_judged": sum(run.judged for run in runs),
            "items_expected": sum(run.expected for run in runs),
            **_by_judge(summary),
            "failures": summary.failures,
            "findings": summary.findings,
            "model": summary.calls,
            "seconds": summary.seconds,
        }
    )
