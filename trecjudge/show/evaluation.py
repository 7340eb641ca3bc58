"""What commands beside the job show: judges beside people, prompts, experiments, documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trecjudge.evaluation.optimize.improvement import ImprovedFigure, Improvement
from trecjudge.evaluation.optimize.optimize import OptimizeResult
from trecjudge.evaluation.optimize.questions import ENOUGH
from trecjudge.evaluation.pairs.differences import (
    COMPARED,
    NOT_COMPARED,
    DifferenceBin,
    PairedDifference,
    VerdictDifferences,
)
from trecjudge.evaluation.pairs.measuring import (
    FEWEST_PAIRS,
    FIGURES,
    MOST_GROUPS,
    PairBin,
    PairFigures,
    VerdictTally,
)
from trecjudge.evaluation.perturbation import CHANGES, GAME, PlayedGame, Shift, untestable
from trecjudge.findings import Finding, brief, brief_line, plural, visible_line
from trecjudge.inputs.documents.index_file import LACKS, NOT_KNOWN
from trecjudge.job.documents import CARRIED, WITHOUT, WITHOUT_TEXT, CitedDocuments, count_known
from trecjudge.job.experiment.running import ExperimentReport, VariantRun
from trecjudge.scores.summary import RunSummary
from trecjudge.show.check import cause_lines, place_lines, shared_rules
from trecjudge.show.closing import model_line
from trecjudge.show.comparison import SIGNIFICANT, difference_lines
from trecjudge.show.formats import (
    BOUND_DIGITS,
    MEAN_DIGITS,
    format_size,
    interval,
    languages_text,
    number,
    probability,
    signed,
    withheld_text,
)
from trecjudge.show.tables import TextTable, table
from trecjudge.stats.comparison import Difference

if TYPE_CHECKING:
    from trecjudge.evaluation.calibrate.calibrate import CalibrationReport, WordCountReport
    from trecjudge.job.stability import StabilityReport
    from trecjudge.stats.agreement import BoundedFigure


def calibration_table(done: CalibrationReport) -> TextTable:
    """Return the figures of the shipped weights beside those fitted, with 95 % intervals."""
    rows = (
        (shipped.name, figure_text(shipped), figure_text(fitted))
        for shipped, fitted in zip(done.shipped, done.fitted, strict=True)
    )
    by = f"{done.groups} {done.held_out} held out one by one"
    return table((by, "shipped weights", "fitted weights"), rows)


def figure_text(figure: BoundedFigure, digits: int = MEAN_DIGITS) -> str:
    """Return `0.862 (0.832-0.885)`, without the interval where there is none."""
    value = number(figure.value, MEAN_DIGITS)
    return f"{value}{interval(figure.interval, digits, ' ({}-{})', '')}"


def reliability_table(done: CalibrationReport) -> TextTable:
    """Return predicted against observed support, by bins of predicted probability."""
    rows = (
        (part.pairs, f"{part.predicted:.2f}", f"{part.observed:.2f}") for part in done.reliability
    )
    return table(("pairs", "P(supported)", "supported by people"), rows, left=0)


def calibration_lines(done: CalibrationReport) -> list[str]:
    """Return lines on a missing interval, findings, the labels used, and the file written."""
    lines = [] if done.no_interval is None else [done.no_interval]
    lines += _finding_lines(done.findings)
    lines.append(f"labels: {done.labels}, of them {done.copies} on copies, which are in no fit")
    if done.passed_over:
        lines.append(
            f"passed over: {done.passed_over} labels of pairs without words or a common script"
        )
    few = {code: count for code, count in done.languages.items() if code not in done.covered}
    lines.append(f"probabilities for: {', '.join(done.covered) or 'no language'}")
    if few:
        lines.append(f"too few labels for probabilities: {languages_text(few)}")
    return [*lines, _used(done.path)]


def word_count_lines(done: WordCountReport) -> list[str]:
    """Return lines on what was counted, and the file written."""
    counted = f"counted: {done.words} words of {done.documents} documents; weights as shipped"
    return [*_finding_lines(done.findings), counted, _used(done.path)]


def _used(path: Path) -> str:
    return f"calibration: {path}; use it with --calibration {path}"


def _finding_lines(findings: Sequence[Finding]) -> list[str]:
    by_kind: dict[str, list[Finding]] = {}
    for finding in findings:
        by_kind.setdefault(finding.kind, []).append(finding)
    return [
        f"{found[0].severity}: {len(found)} x {kind}; the first: {found[0]}"
        for kind, found in by_kind.items()
    ]


def pairs_table(part: PairBin) -> TextTable:
    """Return the figures of all pairs, each with its interval."""
    rows = ((f.name, number(f.value, 3), interval(f.interval)) for f in part.figures)
    return table((f"{part.pairs} labels", "all", f"95 % over {part.over}"), rows)


def pair_parts_table(title: str, parts: Sequence[PairBin]) -> TextTable:
    """Return a row for each part, its figures in columns."""
    columns = (title, "labels", *FIGURES)
    rows = (
        (part.name or "(none)", part.pairs, *(figure_text(f, BOUND_DIGITS) for f in part.figures))
        for part in parts
    )
    return table(columns, rows)


def pair_lines(
    tally: VerdictTally, measured: PairFigures, output: str, spent: Mapping[str, Any]
) -> Iterator[str]:
    """Yield lines on what was judged, how labels were read, and the file written."""
    if measured.numbered:
        yield f"labels that are numbers: {measured.scale:g} is taken for full support, 0 for none"
    if measured.rest:
        yield (
            f"{measured.rest} groups have no row: only the {MOST_GROUPS} largest with"
            f" {FEWEST_PAIRS} labels or more have one"
        )
    judged = tally.pairs - tally.failures.total()
    yield f"pairs: {tally.pairs}, {judged} judged, {tally.labelled} labelled"
    if tally.nothing:
        yield f"nothing to check: {tally.nothing} sentences, in no figure"
    if tally.withheld:
        yield (
            f"{withheld_text(tally.withheld, 'pair')}; they are in no calibration error, and the"
            " AUC is that of scores that order pairs"
        )
    for kind, count in sorted(tally.failures.items()):
        first = brief_line(tally.examples[kind].message)
        yield f"unjudged: {count} pairs, {kind}, in no figure; the first: {first}"
    if spent:
        yield model_line(spent)
    yield f"verdicts: {output}"


def difference_tables(compared: VerdictDifferences) -> Iterator[TextTable]:
    """Yield how two runs on the same pairs differ: in all, by group, by file."""
    if compared.whole is None:
        return
    whole = compared.whole
    rows = (
        (
            _figure_name(f, whole),
            number(f.this, MEAN_DIGITS),
            number(f.other, MEAN_DIGITS),
            signed(f.difference),
            interval(f.interval),
        )
        for f in whole.figures
    )
    head = (f"{whole.labels} labels", "this", "other", "this - other", f"95 % over {whole.over}")
    yield table(head, rows)
    of_files = [replace(part, name=Path(part.name).name) for part in compared.by_file]
    for title, parts in (("group", compared.by_group), ("file", of_files)):
        if parts:
            lines = ((part.name or "(none)", part.labels, *_signed_figures(part)) for part in parts)
            yield table((f"this - other, by {title}", "labels", *COMPARED), lines)


def _figure_name(figure: PairedDifference, part: DifferenceBin) -> str:
    short = figure.labels < part.labels
    return f"{figure.name} ({figure.labels} labels)" if short else figure.name


def _signed_figures(part: DifferenceBin) -> Iterator[str]:
    for figure in part.figures:
        bounds = interval(figure.interval, form=" ({} to {})", none="")
        yield f"{signed(figure.difference)}{bounds}"


def verdict_difference_lines(compared: VerdictDifferences) -> Iterator[str]:
    """Yield how many pairs two runs are compared on, and why others are not."""
    lower = [name for name, figure in COMPARED.items() if figure.lower_is_better]
    if compared.whole is not None:
        yield f"below 0 is better for {' and '.join(lower)}, above 0 for the others"
    changed = f"{compared.changed} have another label than there"
    yield f"against {compared.path}: {plural(compared.compared, 'pair')} compared, {changed}"
    for name, count in compared.not_compared.items():
        yield f"not compared: {plural(count, 'pair')}, {NOT_COMPARED[name]}"
    if compared.by_line:
        yield (
            f"{compared.path} has pairs without id and digest: they are known by group and line,"
            " so the files must have the same lines"
        )


def flip_table(tested: StabilityReport) -> TextTable:
    """Return how many labels flip in each test."""
    rows = ((f.name, f.items, f.flips, number(f.rate, 3)) for f in tested.flips)
    return table(("test", "items", "flips", "flip rate"), rows)


def shift_table(tested: StabilityReport, wide: bool = False) -> TextTable:
    """Return by how much each change moves the measures that rank; `wide`: all measures."""
    columns = ("change", "bias", "measure", "topics", "before", "shift", "95 %", "p (Holm)")
    rows = (
        (
            one.change,
            one.kind,
            one.measure,
            one.topics,
            number(one.before, 3),
            f"{one.shift:+.3f}",
            interval(one.interval),
            number(one.holm, 3),
        )
        for one in tested.shifts
        if wide or one.measure in tested.leading
    )
    return table(columns, rows)


def game_table(tested: StabilityReport, wide: bool = False) -> TextTable:
    """Return what each way to write for the judge lifts, the most first within a measure.

    `wide`: all measures, and what each way does.
    """
    measures = [*tested.leading, *(m for m in tested.measures if m not in tested.leading)]
    wanted = measures if wide else tested.leading
    columns = ["way", "changed", "measure", "before", "after", "lift", "95 %"]
    once = ("changed", "measure", "before")
    rows = []
    for measure in wanted:
        for game, one in _lifts(tested, measure):
            lift = f"{one.shift:+.3f}"
            means = number(one.before, 3), number(one.after, 3)
            row = (
                game.way.name.removeprefix(f"{GAME}:"),
                game.changed,
                measure,
                *means,
                lift,
                interval(one.interval),
            )
            rows.append((*row, game.way.what) if wide else row)
    return table([*columns, "what it does"] if wide else columns, rows, once=once, wide=wide)


def _lifts(tested: StabilityReport, measure: str) -> list[tuple[PlayedGame, Shift]]:
    """Return the lift of a measure by each way, the best for the run first."""
    better = -1 if measure in tested.lower_is_better else 1
    found = [(g, shift) for g in tested.games for shift in g.shifts if shift.measure == measure]
    return sorted(found, key=lambda pair: -better * pair[1].shift)


def stability_tables(tested: StabilityReport, wide: bool = False) -> Iterator[TextTable]:
    """Yield flips and shifts; where games were played, what these lift."""
    if tested.flips or not tested.games:
        yield flip_table(tested)
        yield shift_table(tested, wide)
    if tested.games:
        yield game_table(tested, wide)


def stability_lines(tested: StabilityReport) -> Iterator[str]:
    """Yield the biases that are more than chance, what was not tested, and the cost."""
    leading = [one for one in tested.shifts if one.measure in tested.leading]
    biases = [one for one in leading if one.is_bias]
    for one in biases:
        yield _bias_in_words(one, tested)
    if leading and not biases:
        yield "bias: no shift is more than chance (paired test over topics, Holm)"
    if few := untestable(leading):
        yield f"too few topics to show any bias of {', '.join(few)}: give more topics"
    yield from _game_lines(tested)
    for why in tested.not_tested:
        yield f"not tested: {why}"
    responses, topics = plural(tested.responses, "response"), plural(tested.topics, "topic")
    yield f"tested on {responses} to {topics}"
    if tested.unjudged:
        yield f"unjudged: {plural(tested.unjudged, 'item')}, in no figure"
    if tested.spent:
        yield model_line(tested.spent)


def _game_lines(tested: StabilityReport) -> Iterator[str]:
    """Yield how many ways lift each measure that ranks by more than chance, and which most."""
    for measure in tested.leading:
        if not (lifts := _lifts(tested, measure)):
            continue
        worse = measure in tested.lower_is_better
        sure = sum(_is_lifted(one, worse) for _, one in lifts)
        best, lift = lifts[0]
        known = any(None not in one.interval for _, one in lifts)
        found = f"{sure} of {plural(len(lifts), 'way')} lift {measure} by more than chance"
        if not known:
            found = f"no interval for {measure}: give more topics"
        yield f"games: {found}; {best.way.name} moves it most, by {lift.shift:+.3f}"


def _is_lifted(one: Shift, lower_is_better: bool) -> bool:
    """Return whether all of the interval is on the side that is better for a run."""
    low, high = one.interval
    if low is None or high is None:
        return False
    return high < 0 if lower_is_better else low > 0


def _bias_in_words(one: Shift, tested: StabilityReport) -> str:
    """Return a bias in words; of length, which way is the judge's taste."""
    what = next(change.what for change in CHANGES if change.name == one.change)
    line = f"bias of {one.kind}: with {what}, {one.measure} moves by {one.shift:+.3f}"
    if one.kind != "length":
        return line
    better = (one.shift > 0) != (one.measure in tested.lower_is_better)
    return f"{line}: the judge {'favours' if better else 'punishes'} length"


# Where the documents of runs are, and what a pack holds, as a table and lines.

WORST = 5
"""Runs that are listed, those with the fewest documents first."""


def source_table(cited: CitedDocuments) -> TextTable:
    """Return a table with a row for each source, then for each kind of what is in none."""
    every = list(cited.rows())
    total = max(1, sum(citations for _, citations, _ in every))
    rows = [
        (name, f"{citations:,}", f"{100 * citations / total:.1f} %", f"{documents:,}")
        for name, citations, documents in every
        if citations or name not in (CARRIED, WITHOUT_TEXT, NOT_KNOWN)
    ]
    return table(("source", "citations", "share", "documents"), rows)


def check_lines(cited: CitedDocuments) -> Iterator[str]:
    """Yield an example of what has no document, and the runs that lack some, the worst first."""
    for lack in WITHOUT:
        if ids := cited.ids.get(lack):
            yield f"{lack}: such as {brief(next(iter(ids)))}"
    if cited.none_found and cited.others:
        there = ", ".join(map(brief, cited.others))
        yield f"--documents has ids such as {there}: give the collection of these runs"
    shares = {run_id: count_known(run) / max(1, run.total()) for run_id, run in cited.runs.items()}
    worst = sorted((run_id for run_id in shares if shares[run_id] < 1), key=shares.__getitem__)
    for run_id in worst[:WORST]:
        run = cited.runs[run_id]
        found = f"{count_known(run):,} of {plural(run.total(), 'citation')} found"
        found = f"run {visible_line(run_id)}: {found}"
        yield ", ".join((found, *(f"{run[lack]:,} {lack}" for lack in WITHOUT if run[lack])))
    if len(worst) > WORST:
        yield f"… {plural(len(worst) - WORST, 'more run')} without all documents; --json has them"
    if whole := len(shares) - len(worst):
        yield f"all found: {plural(whole, 'run')}"


def pack_lines(pack: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a pack holds, and what is missing in it."""
    size = f"{format_size(pack['bytes'])}, {format_size(pack['text'])} of text"
    yield f"{pack['pack']}: {plural(pack['documents'], 'document')} ({size})"
    if lacks := pack["lacks"]:
        listed = ", ".join(f"{lacks[lack]:,} {lack}" for lack in LACKS if lack in lacks)
        yield f"without a document: {listed}"


# An experiment for a person: a row for each variant, with its difference from the first.

COLUMNS = ("variant", "answered", "words", "check", "mean", "difference", "95 %", "p (max-T)")
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
        "" if own is None else probability(own.corrected),
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
    yield from _retrieval_lines(found.runs)
    reused = [run.variant for run in found.runs if run.reused]
    if reused:
        yield f"not made again: {', '.join(map(brief_line, reused))}"
    if found.summary is not None:
        files = found.summary.files
        yield from (f"{kind}: {files[kind]}" for kind in SHOWN if kind in files)


def _retrieval_lines(runs: Sequence[VariantRun]) -> Iterator[str]:
    """Yield how long each variant searched and what it cost, and which answer alike."""
    alike: dict[str, list[VariantRun]] = {}
    for run in runs:
        times, cost = run.counts.get("retrieval_ms"), run.spent.get("cost")
        if times:
            paid = f", cost {cost:.4f}" if cost else ""
            figures = f"p50 {times['p50']:.1f} ms, p95 {times['p95']:.1f} ms"
            yield f"retrieval: {brief_line(run.variant)}: {figures}{paid}"
        if run.counts.get("sentences"):
            alike.setdefault(run.counts.get("answers_sha256", run.variant), []).append(run)
    for group in (group for group in alike.values() if len(group) > 1):
        names = ", ".join(brief_line(run.variant) for run in group)
        passages = {run.counts.get("passages_sha256") for run in group}
        why = "other passages, but" if len(passages) > 1 else "the same passages, and"
        yield f"note: {names}: {why} the same answers: only measures of retrieval can differ"


def _too_few(differences: Sequence[Difference]) -> Iterator[str]:
    """Yield a line where no difference over so few topics could be significant."""
    topics = max((d.topics for d in differences), default=0)
    # Of n topics the smallest p of a sign-flip test is 2 / 2^n, and max-T keeps it.
    if topics and 2.0 ** (1 - topics) >= SIGNIFICANT:
        yield f"note: {plural(topics, 'topic')}: too few for any difference to be significant"


# Tables and lines of `optimize`: agreement before and after, the prompt's difference, the cost.

MOST_SHOWN = 120
"""Characters of a demonstration's field that are shown."""


def figure_table(found: Improvement) -> TextTable:
    """Return a row for each figure of agreement on the topics held out."""
    rows = (
        (
            figure.name,
            number(figure.before, 3),
            interval(figure.interval_before),
            number(figure.after, 3),
            interval(figure.interval_after),
            _change(figure),
        )
        for figure in found.figures
    )
    columns = ("held out", "before", "95 % over topics", "after", "95 % over topics", "change")
    return table(columns, rows)


def _change(figure: ImprovedFigure) -> str:
    if figure.before is None or figure.after is None:
        return "-"
    return f"{figure.after - figure.before:+.3f}"


def outcome_lines(result: OptimizeResult, out: str, written: bool) -> Iterator[str]:
    """Yield what came of it: whether the prompt is better, and the file."""
    found = result.improvement
    if not result.is_new:
        yield f"no better: {_in_vain(result)}; none is written"
        return
    within = f" ({interval(found.interval)})" if found.interval.low is not None else ""
    p = "no test" if found.p is None else f"p {found.p:.3f}, sign-flip test over topics"
    figures = f"accuracy by topic {found.difference:+.3f}{within}, {p}"
    yield f"{_outcome_in_words(found.outcome)}: {figures}"
    if found.outcome == "not_shown" and found.topics < ENOUGH:
        few = plural(found.topics, "topic")
        yield f"with {few} no p can be below 0.05: hold out {ENOUGH} or more"
    if written:
        yield f"prompt: {out}"
    else:
        yield "not written: --force writes it all the same"


def _in_vain(result: OptimizeResult) -> str:
    if result.bounds.why:
        return "no better prompt was found before the optimiser was stopped"
    return "no prompt tried was better on the topics to choose by"


def _outcome_in_words(outcome: str) -> str:
    return {"better": "better", "not_shown": "not shown to be better"}.get(outcome, "no better")


def optimized_lines(
    result: OptimizeResult,
    topics: Mapping[str, list[str]],
    spent: Mapping[str, Any],
    reflection: Mapping[str, Any],
) -> Iterator[str]:
    """Yield lines on the topics, the prompts tried, and what the models cost."""
    counts = {name: len(part) for name, part in topics.items()}
    found = result.improvement
    yield (
        f"topics: {counts['learnt_from']} learnt from, {counts['chosen_by']} chosen by,"
        f" {counts['held_out']} held out with {plural(found.items, 'label')}"
    )
    before, after = result.scores
    if after is not None:
        yield (
            f"tried: {plural(result.tried, 'prompt')}; where they were chosen by, accuracy is"
            f" {number(before, 3)} before, {number(after, 3)} for the best"
        )
    for count, when in ((found.unjudged_before, "before"), (found.unjudged_after, "after")):
        if count:
            yield f"unjudged {when}: {count}, counted as wrong"
    bounds = result.bounds
    if bounds.unproposed:
        yield f"proposals: {bounds.proposed} came, {bounds.unproposed} failed: {bounds.refusal}"
    if bounds.why:
        yield f"the optimiser was stopped: {bounds.why}"
    if spent:
        yield model_line(spent)
    if reflection:
        yield model_line(reflection).replace("model:", "reflection model:", 1)


def prompt_lines(result: OptimizeResult, diff: list[str]) -> Iterator[str]:
    """Yield the difference of the instructions, and the demonstrations."""
    yield from diff
    for number_, demo in enumerate(result.best.demos, 1):
        yield f"demonstration {number_}:"
        for name, value in demo.items():
            if name != "augmented":
                text = brief_line(str(value))
                cut = "…" if len(text) > MOST_SHOWN else ""
                yield f"  {name}: {text[:MOST_SHOWN]}{cut}"
