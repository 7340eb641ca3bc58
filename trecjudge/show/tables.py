"""Tables and lines of the statistics commands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from trecjudge.findings import plural
from trecjudge.show.columns import TextColumn, TextTable

if TYPE_CHECKING:  # numpy: not for --help
    from trecjudge.evaluation.agreement import Agreement
    from trecjudge.results.statistics import Unjudged
    from trecjudge.stats.labelling import LabelCandidate
    from trecjudge.stats.resampling import Interval
    from trecjudge.stats.shrinkage import Forecast

T = TypeVar("T")

LEAST_NAME = 10
MOST_ROWS = 20
"""Rows of a table that are shown without --all."""


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    left: int = 1,
    once: Collection[str] = (),
    wide: bool = False,
) -> TextTable:
    """Return a table, the first `left` columns names, flush left, and all others right.

    A column of `once` that is the same in all of several rows stands in the title.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    by_column = list(zip(*cells, strict=True)) if cells else [()] * len(columns)
    shared, kept = [], []
    for place, (header, own) in enumerate(zip(columns, by_column, strict=True)):
        if header in once and len(own) > 1 and len(set(own)) == 1:
            shared.append(f"{header} {own[0]}")
            continue
        is_name = place < left
        kept.append(TextColumn(header, own, is_name, is_name, LEAST_NAME if is_name else None))
    return TextTable(kept, f"in all rows: {', '.join(shared)}" if shared else "", wide)


def first_rows(found: Sequence[T], show_all: bool) -> Sequence[T]:
    """Return the rows to show: the first ones, or all."""
    return found if show_all else found[:MOST_ROWS]


def hidden_line(hidden: int, noun: str, where: str = "--all or --json") -> Iterator[str]:
    """Yield a line on the rows that a table does not show, if there are any."""
    if hidden > 0:
        yield f"… {plural(hidden, f'more {noun}')}: {where}"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many decimals, `n/a` for None."""
    return "n/a" if value is None else f"{value:.{digits}f}"


def interval(bounds: Interval) -> str:
    """Return `0.41 to 0.60`, `n/a` where there is no interval."""
    low, high = bounds
    return "n/a" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def probability(p: float | None) -> str:
    """Return a p value; of the smallest only the order of magnitude."""
    if p is None:
        return "n/a"
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.0e}"


def gaps(unjudged: Unjudged | None) -> str:
    """Return unjudged items and the bounds of a mean, `n/a` where nothing is known of them."""
    return "n/a" if unjudged is None else unjudged.with_bounds


def confusion_table(found: Agreement) -> TextTable:
    """Return the confusion matrix, a row for each label of the truth."""
    rows = (
        (label, *counts, sum(counts))
        for label, counts in zip(found.labels, found.confusion, strict=True)
    )
    return table(("truth \\ predicted", *found.labels, "all"), rows)


def agreement_table(found: Agreement) -> TextTable:
    """Return a row for each figure of agreement."""
    rows = (
        (
            f.name,
            number(f.pooled),
            interval(f.interval),
            number(f.mean),
            f"{f.defined}/{found.topics}",
        )
        for f in found.figures
    )
    columns = ("figure", "all items", "95 % over topics", "mean of topics", "defined on")
    return table(columns, rows)


def topic_table(found: Agreement) -> TextTable:
    """Return a row for each topic, its figures in columns."""
    names = [figure.name for figure in found.figures]
    topics = sorted({topic for figure in found.figures for topic in figure.by_topic})
    rows = ((t, *(number(f.by_topic[t], 3) for f in found.figures)) for t in topics)
    return table(("topic", *names), rows)


def agreement_sentence(found: Agreement) -> str:
    """Return what matters first: how many labels are the same, and kappa."""
    same = sum(counts[place] for place, counts in enumerate(found.confusion))
    kappa = next((f for f in found.figures if f.name == "kappa"), None)
    behind = ""
    if kappa is not None and kappa.pooled is not None:
        behind = f"; kappa {kappa.pooled:.3f} ({interval(kappa.interval)} over topics)"
    share = f" ({same / found.items:.1%})" if found.items else ""
    return f"{same} of {plural(found.items, 'item')} have the same label{share}{behind}"


def agreement_line(found: Agreement) -> str:
    """Return a line on the items compared and those left out."""
    return (
        f"agreement: {plural(found.items, 'item')} of {plural(found.topics, 'topic')};"
        f" {found.only_truth} only in the"
        f" truth, {found.only_predicted} only in the predicted; unjudged {found.truth.unjudged}"
        f" and {found.predicted.unjudged}"
        + (f"; people divided on {found.tied[0]} and {found.tied[1]}" if any(found.tied) else "")
    )


def candidate_table(found: Sequence[tuple[float, LabelCandidate]], what: str = "gain") -> TextTable:
    """Return a row for each item to label, with the number that `what` names."""
    nuggets = ["nugget"] if any(c.nugget for _, c in found) else []
    rows = (
        (
            place,
            c.run_id,
            c.topic_id,
            "" if c.sentence_index is None else c.sentence_index + 1,
            c.doc_id or "",
            *(c.nugget for _ in nuggets),
            c.label or "unjudged",
            f"{gain:.2e}" if what == "gain" else f"{gain:.3f}",
        )
        for place, (gain, c) in enumerate(found, 1)
    )
    columns = ("", "run", "topic", "sentence", "document", *nuggets, "judged", what)
    return table(columns, rows, left=len(columns) - 1)


def forecast_line(found: Forecast | None, why: str) -> str:
    """Return a line on what more labels would buy, or on why that cannot be told."""
    if found is None:
        return f"what their labels would buy is not known: {why}"
    taus = " to ".join(number(tau, 3) for tau in (found.tau_now, found.tau_then))
    widths = f"{found.width_now:.3f} to {found.width_then:.3f}"
    return (
        f"expected of {plural(found.labels, 'more label')}: tau with the order by labels on all"
        f" items from {taus}; mean width of the 95 % intervals from {widths}"
    )
