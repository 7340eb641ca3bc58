"""Tables and lines of `calibrate`, `pairs` and `stability`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trecjudge.evaluation.pairs.measuring import (
    FEWEST_PAIRS,
    FIGURES,
    MOST_GROUPS,
    PairBin,
    PairFigures,
    VerdictTally,
)
from trecjudge.evaluation.perturbation import CHANGES, Shift, untestable
from trecjudge.findings import Finding, brief_line, plural
from trecjudge.show.closing import model_line
from trecjudge.show.formats import BOUND_DIGITS, MEAN_DIGITS, interval, number
from trecjudge.show.tables import TextTable, table

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
    for kind, count in sorted(tally.failures.items()):
        first = brief_line(tally.examples[kind].message)
        yield f"unjudged: {count} pairs, {kind}, in no figure; the first: {first}"
    if spent:
        yield model_line(spent)
    yield f"verdicts: {output}"


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
    for why in tested.not_tested:
        yield f"not tested: {why}"
    responses, topics = plural(tested.responses, "response"), plural(tested.topics, "topic")
    yield f"tested on {responses} to {topics}"
    if tested.unjudged:
        yield f"unjudged: {plural(tested.unjudged, 'item')}, in no figure"
    if tested.spent:
        yield model_line(tested.spent)


def _bias_in_words(one: Shift, tested: StabilityReport) -> str:
    """Return a bias in words; of length, which way is the judge's taste."""
    what = next(change.what for change in CHANGES if change.name == one.change)
    line = f"bias of {one.kind}: with {what}, {one.measure} moves by {one.shift:+.3f}"
    if one.kind != "length":
        return line
    better = (one.shift > 0) != (one.measure in tested.lower_is_better)
    return f"{line}: the judge {'favours' if better else 'punishes'} length"
