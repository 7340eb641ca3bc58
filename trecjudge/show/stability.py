"""Tables and lines of `stability`: flip rates, and what moves the measures of a judge."""

from __future__ import annotations

from collections.abc import Iterator

from trecjudge.evaluation.stability.perturbation import CHANGES, Shift, untestable
from trecjudge.findings import plural
from trecjudge.job.stability import StabilityReport
from trecjudge.show.closing import model_line
from trecjudge.show.tables import TextTable, interval, number, table


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
