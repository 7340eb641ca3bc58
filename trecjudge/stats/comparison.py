"""Two systems, or two judgments of one system, side by side, paired over topics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from trecjudge.errors import InputError, unknown
from trecjudge.findings import Finding, OnFinding
from trecjudge.measures import DIGITS, MOST_COMPARED
from trecjudge.records import Place
from trecjudge.results.statistics import Unjudged
from trecjudge.stats.alignment import few, report_topics
from trecjudge.stats.paired import effect_size, holm, max_t, sign_flip
from trecjudge.stats.resampling import NO_INTERVAL, Array, Interval, mean_intervals
from trecjudge.stats.scores import Scores

Correction = Literal["max-t", "holm"]
"""How p is corrected for several comparisons: `paired.max_t`, or `paired.holm`."""
MOST_MOVED = 5
"""Topics listed of a difference: those that changed most."""


class System(NamedTuple):
    """A run of a leaderboard."""

    scores: Scores
    run_id: str

    @property
    def name(self) -> str:
        """`leaderboard: run`."""
        return f"{self.scores.name}: {self.run_id}"


@dataclass(frozen=True, slots=True)
class TopicDelta:
    """The value of a measure on a topic, before and after."""

    topic_id: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Difference:
    """After minus before by one measure, over the topics that both have.

    `interval` is its 95 % bootstrap interval, `p` that of the paired sign-flip test, `corrected`
    the same for all comparisons by this measure at once, by `correction`; `effect` Cohen's d of the
    paired differences, `changed` on how many topics they are not 0. `only_before` and `only_after`
    are topics with a value on only one side, which are in no other figure. Without common topics
    the means are the `all` rows, and nothing is tested. `unjudged_before` and `unjudged_after` are
    what is known of the runs' unjudged items, with the bounds of their whole means.
    """

    measure: str
    before: str
    after: str
    topics: int
    mean_before: float
    mean_after: float
    interval: Interval = NO_INTERVAL
    p: float | None = None
    corrected: float | None = None
    effect: float | None = None
    moved: Sequence[TopicDelta] = ()
    changed: int = 0
    only_before: Sequence[str] = ()
    only_after: Sequence[str] = ()
    unjudged_before: Unjudged | None = None
    unjudged_after: Unjudged | None = None
    correction: Correction = "max-t"

    @property
    def difference(self) -> float:
        """By how much the mean grew."""
        return round(self.mean_after - self.mean_before, DIGITS)


def pairs_of(
    tables: Sequence[Scores], against: str = "", only: Collection[str] = ()
) -> list[tuple[System, System]]:
    """Return which systems to compare.

    Runs that several leaderboards have are compared with themselves, the first leaderboard's
    before the others'; else all runs with `against`, or with the first run there is. Raises
    InputError where there is nothing to compare.
    """
    every = {run for table in tables for run in table.runs}
    for run in (*only, *([against] if against else [])):
        if run not in every:
            raise InputError(unknown("run", run, every))
    wanted = [
        [run for run in table.runs if not only or run in only or run == against] for table in tables
    ]
    if sum(map(len, wanted)) > 2 * MOST_COMPARED:
        count = f"{sum(map(len, wanted)):,} runs are more than {2 * MOST_COMPARED:,}"
        raise InputError(f"{tables[0].name}: {count} to compare; name those wanted (--run)")
    common = set(wanted[0]).intersection(*wanted[1:]) if len(tables) > 1 else set()
    if common and not against:
        return [
            (System(tables[0], run), System(other, run))
            for run in wanted[0]
            if run in common
            for other in tables[1:]
        ]
    systems = [System(t, run) for t, runs in zip(tables, wanted, strict=True) for run in runs]
    first = next((s for s in systems if s.run_id == against), systems[0] if systems else None)
    pairs = [(first, other) for other in systems if first and other is not first]
    if not pairs:
        names = ", ".join(table.name for table in tables)
        raise InputError(f"{names}: one run; give a second leaderboard, or one of several runs")
    return pairs


def compare(
    pairs: Sequence[tuple[System, System]],
    measures: Collection[str] = (),
    correction: Correction = "max-t",
) -> list[Difference]:
    """Return the difference of each pair by each measure that both have.

    Raises InputError for a measure that is not there, and where two leaderboards have none in
    common.
    """
    found: list[Difference] = []
    values: list[dict[str, float]] = []
    for before, after in pairs:
        shared = [m for m in before.scores.choose_measures(measures) if m in after.scores.measures]
        if not shared:
            raise InputError(
                f"{before.scores.name} and {after.scores.name} have no measure in common: there"
                f" {', '.join(before.scores.measures)}; here {', '.join(after.scores.measures)}"
            )
        for measure in shared:
            one = difference(before, after, measure)
            if one is not None:
                gaps = [s.scores.unjudged.get((s.run_id, measure)) for s in (before, after)]
                one = replace(one, unjudged_before=gaps[0], unjudged_after=gaps[1])
                found.append(replace(one, correction=correction))
                values.append(_differences(before, after, measure))
    return _correct_p_values(found, values, correction)


def _differences(before: System, after: System, measure: str) -> dict[str, float]:
    old, new = (values_by_topic(system, measure) for system in (before, after))
    return {topic: new[topic] - value for topic, value in old.items() if topic in new}


def difference(
    before: System, after: System, measure: str, lost: float | None = None
) -> Difference | None:
    """Return the difference of two systems by a measure; None where one has no value.

    `lost` is what a value counts that is gone: a topic of both leaderboards on which only the
    system before has a value. One that is new is compared with the mean before. With None such
    topics are left out.
    """
    left, right = (values_by_topic(system, measure) for system in (before, after))
    if lost is not None and left:
        mean = sum(left.values()) / len(left)
        both = [topic for topic in before.scores.topics if topic in set(after.scores.topics)]
        left, right = (
            {t: left.get(t, mean) for t in (*left, *both) if t in left or t in right},
            {t: right.get(t, lost) for t in (*right, *both) if t in left or t in right},
        )
    kept = [topic for topic in left if topic in right]
    apart = [topic for topic in left if topic not in right]
    strange = [topic for topic in right if topic not in left]
    if not kept:
        return _of_means(before, after, measure, apart, strange)
    olds, news = (np.array([side[topic] for topic in kept]) for side in (left, right))
    differences = (news - olds)[None]
    furthest = np.argsort(-np.abs(news - olds), kind="stable")[:MOST_MOVED].tolist()
    return Difference(
        measure=measure,
        before=before.name,
        after=after.name,
        topics=len(kept),
        mean_before=round(float(olds.mean()), DIGITS),
        mean_after=round(float(news.mean()), DIGITS),
        interval=mean_intervals(differences)[0].round_to(DIGITS),
        # On one topic every flip is as large as the difference: there is no test.
        p=float(sign_flip(differences)[0]) if len(kept) > 1 else None,
        effect=effect_size(differences[0]),
        moved=[
            TopicDelta(kept[i], float(olds[i]), float(news[i]))
            for i in furthest
            if olds[i] != news[i]
        ],
        changed=int((olds != news).sum()),
        only_before=apart,
        only_after=strange,
    )


def values_by_topic(system: System, measure: str) -> dict[str, float]:
    """Return the values of a system by topic, as far as it has some."""
    row = system.scores.values[measure][system.scores.runs.index(system.run_id)]
    found = zip(system.scores.topics, row.tolist(), strict=True)
    return {topic: value for topic, value in found if not np.isnan(value)}


def _of_means(
    before: System,
    after: System,
    measure: str,
    only_before: Sequence[str],
    only_after: Sequence[str],
) -> Difference | None:
    old, new = (
        float(s.scores.overall(measure)[s.scores.runs.index(s.run_id)]) for s in (before, after)
    )
    if np.isnan(old + new):
        return None
    names = measure, before.name, after.name
    return Difference(*names, 0, old, new, only_before=only_before, only_after=only_after)


def _correct_p_values(
    found: Sequence[Difference], values: Sequence[Mapping[str, float]], correction: Correction
) -> list[Difference]:
    result = list(found)
    for measure in {d.measure for d in found}:
        # By measure: each measure answers a question of its own.
        own = [i for i, d in enumerate(found) if d.measure == measure and d.p is not None]
        for i, p in zip(own, _corrected(found, values, own, correction).tolist(), strict=True):
            result[i] = replace(found[i], corrected=p)
    return result


def _corrected(
    found: Sequence[Difference],
    values: Sequence[Mapping[str, float]],
    own: Sequence[int],
    correction: Correction,
) -> Array:
    if correction == "holm" or len(own) < 2:
        return holm(np.array([found[i].p for i in own], dtype=np.float64))
    topics = dict.fromkeys(topic for i in own for topic in values[i])
    return max_t(np.array([[values[i].get(topic, np.nan) for topic in topics] for i in own]))


SystemPair = tuple[System, System]


def report_unmatched(
    tables: Sequence[Scores],
    pairs: Sequence[SystemPair],
    found: Sequence[Difference],
    report: OnFinding,
    only: Collection[str] = (),
    measures: Collection[str] = (),
) -> None:
    """Name what is in no difference, though nobody asked to leave it out.

    `only` and `measures` are the runs and measures that were asked for, all where empty.
    """
    _report_runs(tables, pairs, only, report)
    for before, after in _tables(pairs):
        report_topics(before, after, report)
        _report_measures(before, after, measures, report)
    for difference in found:
        _report_values(difference, pairs, report)
    _report_nothing(pairs, found, measures, report)


def _tables(pairs: Iterable[SystemPair]) -> list[tuple[Scores, Scores]]:
    # Two runs of one leaderboard have its topics and measures in common.
    apart = (pair for pair in pairs if pair[0].scores is not pair[1].scores)
    ids = {(id(a.scores), id(b.scores)): (a.scores, b.scores) for a, b in apart}
    return list(ids.values())


def _report_runs(
    tables: Sequence[Scores], pairs: Sequence[SystemPair], only: Collection[str], report: OnFinding
) -> None:
    compared = {(id(system.scores), system.run_id) for pair in pairs for system in pair}
    for table in tables:
        asked = [run for run in table.runs if not only or run in only]
        lacking = [run for run in asked if (id(table), run) not in compared]
        if lacking:
            message = (
                f"has {len(lacking)} runs that are not in every leaderboard and are not compared:"
                f" {few(lacking)}; --against RUN compares all runs with one"
            )
            report(Finding("run_not_compared", Place(table.name), message, few(lacking)))


def _report_measures(
    before: Scores, after: Scores, measures: Collection[str], report: OnFinding
) -> None:
    for here, there in ((before, after), (after, before)):
        asked = [m for m in here.measures if not measures or m in measures]
        lacking = [m for m in asked if m not in there.measures]
        if lacking:
            message = f"has no {few(lacking)}, which {here.name} has: not compared"
            report(Finding("measure_one_sided", Place(there.name), message, few(lacking)))


def _report_values(difference: Difference, pairs: Sequence[SystemPair], report: OnFinding) -> None:
    """Name topics of both leaderboards on which one of two runs has no value."""
    # Only topics that both leaderboards have: the others are named by table.
    names = {(a.name, b.name): (a.scores.topics, b.scores.topics) for a, b in pairs}
    topics = names[difference.before, difference.after]
    sides = (
        (difference.after, difference.only_before, topics[1]),
        (difference.before, difference.only_after, topics[0]),
    )
    for lacks, apart, there in sides:
        lacking = [topic for topic in apart if topic in set(there)]
        if lacking:
            message = (
                f"{difference.measure} has no value on {len(lacking)} topics, unjudged or not"
                f" defined, which are in neither mean: {few(lacking)}"
            )
            report(Finding("value_one_sided", Place(lacks), message, few(lacking)))


def _report_nothing(
    pairs: Sequence[SystemPair],
    found: Sequence[Difference],
    measures: Collection[str],
    report: OnFinding,
) -> None:
    """Name the runs that have no value at all by a measure that both leaderboards have."""
    there = {(d.before, d.after, d.measure) for d in found}
    for before, after in pairs:
        asked = [m for m in before.scores.measures if not measures or m in measures]
        for measure in asked:
            if measure not in after.scores.measures:
                continue
            if (before.name, after.name, measure) not in there:
                message = f"{measure} has no value there or in {after.name}: not compared"
                report(Finding("value_one_sided", Place(before.name), message))
