"""Tables and lines of the statistics commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from trecjudge.findings import shown_line, visible
from trecjudge.stats.flips import VerdictChanges, verdict

if TYPE_CHECKING:  # numpy: not for --help
    from trecjudge.evaluation.agreement import Agreement
    from trecjudge.stats.comparison import Difference
    from trecjudge.stats.known import Unjudged
    from trecjudge.stats.labelling import Candidate
    from trecjudge.stats.meta import Correlated
    from trecjudge.stats.resampling import Interval

MOST_FLIPS = 20


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> Table:
    """Return a table, the first `left` columns flush left and all others right."""
    grid = Table(box=None, pad_edge=False)
    for place, column in enumerate(columns):
        grid.add_column(column, justify="left" if place < left else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(escape(visible(str(cell))) for cell in row))
    return grid


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


def correlation_table(found: Sequence[Correlated]) -> Table:
    """Return a row for each coefficient of each pair of measures; what is unjudged, if anything."""
    columns = ("judge", "measure", "truth", "runs", "topics", "correlation", "value")
    counts = [one.items_unjudged() for one in found]
    is_open = any(of_truth or of_judge for of_truth, of_judge in counts)
    rows = (
        (
            one.name,
            one.measure,
            one.truth_measure,
            len(one.runs),
            one.topics,
            c.name,
            number(c.value),
            interval(c.topics),
            interval(c.runs),
            *(("n/a" if n is None else n for n in reversed(count)) if is_open else ()),
        )
        for one, count in zip(found, counts, strict=True)
        for c in one.correlations
    )
    more = ("unjudged", "unjudged in the truth") if is_open else ()
    return table((*columns, "95 % over topics", "95 % over runs", *more), rows, left=3)


def difference_table(found: Sequence[Difference]) -> Table:
    """Return a row for each measure of each pair of systems; what is unjudged, if anything."""
    columns = ("measure", "before", "after", "topics", "mean before", "mean after", "difference")
    sides = [(d.unjudged_before, d.unjudged_after) for d in found]
    is_open = any(one is not None and one.items for side in sides for one in side)
    rows = (
        (
            d.measure,
            d.before,
            d.after,
            d.topics,
            number(d.mean_before),
            number(d.mean_after),
            f"{d.difference:+.4f}",
            interval(d.interval),
            probability(d.p),
            probability(d.holm),
            number(d.effect, 2),
            *(map(gaps, side) if is_open else ()),
        )
        for d, side in zip(found, sides, strict=True)
    )
    more = ("unjudged before", "unjudged after") if is_open else ()
    return table((*columns, "95 %", "p", "p (Holm)", "effect d", *more), rows, left=3)


def moved_lines(found: Sequence[Difference]) -> Iterator[str]:
    """Yield the topics that moved most, by measure and pair."""
    for d in found:
        if d.moved:
            moves = ", ".join(f"{m.topic_id} {m.before:.3f} -> {m.after:.3f}" for m in d.moved)
            yield f"moved most, {d.measure}, {d.before} -> {d.after}: {moves}"


def verdict_lines(found: VerdictChanges) -> Iterator[str]:
    """Yield the count of flipped verdicts, and the first of them with their evidence."""
    yield (
        f"verdicts: {found.shared} items on both sides, {len(found.flips)} decided differently;"
        f" {found.only_before} only on the first side, {found.only_after} only on the second"
    )
    flipped = ((pair, n) for pair, n in sorted(found.counts.items()) if pair[0] != pair[1])
    for (before, after), count in flipped:
        yield f"  {count} x {before} -> {after}"
    for flip in found.flips[:MOST_FLIPS]:
        j = flip.after
        sentence = "" if j.sentence_index is None else f" sentence {j.sentence_index}"
        yield (
            f"{j.run_id} {j.topic_id}{sentence} {j.doc_id or ''}: {verdict(flip.before)} ->"
            f" {verdict(j)}: {shown_line(flip.sentence)}"
        )
        for side, judgment in (("before", flip.before), ("after", j)):
            quote = judgment.evidence.quote if judgment.evidence else ""
            why = judgment.failure.message if judgment.failure else judgment.reason
            yield "    " + shown_line(f"{side}: {why or 'no reason given'} {quote!r}", 240)
    if len(found.flips) > MOST_FLIPS:
        yield f"  … {len(found.flips)} in all; --json has them all"


def confusion_table(found: Agreement) -> Table:
    """Return the confusion matrix, a row for each label of the truth."""
    rows = (
        (label, *counts, sum(counts))
        for label, counts in zip(found.labels, found.confusion, strict=True)
    )
    return table(("truth \\ predicted", *found.labels, "all"), rows)


def agreement_table(found: Agreement) -> Table:
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


def topic_table(found: Agreement) -> Table:
    """Return a row for each topic, its figures in columns."""
    names = [figure.name for figure in found.figures]
    topics = sorted({topic for figure in found.figures for topic in figure.by_topic})
    rows = ((t, *(number(f.by_topic[t], 3) for f in found.figures)) for t in topics)
    return table(("topic", *names), rows)


def agreement_line(found: Agreement) -> str:
    """Return a line on the items compared and those left out."""
    return (
        f"agreement: {found.items} items of {found.topics} topics; {found.only_truth} only in the"
        f" truth, {found.only_predicted} only in the predicted; unjudged {found.truth.unjudged}"
        f" and {found.predicted.unjudged}"
    )


def candidate_table(found: Sequence[tuple[float, Candidate]], what: str = "gain") -> Table:
    """Return a row for each item to label, with the number that `what` names."""
    nuggets = ["nugget"] if any(c.nugget for _, c in found) else []
    rows = (
        (
            place,
            c.run_id,
            c.topic_id,
            "" if c.sentence_index is None else c.sentence_index,
            c.doc_id or "",
            *(c.nugget for _ in nuggets),
            c.label or "unjudged",
            f"{gain:.2e}" if what == "gain" else f"{gain:.3f}",
        )
        for place, (gain, c) in enumerate(found, 1)
    )
    columns = ("", "run", "topic", "sentence", "document", *nuggets, "judged", what)
    return table(columns, rows, left=len(columns) - 1)
