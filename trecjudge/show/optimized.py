"""Tables and lines of `optimize`: agreement before and after, the prompt's difference, the cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trecjudge.evaluation.optimize.improvement import ImprovedFigure, Improvement
from trecjudge.evaluation.optimize.optimize import OptimizeResult
from trecjudge.evaluation.optimize.questions import ENOUGH
from trecjudge.findings import brief_line, plural
from trecjudge.show.closing import model_line
from trecjudge.show.formats import interval, number
from trecjudge.show.tables import TextTable, table

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
        yield "not written: --keep-anyway writes it all the same"


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
