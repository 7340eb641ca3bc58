"""What `compare` and `meta-evaluate` print: differences, verdicts that changed, correlations."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from trecjudge.findings import brief_line, plural
from trecjudge.show.formats import (
    MEAN_DIGITS,
    TopicNames,
    gaps,
    interval,
    number,
    probability,
    signed,
)
from trecjudge.show.tables import TextTable, first_rows, fold_equal, hidden_line, table
from trecjudge.stats.flips import VerdictChanges, verdict

if TYPE_CHECKING:
    from trecjudge.evaluation.trend import Improvement, TrendPoint
    from trecjudge.stats.comparison import Difference
    from trecjudge.stats.meta import Correlated, Correlation
    from trecjudge.stats.order import Decisions, OrderMoved
    from trecjudge.stats.power import Power


# What `compare` prints: how many differences are significant, their table, what moved most.
MOST_FLIPS = 20  # each takes three lines
MOST_MOVED = 5
SIGNIFICANT = 0.05
CORE = ("mean before", "mean after", "difference", "95 %")
CORRECTIONS = {"max-t": "max-T", "holm": "Holm"}
DETAIL = ("topics", "p", "effect d")


def telling_first(found: Sequence[Difference]) -> list[Difference]:
    """Return the differences by corrected p, then p, then effect size; untested ones last."""
    none = 2.0
    return sorted(
        found,
        key=lambda d: (
            none if d.corrected is None else d.corrected,
            none if d.p is None else d.p,
            -abs(d.effect or 0.0),
            -abs(d.difference),
        ),
    )


def fold_differences(found: Sequence[Difference]) -> tuple[list[Difference], list[str]]:
    """Return the differences by measures that are no repetition, and lines on those that are."""
    columns: dict[str, list[Hashable]] = {}
    for d in found:
        cell = (d.before, d.after, d.mean_before, d.mean_after, tuple(d.interval), d.corrected)
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
    tested = [d.corrected for d in found if d.corrected is not None]
    if not tested:
        yield f"{by}: no difference can be tested"
        return
    significant = sum(p < SIGNIFICANT for p in tested)
    verb = "is" if significant == 1 else "are"
    after = CORRECTIONS[found[0].correction]
    yield (
        f"{by}: {significant} of {plural(len(tested), 'difference')} {verb} significant"
        f" (p < {SIGNIFICANT} after {after}; the smallest is {probability(min(tested))})"
    )


def difference_table(
    found: Sequence[Difference],
    names: Sequence[str] = (),
    wide: bool = False,
    show_all: bool = True,
) -> TextTable:
    """Return a row for each measure of each pair of systems; what is unjudged, if anything.

    The most significant and the largest come first. `names` are those of the leaderboards: what
    all rows share of them stands in the title. `wide` adds topics, uncorrected p and effect size.
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
            probability(d.corrected),
            *(map(gaps, side) if is_open else ()),
            *((d.topics, probability(d.p), number(d.effect, 2)) if wide else ()),
        )
        for d, side, system in zip(shown, sides, systems, strict=True)
    )
    open_columns = ("unjudged before", "unjudged after") if is_open else ()
    corrected = f"p ({CORRECTIONS[shown[0].correction]})"
    columns = ("measure", *headers, *CORE, corrected, *open_columns, *(DETAIL if wide else ()))
    among = [name for system in _systems(found, names)[2] for name in system]
    made = table(columns, rows, left=1 + len(headers), wide=wide, among=among)
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
    moved, topics = [d for d in telling_first(found) if d.moved], TopicNames()
    for d in moved if show_all else moved[:MOST_MOVED]:
        moves = ", ".join(
            f"{topics.of(m.topic_id)} {m.before:.3f} -> {m.after:.3f}" for m in d.moved
        )
        yield f"moved most, {d.measure}, {d.before} -> {d.after}: {moves}"


def hidden_differences(found: Sequence[Difference], wide: bool, show_all: bool) -> Iterator[str]:
    """Yield lines on the rows and columns that the table does not show."""
    hidden = len(found) - len(first_rows(found, show_all))
    yield from hidden_line(hidden, "difference")
    if found and not wide:
        yield "topics, uncorrected p and effect size d: --wide or --json"


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


# What `compare --trend` prints: a row for each run on each night, and the last night's flips.
def trend_table(found: Sequence[TrendPoint], wide: bool = False) -> TextTable:
    """Return a row for each run on each night by each measure, the newest night last."""
    gains = any(point.improvement for point in found)
    rows = (
        (
            point.entry,
            point.score.run_id,
            point.score.measure,
            number(point.score.mean, MEAN_DIGITS),
            interval((point.score.low, point.score.high)),
            f"{point.score.judged}/{point.score.expected}",
            signed(point.change.difference) if point.change else "",
            probability(point.change.p) if point.change else "",
            "" if point.flipped is None else point.flipped,
            *(_gain_cells(point.improvement) if gains else ()),
        )
        for point in found
    )
    change = ("change", "p", "flipped", *(("RI", "delta RI", "ER") if gains else ()))
    columns = ("night", "run", "measure", "mean", "95 %", "judged", *change)
    return table(columns, rows, left=3, once=("run", "measure"), wide=wide)


def _gain_cells(gain: Improvement | None) -> Sequence[str]:
    if gain is None:
        return ("", "", "")
    return (signed(gain.relative), signed(gain.delta), number(gain.effect_ratio, 3))


# What `meta-evaluate` prints: measures of one name, the best pair of all, each coefficient.
COLUMNS = ("judge", "measure", "truth", "correlation", "value", "95 % over topics")
ONCE = ("judge", "truth", "measure", "correlation", "topics")


MOST_PAIRS = 3
"""Pairs of one name that have a sentence."""


def in_order(found: Sequence[Correlated]) -> list[Correlated]:
    """Return the pairs of one name, then the others, each by the first coefficient, highest first.

    Which pair is the best of many is partly chance: what was meant to be alike stands first.
    """
    return sorted(found, key=lambda one: (not one.of_one_name, -_value(_first(one))))


def fold_pairs(found: Sequence[Correlated]) -> tuple[list[Correlated], list[str]]:
    """Return the pairs by measures that repeat no other one, and lines on those that do.

    Of equal measures that one stays which the truth has by the same name: its pairs come first.
    """
    by_judge: dict[str, dict[str, list[Hashable]]] = {}
    for one in found:
        cells: list[Hashable] = [*sorted(zip(one.runs, one.predicted, strict=True))]
        by_judge.setdefault(one.name, {}).setdefault(one.measure, cells)
    folded = {name: fold_equal(columns) for name, columns in by_judge.items()}
    lines = [line for _, own in folded.values() for line in own]
    return [one for one in found if one.measure in folded[one.name][0]], lines


def correlation_lines(found: Sequence[Correlated], what: str = "run") -> Iterator[str]:
    """Yield a sentence on each of the first pairs of one name, and on the best of all pairs.

    `what` is put in order, a run or an answer.
    """
    for one in [one for one in in_order(found) if one.of_one_name or len(found) == 1][:MOST_PAIRS]:
        yield _sentence(one, what)
    for one in sorted(found, key=lambda one: -_value(_first(one)))[: len(found) > 1]:
        yield f"best of {len(found)} pairs: {_sentence(one, what, 'most ')}"


def _sentence(one: Correlated, what: str, most: str = "") -> str:
    first, runs = _first(one), plural(len(one.runs), what)
    if first is None or first.value is None:
        return f"no coefficient is defined on {runs}"
    over = interval(first.topics)
    bounds = "" if over == "n/a" else f" ({over} over topics)"
    return (
        f"{one.measure} by {one.name} orders {runs} {most}as {one.truth_measure} does:"
        f" {first.name} {first.value:.3f}{bounds}{_decided(one.decisions)}"
    )


def _decided(found: Decisions | None) -> str:
    """Return how many pairs of runs a test tells apart by both sides; empty where not known."""
    if found is None:
        return ""
    opposite = f", {found.opposite:,} of them the other way round" if found.opposite else ""
    return (
        f"; a test tells {found.judge:,} of {found.pairs:,} pairs apart, by the truth"
        f" {found.truth:,}, by both {found.same + found.opposite:,}{opposite}"
    )


def team_table(found: Sequence[Correlated], wide: bool = False) -> TextTable | None:
    """Return a row for each team of the first pair that has any; None without."""
    one = next((one for one in in_order(found) if one.teams), None)
    if one is None:
        return None
    rows = (
        (team.team, team.runs, number(team.own), interval(team.interval), number(team.others))
        for team in one.teams
    )
    headers = ("team", "runs", "pairs in order", "95 %", "kendall without it")
    made = table(headers, rows, left=1, wide=wide)
    title = f"pairs of a run of the team and one of another team, {one.measure}"
    return TextTable(made.columns, title, wide)


def moved_order_lines(found: Sequence[OrderMoved]) -> Iterator[str]:
    """Yield a line on how far the order by each measure moves, and the runs that move most."""
    for one in found:
        moves = ", ".join(f"{r} {a} -> {b}" for r, a, b in one.moves[:MOST_MOVED] if a != b)
        change = "n/a" if one.difference is None else f"{one.difference:+.3f}"
        yield (
            f"moved, {one.measure}: kendall {number(one.tau)} between the two; with"
            f" {one.truth_measure} {number(one.before)} -> {number(one.after)} ({change},"
            f" {interval(one.interval)} over topics); most: {moves or 'no run'}"
        )


def correlation_table(
    found: Sequence[Correlated], wide: bool = False, show_all: bool = True, what: str = "run"
) -> TextTable:
    """Return a row for each coefficient of each pair of measures; what is unjudged, if anything.

    Pairs of one name come first, then those that agree most.
    """
    counts = {id(one): one.items_unjudged() for one in found}
    is_open = any(of_truth or of_judge for of_truth, of_judge in counts.values())
    rows = (
        (
            one.name,
            one.measure,
            one.truth_measure,
            c.name,
            number(c.value),
            interval(c.topics),
            interval(c.runs),
            len(one.runs),
            one.topics,
            *(("n/a" if n is None else n for n in reversed(counts[id(one)])) if is_open else ()),
        )
        for one, c in first_rows(_rows(found), show_all)
    )
    more = ("unjudged", "unjudged in the truth") if is_open else ()
    headers = (*COLUMNS, f"95 % over {what}s", f"{what}s", "topics", *more)
    return table(headers, rows, left=4, once=(*ONCE, f"{what}s"), wide=wide)


def hidden_rows(found: Sequence[Correlated], show_all: bool) -> Iterator[str]:
    """Yield a line on the coefficients that the table does not show."""
    rows = _rows(found)
    yield from hidden_line(len(rows) - len(first_rows(rows, show_all)), "coefficient")


def _rows(found: Sequence[Correlated]) -> list[tuple[Correlated, Correlation]]:
    return [(one, c) for one in in_order(found) for c in one.correlations]


def _first(one: Correlated) -> Correlation | None:
    return one.correlations[0] if one.correlations else None


def _value(first: Correlation | None) -> float:
    return -2.0 if first is None or first.value is None else first.value


# What `compare --power` prints: how small a difference topics show, and what one needs.
def power_table(found: Sequence[Power], show_all: bool = True, wide: bool = False) -> TextTable:
    """Return the smallest differences that topics show: a row for each measure and number."""
    runs = found[0].runs
    rows = [
        (
            one.measure,
            number(one.deviation, 3),
            small.topics,
            *(number(d, 3) for d in small.by_test),
        )
        for one in found
        for small in one.smallest
    ]
    columns = ("measure", "deviation", "topics", "a pair", "Tukey HSD", "Holm")
    made = table(columns, first_rows(rows, show_all), left=1, wide=wide)
    title = (
        f"smallest difference that is significant 8 of 10 times: of a pair of runs, and of any two"
        f" of {runs} runs; from a pilot of {plural(found[0].pilot_topics, 'topic')}"
    )
    return TextTable(made.columns, title, wide)


def power_lines(found: Sequence[Power]) -> Iterator[str]:
    """Yield how many topics a difference needs, and what is not shown."""
    for one in found:
        if one.needed is not None:
            pair, tukey, holm = (_topics(n) for n in one.needed.by_test)
            yield (
                f"{one.measure}: a difference of {one.difference:g} needs {pair} topics for a pair,"
                f" for any two of {one.runs} runs {tukey} by Tukey HSD, {holm} by Holm"
            )
    if any(d is None for one in found for small in one.smallest for d in small.by_test):
        yield "n/a: on so few topics no difference is significant, however large"


def _topics(needed: int | None) -> str:
    return "too many" if needed is None else f"{needed:,}"
