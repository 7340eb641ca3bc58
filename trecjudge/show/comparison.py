"""What `compare` prints: how many differences are significant, their table, what moved most."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from trecjudge.findings import brief_line, plural
from trecjudge.show.columns import TextTable
from trecjudge.show.folding import fold_equal
from trecjudge.show.tables import (
    first_rows,
    gaps,
    hidden_line,
    interval,
    number,
    probability,
    table,
)
from trecjudge.stats.flips import VerdictChanges, verdict

if TYPE_CHECKING:  # numpy: not for --help
    from trecjudge.stats.comparison import Difference

MOST_FLIPS = 20  # each takes three lines
MOST_MOVED = 5
SIGNIFICANT = 0.05
CORE = ("mean before", "mean after", "difference", "95 %", "p (Holm)")
DETAIL = ("topics", "p", "effect d")


def telling_first(found: Sequence[Difference]) -> list[Difference]:
    """Return the differences by p after Holm, then p, then effect size; untested ones last."""
    none = 2.0
    return sorted(
        found,
        key=lambda d: (
            none if d.holm is None else d.holm,
            none if d.p is None else d.p,
            -abs(d.effect or 0.0),
            -abs(d.difference),
        ),
    )


def fold_differences(found: Sequence[Difference]) -> tuple[list[Difference], list[str]]:
    """Return the differences by measures that are no repetition, and lines on those that are."""
    columns: dict[str, list[Hashable]] = {}
    for d in found:
        cell = (d.before, d.after, d.mean_before, d.mean_after, tuple(d.interval), d.holm)
        columns.setdefault(d.measure, []).append(cell)
    kept, lines = fold_equal(columns)
    return [d for d in found if d.measure in kept], lines


def difference_lines(found: Sequence[Difference]) -> Iterator[str]:
    """Yield a sentence on how many differences are significant."""
    if not found:
        return
    pairs = len({(d.before, d.after) for d in found})
    measures = len({d.measure for d in found})
    by = f"{plural(pairs, 'pair')} of runs by {plural(measures, 'measure')}"
    tested = [d.holm for d in found if d.holm is not None]
    if not tested:
        yield f"{by}: no difference can be tested"
        return
    significant = sum(p < SIGNIFICANT for p in tested)
    verb = "is" if significant == 1 else "are"
    yield (
        f"{by}: {significant} of {plural(len(tested), 'difference')} {verb} significant"
        f" (p < {SIGNIFICANT} after Holm; the smallest is {probability(min(tested))})"
    )


def difference_table(
    found: Sequence[Difference],
    names: Sequence[str] = (),
    wide: bool = False,
    show_all: bool = True,
) -> TextTable:
    """Return a row for each measure of each pair of systems; what is unjudged, if anything.

    The most significant and the largest come first. `names` are those of the leaderboards: what
    all rows share of them stands in the title. `wide` adds topics, p before Holm and effect size.
    """
    shown = first_rows(telling_first(found), show_all)
    sides = [(d.unjudged_before, d.unjudged_after) for d in shown]
    is_open = any(one is not None and one.items for side in sides for one in side)
    title, headers, systems = _systems(shown, names)
    rows = (
        (
            d.measure,
            *system,
            number(d.mean_before),
            number(d.mean_after),
            f"{d.difference:+.4f}",
            interval(d.interval),
            probability(d.holm),
            *(map(gaps, side) if is_open else ()),
            *((d.topics, probability(d.p), number(d.effect, 2)) if wide else ()),
        )
        for d, side, system in zip(shown, sides, systems, strict=True)
    )
    open_columns = ("unjudged before", "unjudged after") if is_open else ()
    columns = ("measure", *headers, *CORE, *open_columns, *(DETAIL if wide else ()))
    made = table(columns, rows, left=1 + len(headers), wide=wide)
    return TextTable(made.columns, title, wide)


def _systems(
    found: Sequence[Difference], names: Sequence[str]
) -> tuple[str, Sequence[str], list[tuple[str, ...]]]:
    """Return a title, headers and cells for the two systems of each row, as short as they can be.

    Where runs are compared with themselves, the run is enough. Where all are of one leaderboard,
    its name is left out.
    """
    runs: list[tuple[str, ...]]
    parted = [(_parts(d.before, names), _parts(d.after, names)) for d in found]
    befores, afters = {old[0] for old, _ in parted}, {new[0] for _, new in parted}
    if len(befores) == 1 and len(afters) == 1 and "" not in befores:
        before, after = *befores, *afters
        if all(old[1] == new[1] for old, new in parted):
            runs = [(old[1],) for old, _ in parted]
            return f"before: {before}, after: {after}", ("run",), runs
        if before == after:
            firsts = {old[1] for old, _ in parted}
            if len(firsts) == 1 and len(parted) > 1:
                first = next(iter(firsts))
                runs = [(new[1],) for _, new in parted]
                return f"in {before}, before: {first}", ("after",), runs
            return f"in {before}", ("before", "after"), [(o[1], n[1]) for o, n in parted]
    return "", ("before", "after"), [(d.before, d.after) for d in found]


def _parts(system: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the leaderboard and the run of `leaderboard: run`; no leaderboard if it is unknown."""
    for name in sorted(names, key=len, reverse=True):
        if system.startswith(f"{name}: "):
            return name, system.removeprefix(f"{name}: ")
    return "", system


def moved_lines(found: Sequence[Difference], show_all: bool = True) -> Iterator[str]:
    """Yield the topics that moved most, by measure and pair, of the most telling differences."""
    moved = [d for d in telling_first(found) if d.moved]
    for d in moved if show_all else moved[:MOST_MOVED]:
        moves = ", ".join(f"{m.topic_id} {m.before:.3f} -> {m.after:.3f}" for m in d.moved)
        yield f"moved most, {d.measure}, {d.before} -> {d.after}: {moves}"


def hidden_differences(found: Sequence[Difference], wide: bool, show_all: bool) -> Iterator[str]:
    """Yield lines on the rows and columns that the table does not show."""
    hidden = len(found) - len(first_rows(found, show_all))
    yield from hidden_line(hidden, "difference")
    if found and not wide:
        yield "topics, p before Holm and effect size d: --wide or --json"


def verdict_lines(found: VerdictChanges) -> Iterator[str]:
    """Yield the count of flipped verdicts, and the first of them with their evidence."""
    yield (
        f"verdicts: {plural(found.shared, 'item')} on both sides,"
        f" {len(found.flips)} decided differently; {found.only_before} only on the first side,"
        f" {found.only_after} only on the second"
    )
    flipped = ((pair, n) for pair, n in sorted(found.counts.items()) if pair[0] != pair[1])
    for (before, after), count in flipped:
        yield f"  {count} x {before} -> {after}"
    for flip in found.flips[:MOST_FLIPS]:
        j = flip.after
        sentence = "" if j.sentence_index is None else f" sentence {j.sentence_index + 1}"
        yield (
            f"{j.run_id} {j.topic_id}{sentence} {j.doc_id or ''}: {verdict(flip.before)} ->"
            f" {verdict(j)}: {brief_line(flip.sentence)}"
        )
        for side, judgment in (("before", flip.before), ("after", j)):
            quote = judgment.evidence.quote if judgment.evidence else ""
            why = judgment.failure.message if judgment.failure else judgment.reason
            yield "    " + brief_line(f"{side}: {why or 'no reason given'} {quote!r}", 240)
    if len(found.flips) > MOST_FLIPS:
        yield f"  … {len(found.flips)} in all; --json has them all"
