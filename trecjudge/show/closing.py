"""The end of a job in the terminal: the closing table, the lines below it, plans, lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.markup import escape
from rich.table import Table

from trecjudge.errors import InputError, unknown
from trecjudge.findings import KINDS, PREFIX, brief_line, plural, visible
from trecjudge.records.signs import SIGN_KINDS
from trecjudge.results.statistics import Corrected
from trecjudge.scores.leaderboard import too_few_topics
from trecjudge.show.formats import (
    BOUND_DIGITS,
    MEAN_DIGITS,
    bounds_text,
    interval,
    language_cell,
    languages_text,
    letters,
    mean_text,
    number,
    question_lines,
    rank_bounds,
    rank_text,
    share_text,
    voter_lines,
    withheld_text,
)
from trecjudge.show.tables import TextColumn, TextTable, fold_equal, mean_cells

if TYPE_CHECKING:
    from trecjudge.job.shards.merging import ShardSummary
    from trecjudge.results.outputs import Outputs
    from trecjudge.scores.summary import RunSummary, Summary

# The closing table of a job: runs in order, the measure that ranks, others on request.
MOST_RUNS: Final = 20  # with the lines below it, the table stays on one screen
LEAST_NAME: Final = 12
EVERY, OF_EACH_JUDGE = "all", "ranking"
OPEN = "lowest to highest"
RANK = "rank 95 %"
SPARE: Final[Mapping[str, Literal["first", "last"]]] = {
    "responses": "first",
    "copied": "first",
    RANK: "last",
}
"""Columns that give way in a table that is too wide: before names are shortened, or after."""
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
                raise InputError(f"--measure: {unknown('measure', name, choices)}")

    def others(self, summary: Summary) -> list[str]:
        """Return the measures to show beside the one that ranks. Raises InputError."""
        self.check([*summary.measures, *summary.without_values])
        wanted = {summary.ranks_for, *self.measures}
        if OF_EACH_JUDGE in wanted:
            wanted |= set(summary.ranked_by_judge.values())
        every = EVERY in wanted or (self.wide and not self.measures)
        others = [name for name in summary.measures if name != summary.ranked_by]
        return [name for name in others if every or name in wanted]

    def fold_repeated(self, summary: Summary) -> tuple[list[str], list[str]]:
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
    runs, every = wanted.runs(summary), [run.run_id for run in summary.runs]
    others = wanted.fold_repeated(summary)[0]
    others.sort(key=lambda name: name != summary.ranks_for)
    beside = int(summary.ranks_for in others)
    cells: list[tuple[str, Callable[[RunSummary], str]]] = [
        (summary.ranked_by, lambda run: number(run.means[summary.ranked_by].mean, MEAN_DIGITS)),
        *((name, _mean_of(name)) for name in others[:beside]),
        *_standing_cells(summary),
        ("responses", lambda run: f"{run.coverage.responses}/{run.coverage.expected_responses}"),
        ("judged", lambda run: "/".join(map(str, run.coverage.counts(summary.ranking_judge)))),
        *[("copied", _share_of("copied"))][
            : any(run.coverage.share("copied") for run in summary.runs)
        ],
        *[("language", _languages)][: any(run.coverage.is_foreign for run in summary.runs)],
        *((name, _mean_of(name)) for name in others[beside:]),
    ]
    columns = [
        TextColumn("", [_rank(summary, run) for run in runs], is_key=True),
        TextColumn("run", [r.run_id for r in runs], True, True, LEAST_NAME, among=every),
        *(
            TextColumn(header, [cell(run) for run in runs], spare=SPARE.get(header, ""))
            for header, cell in cells
        ),
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
    yield from wanted.fold_repeated(summary)[1]
    if summary.ranks_for:
        yield f"ranked by expected weights, since no model decided; {summary.ranks_for} has labels"
    yield from _lines_on_judges(summary)
    more = len(summary.measures) - 1 - len(wanted.others(summary))
    if more:
        ways = "--measure A,B or all, --wide, --report"
        yield f"… {plural(more, 'more measure')}{_in_file(summary)}; {ways}"


def _lines_on_judges(summary: Summary) -> Iterator[str]:
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


def _share_of(sign: str) -> Callable[[RunSummary], str]:
    return lambda run: share_text(run.coverage.share(sign))


def _languages(run: RunSummary) -> str:
    return language_cell(run.coverage.languages)


def _standing_cells(summary: Summary) -> Iterator[tuple[str, Callable[[RunSummary], str]]]:
    """Yield further columns on the ranking measure: bounds, interval, groups, labels."""
    by = summary.ranked_by
    known = [run.standings[by] for run in summary.runs]

    def people(run: RunSummary) -> Corrected:
        return run.standings[by].human or Corrected()

    if any(run.means[by].is_open for run in summary.runs):
        yield OPEN, lambda run: bounds_text(run.means[by])
    if any(standing.low is not None for standing in known):
        yield (
            "95 %",
            lambda run: interval((run.standings[by].low, run.standings[by].high), BOUND_DIGITS),
        )
    if any(standing.rank_low is not None for standing in known):
        yield RANK, lambda run: rank_bounds(run.standings[by])
    if len(known) > 1 and any(standing.groups for standing in known):
        yield "group", lambda run: letters(run.standings[by].groups)
    if any(standing.human for standing in known):
        yield "with labels", lambda run: number(people(run).mean, MEAN_DIGITS)
        yield (
            "95 % with labels",
            lambda run: interval((people(run).low, people(run).high), BOUND_DIGITS),
        )


UNPRICED = "no prices are known; --set llm.prices='{input: 0.15, output: 0.6}' gives them"
"""Dollars for a million tokens."""
# The end of a job in the terminal: the lines below the closing table, plans, lists.
NO_TEXT_ADVICE = (
    "{items} could not be judged: the runs carry no document text. Supply it with"
    " --documents FILE (JSONL of docid, title, text), or use runs with a `documents` field."
)

LABELS_LINE = (
    "labels of people: {given} given, {of_judged_items} of them on judged items, {unusable} that"
    " the judge does not know; "
)

MOST_SAMPLED = 6
"""Runs with several samples of a topic that have a line."""
UNKNOWN_LINE = (
    "failures unknown: judge {} does not tell what failed: a low value may be a call that failed"
)


def listing(rows: list[tuple[str, str]]) -> Table:
    """Return names with one line each."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, line in rows:
        table.add_row(escape(visible(name)), escape(visible(line)))
    return table


def closing_lines(summary: Summary) -> list[str]:
    """Return the lines below the table: coverage, findings, model calls, files."""
    runs = [run.coverage for run in summary.runs]
    responses = sum(run.responses for run in runs)
    wanted = sum(run.expected_responses for run in runs)
    judged, expected = sum(run.judged for run in runs), sum(run.expected for run in runs)
    lines = [f"note: {visible(remark)}" for remark in summary.remarks]
    lines += [
        f"coverage: {plural(len(runs), 'run')}, {responses} of {plural(wanted, 'response')},"
        f" {judged} of {plural(expected, 'item')} judged, {summary.seconds:.1f} s"
    ]
    if summary.gate:
        counts = ", ".join(f"{count} {status}" for status, count in summary.gate.items())
        lines.append(f"gate: {counts} responses: {summary.files['review']}")
    if summary.audit:
        lines.append(audit_line(summary.audit))
    lines += voter_lines(summary.voters)
    lines += _failure_lines(summary)
    lines += _too_few_topics(summary)
    lines += _sample_lines(summary)
    lines += _sign_lines(summary)
    lines += _language_lines(summary)
    lines += question_lines(runs)
    if summary.labels:
        lines.append(labels_line(summary.labels, summary.ranked_by))
    if summary.inventory:
        lines.append(f"marks of citations in the texts: {summary.inventory}")
    lines += [
        _finding_line(summary, kind, count)
        for kind, count in summary.findings.items()
        if kind != "marks_counted"
    ]
    if summary.calls:
        lines.append(model_line(summary.calls))
    return [*lines, *(f"{what}: {path}" for what, path in summary.files.items())]


def labels_line(labels: Mapping[str, Any], measure: str) -> str:
    """Return a line on labels of people, and on what they do to the means of a measure."""
    said, effect = LABELS_LINE.format(**labels), labels["effect"]
    if effect is None:
        return f"{said}{measure} cannot be corrected by them: it needs all labels of a response"
    if "shift" not in effect:
        why = f"{effect['labels']} count for {measure}, too few to correct others:"
        why += f" {effect['needed']} are needed"
        if effect["labels"] >= effect["needed"]:
            why = (
                f"all {effect['labels']} say the same, and the judge does not; if they were chosen"
                " for that, they tell nothing of others: label items whatever they say"
            )
        return f"{said}only labelled items change the means `with labels`: {why}"
    told = "" if effect["told"] else " (not told from 0)"
    return (
        f"{said}they correct the means `with labels`: people differ from the judge by"
        f" {effect['shift']:+.3f}{told} on all runs, give or take {effect['runs']:.3f} by run"
    )


def part_lines(outputs: Outputs, part: ShardSummary) -> list[str]:
    """Return lines on a part of a job, and what to do with it."""
    judged = part.judgments - part.unjudged
    return [
        f"{outputs.name}: part {part.number} of {part.of}, {plural(part.responses, 'response')},"
        f" {judged} of {plural(part.judgments, 'item')} judged",
        f"judgments: {outputs.judgments}",
        f"when all {part.of} are judged: job merge {outputs.folder} --out-dir DIR --name NAME",
    ]


def audit_line(audit: Mapping[str, Any]) -> str:
    """Return a line on how far a judge agreed with labels before its job."""
    shown = ("accuracy", "kappa", "kappa_linear", "auc")
    figures = [
        f"{name} {value:.3f}" for name in shown if (value := audit["figures"].get(name)) is not None
    ]
    unjudged = f", {audit['unjudged']} unjudged" if audit["unjudged"] else ""
    on = f"{plural(audit['items'], 'labelled item')} of {plural(audit['topics'], 'topic')}"
    return f"audit: judge {audit['judge']} on {on}{unjudged}: {', '.join(figures)}"


def _too_few_topics(summary: Summary) -> list[str]:
    ranked = [run.standings[summary.ranked_by] for run in summary.runs]
    tests = [one.test for one in ranked if one.groups]
    why = too_few_topics(len(ranked), summary.topics, tests[0]) if tests else ""
    return [f"groups: {why}"] if why else []


def _sample_lines(summary: Summary) -> list[str]:
    lines = []
    for run in (run for run in summary.runs if run.coverage.samples):
        counts = run.coverage.sample_counts
        on = f"{counts['samples']} samples of {plural(counts['topics'], 'topic')}"
        spread = run.spreads.get(summary.ranked_by)
        apart = "" if spread is None else f": {summary.ranked_by} spread {spread:.3f}"
        lines.append(visible(f"samples: run {run.run_id} has {on}{apart}"))
    return lines[:MOST_SAMPLED]


def _sign_lines(summary: Summary) -> Iterator[str]:
    """Yield a line for each sign of writing for the judge by which runs are named."""
    for sign, kind in SIGN_KINDS.items():
        if found := [run for run in summary.runs if run.coverage.shows(sign)]:
            named = (f"{run.run_id} {_share_of(sign)(run)}" for run in found[:3])
            rest = ", …" if len(found) > 3 else ""
            yield f"note: {sign}: {kind.run} (runs: {', '.join(named)}{rest})"


def _language_lines(summary: Summary) -> Iterator[str]:
    runs = [run.coverage for run in summary.runs]
    if any(run.is_foreign for run in runs):
        every = sum((Counter(run.languages) for run in runs), Counter())
        yield f"language of {plural(every.total(), 'response')}: {languages_text(every)}"
    if withheld := sum((Counter(run.withheld) for run in runs), Counter()):
        yield f"note: {withheld_text(withheld, 'judgment')}; measures of weights count the labels"


def _finding_line(summary: Summary, kind: str, count: int) -> str:
    """Return how often a kind was found, its effect, and the runs with the most of it."""
    entry = KINDS[kind]
    # The worst runs first: one broken run often makes most findings of a kind.
    by_run = sorted(summary.findings_by_run.get(kind, {}).items(), key=lambda run: (-run[1], run))
    most = ", ".join(f"{run} {number}" for run, number in by_run[:3])
    rest = ", …" if len(by_run) > 3 else ""
    runs = f" (runs: {most}{rest})" if most else ""
    return f"{PREFIX[entry.severity]}: {count} x {kind}: {entry.effect}{runs}"


def model_line(spent: Mapping[str, Any]) -> str:
    """Return a line on the calls, tokens and cost of a model, and what was saved."""
    known = f" ({prefix} of them cached there)" if (prefix := spent.get("prefix_tokens")) else ""
    tokens = f"{spent['prompt_tokens']} tokens in{known}, {spent['completion_tokens']} out"
    cost = f", cost {spent['cost']:.2f}" if "cost" in spent else ""
    spared = f", {spent['spared']} spared by a cheaper detector" if "spared" in spent else ""
    return (
        f"model: {spent['calls']} calls ({spent['retries']} of them retries), {tokens}{cost};"
        f" {spent['cached']} replies from the cache, {spent['saved']} saved by an equal call,"
        f" {spent['throttled']} x 429{spared}"
    )


def plan_lines(plan: Mapping[str, Any]) -> list[str]:
    """Return a plan as lines."""
    fetched = plan.get("documents_to_fetch", 0)
    what = f"  {plural(fetched, 'document')} to fetch; calls about what they say are not counted"
    begin = [f"{plan['name']}: {plan['items']} items", *([what] if fetched else [])]
    begin += [f"  {line}" for own in plan.get("judges", {}).values() for line in own["said"]]
    if "calls" not in plan:  # no model is asked
        return begin
    least = "at least " if plan.get("by_modules") else ""  # what modules ask depends on replies
    cost = UNPRICED if plan["cost"] is None else f"about ${plan['cost']:.2f}"
    return [
        *begin,
        f"  {plan['cached']} answered by a cache, {plan['saved']} by a call for an equal one",
        f"  {least}{plan['calls']} calls to make",
        f"  about {plan['prompt_tokens']} tokens in, {plan['completion_tokens']} out: {cost}",
    ]


def _failure_lines(summary: Summary) -> list[str]:
    lines = [UNKNOWN_LINE.format(name) for name in summary.failures_unknown]
    lines += [
        f"unjudged: {plural(count, 'item')}, {kind}, in no numerator and no denominator;"
        f" the first: {brief_line(summary.examples[kind])}"
        for kind, count in summary.failures.items()
    ]
    if count := summary.failures.get("no_document_text"):
        lines.append(NO_TEXT_ADVICE.format(items=plural(count, "item")))
    return lines
