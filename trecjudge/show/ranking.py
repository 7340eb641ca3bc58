"""The closing table of a job: runs in order, the measure that ranks, others on request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trecjudge.errors import InputError, unknown
from trecjudge.findings import plural
from trecjudge.results.statistics import RunScore
from trecjudge.scores.summary import RunSummary, Summary
from trecjudge.show.columns import TextColumn, TextTable
from trecjudge.show.folding import fold_equal, mean_cells

MOST_RUNS: Final = 20  # with the lines below it, the table stays on one screen
LEAST_NAME: Final = 12
EVERY, OF_EACH_JUDGE = "all", "ranking"
OPEN = "lowest to highest"
OPEN_LINE = (
    "lowest to highest: the mean if all unjudged items were bad, or good; it is not a"
    " confidence interval"
)


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What of the closing table is shown beside the measure that ranks.

    `measures` are names, `all`, or `ranking` for the one that each judge ranks by. `wide` shows
    whole names and all measures, however long the lines.
    """

    measures: Sequence[str] = ()
    wide: bool = False
    all_runs: bool = False

    @classmethod
    def of(cls, written: Iterable[str], wide: bool = False, all_runs: bool = False) -> TableOptions:
        """Return this from names that were given one by one, or separated by commas."""
        names = (name.strip() for text in written for name in text.split(","))
        return cls(tuple(filter(None, names)), wide, all_runs)

    def check(self, known: Sequence[str]) -> None:
        """Raise InputError for a measure that is none of the job's."""
        for name in self.measures:
            if name not in (EVERY, OF_EACH_JUDGE, *known):
                choices = (*known, EVERY, OF_EACH_JUDGE)
                raise InputError(f"--measures: {unknown('measure', name, choices)}")

    def others(self, summary: Summary) -> list[str]:
        """Return the measures to show beside the one that ranks. Raises InputError."""
        self.check(summary.measures)
        wanted = set(self.measures)
        if OF_EACH_JUDGE in wanted:
            wanted |= set(summary.ranked_by_judge.values())
        every = EVERY in wanted or (self.wide and not self.measures)
        others = [name for name in summary.measures if name != summary.ranked_by]
        return [name for name in others if every or name in wanted]

    def folded(self, summary: Summary) -> tuple[list[str], list[str]]:
        """Return the others that are no repetition, and lines on those that are."""
        names = [summary.ranked_by, *self.others(summary)]
        kept, lines = fold_equal({m: mean_cells(r.means[m] for r in summary.runs) for m in names})
        return kept[1:], lines

    def runs(self, summary: Summary) -> Sequence[RunSummary]:
        """Return the runs to show: the best ones, or all."""
        return summary.runs if self.all_runs else summary.runs[:MOST_RUNS]


ONLY_THE_BEST: Final = TableOptions()


def ranking(summary: Summary, wanted: TableOptions = ONLY_THE_BEST) -> TextTable:
    """Return the runs in order with the measure that ranks them, its interval, and coverage."""
    several = len(summary.judges) > 1
    whose = f" of judge {summary.ranking_judge}" if several and summary.ranking_judge else ""
    who = f"judge{'s' if several else ''} {', '.join(summary.judges)}"
    title = f"{summary.name}: {who}, ranked by {summary.ranked_by}{whose}"
    runs = wanted.runs(summary)
    cells: list[tuple[str, Callable[[RunSummary], str]]] = [
        (summary.ranked_by, lambda run: value_text(run.means[summary.ranked_by])),
        *_standing_cells(summary),
        ("responses", lambda run: f"{run.coverage.responses}/{run.coverage.expected_responses}"),
        ("judged", lambda run: "/".join(map(str, run.coverage.counts(summary.ranking_judge)))),
        *_copied_cells(summary),
        *((name, _mean_of(name)) for name in wanted.folded(summary)[0]),
    ]
    columns = [
        TextColumn("", [_rank(summary, run) for run in runs], is_key=True),
        TextColumn("run", [r.run_id for r in runs], is_left=True, is_key=True, least=LEAST_NAME),
        *(TextColumn(header, [cell(run) for run in runs]) for header, cell in cells),
    ]
    return TextTable(columns, title, wanted.wide)


def ranking_lines(summary: Summary, wanted: TableOptions = ONLY_THE_BEST) -> Iterator[str]:
    """Yield the lines below the table: runs and measures that it does not show, and where."""
    hidden = len(summary.runs) - len(wanted.runs(summary))
    if hidden:
        where = f"--all shows {'it' if hidden == 1 else 'them'} too"
        yield f"… {plural(hidden, 'more run', 'more runs')}{_in_file(summary)}; {where}"
    if any(run.means[summary.ranked_by].is_open for run in summary.runs):
        yield OPEN_LINE
    yield from wanted.folded(summary)[1]
    yield from _lines_on_judges(summary)
    more = len(summary.measures) - 1 - len(wanted.others(summary))
    if more:
        ways = "--measures A,B or all, --wide, --report"
        yield f"… {plural(more, 'more measure')}{_in_file(summary)}; {ways}"


def _lines_on_judges(summary: Summary) -> Iterator[str]:
    """Yield what ranks, what else could, and how much each of several judges judged."""
    if len(summary.judges) == 1:
        return
    others = [
        f"{measure} ({judge})"
        for judge, measure in summary.ranked_by_judge.items()
        if measure != summary.ranked_by
        and any(run.means[measure].mean is not None for run in summary.runs)
    ]
    more = ""
    if next(iter(summary.ranked_by_judge), "") != summary.ranking_judge:
        more = " whose measure most runs have"
    if (others or more) and not summary.ranking_named:
        ways = "; another ranks with --set leaderboard.sort_by=MEASURE: " if others else ""
        which = "the first by name" if summary.judges == sorted(summary.judges) else "the first"
        first = f"ranked by judge {summary.ranking_judge}, {which}{more}"
        yield f"{first}{ways}{', '.join(others)}"
    counts = (f"{judge} {n} of {of}" for judge, (n, of) in summary.judged_by_judge.items())
    own = f"; the table has those of {summary.ranking_judge}" if summary.ranking_judge else ""
    yield f"judged, by judge: {', '.join(counts)}{own}"


def _in_file(summary: Summary) -> str:
    path = summary.files.get("leaderboard")
    return f" in {path}" if path else ""


def _mean_of(name: str) -> Callable[[RunSummary], str]:
    return lambda run: mean_text(run.means[name])


def _rank(summary: Summary, run: RunSummary) -> str:
    # Where unjudged items leave a mean open, its rank is open too.
    is_open = run.means[summary.ranked_by].is_open
    return "?" if is_open else rank_text(run.standings[summary.ranked_by])


def rank_text(score: RunScore) -> str:
    """Return the rank of a run: `2=` for all that are second together, `?` where it has none."""
    if score.rank is None:
        return "?"
    return f"{score.rank}=" if score.ties else str(score.rank)


def _standing_cells(summary: Summary) -> Iterator[tuple[str, Callable[[RunSummary], str]]]:
    """Yield further columns on the ranking measure: bounds, interval, groups, labels."""
    by = summary.ranked_by
    known = [run.standings[by] for run in summary.runs]
    if any(run.means[by].is_open for run in summary.runs):
        yield OPEN, lambda run: bounds_text(run.means[by])
    if any(standing.low is not None for standing in known):
        yield "95 %", lambda run: interval_text(run.standings[by].low, run.standings[by].high)
    if len(known) > 1 and any(standing.groups for standing in known):
        yield "group", lambda run: shown_letters(run.standings[by].groups)
    if any(standing.human for standing in known):
        yield "with labels", lambda run: _with_labels(run.standings[by])
        yield "95 % with labels", lambda run: _interval_with_labels(run.standings[by])


def _copied_cells(summary: Summary) -> Iterator[tuple[str, Callable[[RunSummary], str]]]:
    if any(run.coverage.copied for run in summary.runs):
        yield "copied", lambda run: share_text(run.coverage.copied_share)


def share_text(share: float | None) -> str:
    """Return `51 %`, `n/a` where the share is not known."""
    return "n/a" if share is None else f"{share * 100:.0f} %"


def _with_labels(score: RunScore) -> str:
    return f"{score.human.mean:.3f}" if score.human else "n/a"


def _interval_with_labels(score: RunScore) -> str:
    human = score.human
    return interval_text(human.low, human.high) if human else "n/a"


def shown_letters(letters: Sequence[str]) -> str:
    """Return letters as one word: `ab`; a long row of them as `a-h`."""
    return "".join(letters) if len(letters) <= 3 else f"{letters[0]}-{letters[-1]}"


def interval_text(low: float | None, high: float | None) -> str:
    """Return `0.41 to 0.60`, `n/a` where there is no interval."""
    return "n/a" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def value_text(mean: RunScore) -> str:
    """Return `0.512`, `n/a` where there is none."""
    return "n/a" if mean.mean is None else f"{mean.mean:.3f}"


def bounds_text(mean: RunScore) -> str:
    """Return `0.40-0.60` where unjudged items leave a mean open, nothing where all is judged."""
    if not mean.is_open:
        return ""
    lowest, highest = (0.0 if bound is None else bound for bound in (mean.lowest, mean.highest))
    return f"{lowest:.2f}-{highest:.2f}"


def mean_text(mean: RunScore) -> str:
    """Return `0.512`, with bounds `0.512 (0.40-0.60)` where unjudged items leave it open."""
    bounds = bounds_text(mean)
    return f"{value_text(mean)} ({bounds})" if bounds else value_text(mean)
