"""The items of a job that people could label, those that would narrow the ranking most first."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trecjudge.errors import InputError, unknown
from trecjudge.evaluation.comparing import judgments_at
from trecjudge.findings import OnFinding, ignore
from trecjudge.inputs.labels import (
    DECIDED,
    ItemKey,
    LabelledItem,
    Labels,
    is_other_side,
    key_of,
    label_of,
    labels_of,
    takes_labels,
)
from trecjudge.inputs.labels import Vote as HumanVote
from trecjudge.judging.judge import Judge
from trecjudge.measures import Fill, LeaderboardSpec, MeasureSpec
from trecjudge.records import Judgment, Response
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.scores.corrections import HumanLabels, can_be_labelled
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.scores.response_scores import compute_measure
from trecjudge.scores.scoring import header_spec, panel_of
from trecjudge.scores.statistics import evidence_of
from trecjudge.stats.labelling import LabelCandidate, LabelCandidates, draw_sample, near_ties
from trecjudge.stats.resampling import SEED
from trecjudge.stats.shrinkage import FEWEST_LABELS, Forecast, forecast

RANDOM_PART = 0.2
"""The share of a mixed list that is drawn at random: those of it are a sample of all items."""


Way = Literal["strata", "cut"]
CUTS = (0.25, 0.75)
"""Half-way between the weights of no, partial and full support: there the label changes."""


class Chosen(NamedTuple):
    """Items to label, each with its gain on a judge's measure, and what their labels would buy.

    `forecast` is None where it cannot be told, for the reason in `why`.
    """

    items: list[tuple[float, LabelCandidate]]
    forecast: Forecast | None
    why: str = ""
    judge: str = ""
    measure: str = ""


@dataclass(slots=True)
class _Pool:
    """The items of a job that could be labelled, read once: all, and those that move a measure."""

    reader: JudgmentsReader
    board: Leaderboard
    people: HumanLabels
    measure: MeasureSpec
    every: LabelCandidates
    movable: LabelCandidates

    @classmethod
    def read(
        cls,
        path: Path,
        labelled: Mapping[ItemKey, str],
        measure_name: str,
        trust: bool,
        report: OnFinding,
        at_random: bool | None = None,
    ) -> _Pool:
        """Read a job, for one way to choose or, with None, for both.

        Raises InputError as `label_next` does.
        """
        reader = judgments_at(path)
        panel = panel_of(reader, trust)
        spec = header_spec(panel, reader.header)
        takers = {named.name: named.judge for named in panel if takes_labels(named.judge)}
        measure = _measure(spec, measure_name)
        if (fill := spec.fill) is None or (measure.judge and measure.judge not in takers):
            raise InputError(f"{reader.path}: {measure.name}: its judge takes no labels of people")
        board = Leaderboard(spec, reader.header.topics)
        if isinstance(labelled, Labels):
            labelled.rename(labels_of(takers.values()), report)
        people = HumanLabels(labelled, takers)
        only = replace(spec, measures=(measure,), sort_by=measure.name)
        pool = cls(reader, board, people, measure, LabelCandidates(), LabelCandidates())
        for response, judgments in reader:
            board.add(response, judgments)
            if labelled:
                people.add(only, response, judgments)
            items = list(_candidates(fill, measure, response, judgments, labelled, takers))
            done = sum(label_of(labelled, j)[1] is not None for j in judgments) if labelled else 0
            place = response.run_id, response.topic_id
            if at_random is not False:
                pool.every.add(*place, items, done)
            if not at_random:
                pool.movable.add(*place, [one for one in items if one[1].reach], done)
        board.finish()
        # On the mean a response counts only a topic's share.
        for found in (pool.every, pool.movable):
            found.reaches = array("d", (reach / len(board.expected) for reach in found.reaches))
        return pool

    def choose(self, budget: int, at_random: bool = False) -> Chosen:
        """Return the items that would change most, or a sample of all."""
        # A random sample is one of all that could be labelled, whatever that would change.
        found = self.every if at_random else self.movable
        if at_random and budget < len(found):
            order, rng = found.in_order(), np.random.default_rng(SEED)
            places = draw_sample((found.owners[n] for n in order), budget, rng)
            chosen = [(found.reaches[order[i]] ** 2, order[i]) for i in places]
        else:
            runs = sorted(self.board.scores)
            values = np.array([self.board.values(run, self.measure) for run in runs], dtype=float)
            chosen = found.best(near_ties(runs, values) if len(found) else {}, budget)
        more = Counter(found.responses[found.owners[number]] for _, number in chosen)
        again = _read_again(self.reader, found, np.array([n for _, n in chosen], dtype=np.intp))
        how = "random" if at_random else "ranking"
        picked = [
            (gain, replace(one, sampled=how))
            for (gain, _), (_, one) in zip(chosen, again, strict=True)
        ]
        bought = _forecast(self.board, self.people, self.measure, more)
        return Chosen(picked, *bought, self.measure.judge, self.measure.name)


def label_next(
    path: Path,
    budget: int,
    labelled: Mapping[ItemKey, str],
    measure_name: str = "",
    at_random: bool = False,
    trust: bool = False,
    report: OnFinding = ignore,
) -> Chosen:
    """Return the `budget` items whose labels would narrow the ranking most.

    `labelled` are left out, and tell what more labels would buy. `measure_name` is that of the
    ranking, the job's own where it is empty. `at_random` draws responses, and items of these,
    instead, the same ones each time. `trust` lets code of others that the file names be imported.
    Raises InputError for a measure that is not there, a judge that takes no labels, or labels in
    words that it does not know.
    """
    pool = _Pool.read(path, labelled, measure_name, trust, report, at_random)
    return pool.choose(budget, at_random)


def label_mixed(
    path: Path,
    budget: int,
    labelled: Mapping[ItemKey, str],
    measure_name: str = "",
    trust: bool = False,
    report: OnFinding = ignore,
    way: Way | None = None,
) -> Chosen:
    """Return the same, but RANDOM_PART of it is drawn at random, and each item says how it came.

    The others are chosen as `label_by` does where a `way` is given.
    """
    pool = _Pool.read(path, labelled, measure_name, trust, report)
    best = label_by(path, budget, labelled, way, trust) if way else pool.choose(budget)
    # Where the ranking hangs on few items, or on none by itself, chance fills the list.
    part = max(math.ceil(budget * RANDOM_PART), budget - len(best.items))
    drawn = pool.choose(part, at_random=True)
    places = {(one.run_id, one.topic_id, one.place) for _, one in drawn.items}
    others = [
        (gain, one)
        for gain, one in best.items
        if (one.run_id, one.topic_id, one.place) not in places
    ]
    by_weight = [(one.share or 0.0, one) for _, one in drawn.items]
    return best._replace(items=[*(by_weight if way else drawn.items), *others][:budget])


def label_by(
    path: Path, budget: int, labelled: Mapping[ItemKey, str], way: Way, trust: bool = False
) -> Chosen:
    """Return items that show the judge's errors, whatever they would change in the ranking.

    `strata` draws as many of each run and label as of any other, so that rare labels and every run
    are there; `cut` takes those whose weight is nearest to where the label changes. `labelled` are
    left out. Raises InputError where there is no such item.
    """
    reader = judgments_at(path)
    takers = {one.name: one.judge for one in panel_of(reader, trust) if takes_labels(one.judge)}
    found = LabelCandidates()
    strata: list[tuple[str, str]] = []
    for response, judgments in reader:
        own = [
            (place, _candidate(judgment, 0.0, judgment.expected))
            for place, judgment in enumerate(judgments)
            if way == "strata" or judgment.expected is not None
            if can_be_labelled(takers.get(judgment.judge), judgment)
            if not is_other_side(judgment)
            if label_of(labelled, judgment)[1] is None
        ]
        found.add(response.run_id, response.topic_id, own)
        strata += [(response.run_id, judgments[place].label or "") for place, _ in own]
    if not len(found):
        lacking = " has `expected`, by which it is near a cut" if way == "cut" else ""
        raise InputError(f"{reader.path}: no item to label{lacking}")
    if way == "strata":
        order = np.array(draw_sample(strata, budget, np.random.default_rng(SEED)), dtype=np.intp)
    else:
        away = np.abs(np.array(found.shares)[:, None] - CUTS).min(axis=1)
        order = np.argsort(away, kind="stable")[:budget]
    again = _read_again(reader, found, order)
    return Chosen([(one.share or 0.0, replace(one, sampled=way)) for _, one in again], None)


def disputed(
    path: Path, budget: int, labelled: Labels, trust: bool = False, report: OnFinding = ignore
) -> list[LabelCandidate]:
    """Return the first `budget` items on which people differ, each with what they said.

    Those that they have agreed on in the end are left out. Raises InputError where there is none.
    """
    reader = judgments_at(path)
    panel = panel_of(reader, trust)
    takers = {named.name: named.judge for named in panel if takes_labels(named.judge)}
    labelled.rename(labels_of(takers.values()), report)
    found: dict[ItemKey, LabelCandidate] = {}
    for response, judgments in reader:
        said = labelled.votes((response.topic_id, response.run_id))
        for place, judgment in enumerate(judgments):
            votes = _votes_on(said, judgment)
            if (
                votes
                and not is_other_side(judgment)
                and can_be_labelled(takers.get(judgment.judge), judgment)
            ):
                one = _shown(response, judgment, place, 0.0, None)
                given = tuple((labelled.person(vote), vote[0]) for vote in votes)
                found.setdefault(key_of(judgment), replace(one, votes=given))
    if not found:
        raise InputError(f"{labelled.files[0]}: people differ on no item of {reader.path}")
    return list(found.values())[:budget]


def _votes_on(
    said: Mapping[LabelledItem, Sequence[HumanVote]], judgment: Judgment
) -> Sequence[HumanVote]:
    """Return what people say of an item on which they differ; nothing of any other."""
    _, _, *item = key_of(judgment)
    names = judgment.nugget.names if judgment.nugget else ()
    keys = [(*item[:2], name) for name in names] or [tuple(item)]
    votes = next((said[key] for key in keys if key in said), ())
    differ = len({vote[0] for vote in votes}) > 1
    return votes if differ and all(vote[3] != DECIDED for vote in votes) else ()


def _forecast(
    board: Leaderboard,
    people: HumanLabels,
    measure: MeasureSpec,
    more: Mapping[tuple[str, str], int],
) -> tuple[Forecast | None, str]:
    """Return what so many more labels by response would buy, or why that cannot be told."""
    if not people.labels:
        return None, "give those that you have with --labels: they show how far the judge errs"
    found = people.by_measure.get(measure.name)
    evidence = None if found is None else evidence_of(board, found, measure)
    if evidence is None:
        return None, f"{measure.name} needs all labels of a response"
    if evidence.labels < FEWEST_LABELS:
        return None, f"{evidence.labels} labels are too few, {FEWEST_LABELS} are needed"
    if evidence.is_one_sided:
        return None, f"all {evidence.labels} labels say the same"
    return forecast(evidence, more), ""


def label_for_calibration(
    path: Path, budget: int, labelled: Mapping[ItemKey, str], trust: bool = False
) -> list[LabelCandidate]:
    """Return the `budget` items whose labels are to calibrate the offline attester.

    They are drawn at random, the same ones each time, from the items that have a weight to be
    expected, or none only for their language; `labelled` are left out. Raises InputError where
    there is no such item.
    """
    reader = judgments_at(path)
    panel = panel_of(reader, trust)
    takers = {named.name for named in panel if takes_labels(named.judge)}
    found = LabelCandidates()
    for response, judgments in reader:
        weighed = [
            (place, _candidate(judgment, 0.0, judgment.expected))
            for place, judgment in enumerate(judgments)
            if judgment.claim is None and judgment.opponent is None
            if judgment.expected is not None or judgment.uncalibrated
            if judgment.judge in takers and label_of(labelled, judgment)[1] is None
        ]
        found.add(response.run_id, response.topic_id, weighed)
    if not len(found):
        message = "no item to label has `expected`, the weight that the offline attester gives"
        raise InputError(f"{reader.path}: {message}")
    # Strata of the weight are no better: see the notes on the benchmarks.
    order = np.random.default_rng(SEED).permutation(len(found))
    again = _read_again(reader, found, np.sort(order[:budget]))
    return [replace(one, sampled="random") for _, one in again]


def _measure(spec: LeaderboardSpec, name: str) -> MeasureSpec:
    by_name = {measure.name: measure for measure in spec.measures}
    if (name or spec.ranked_by) not in by_name:
        raise InputError(unknown("measure", name, by_name))
    found = by_name[name or spec.ranked_by]
    if found.fit is None or name:
        return found
    # No label says by itself what it changes in a fit: another measure of its judge does.
    others = (m for m in spec.measures if m.fit is None and m.judge == found.judge)
    return next(others, found)


def _candidates(
    fill: Fill,
    measure: MeasureSpec,
    response: Response,
    judgments: Sequence[Judgment],
    labelled: Mapping[ItemKey, str],
    takers: Mapping[str, Judge],
) -> Iterator[tuple[int, LabelCandidate]]:
    """Yield the items of a response that have no label yet and that people could label.

    Each with the place of its judgment.
    """
    places = [place for place, j in enumerate(judgments) if measure.judge in ("", j.judge)]
    own = [judgments[place] for place in places]
    now = compute_measure(measure, response, own)
    for i, judgment in enumerate(own):
        known = label_of(labelled, judgment)[1] is not None
        if known or is_other_side(judgment):
            continue
        if not can_be_labelled(takers.get(judgment.judge), judgment):
            continue
        worst, best = (
            compute_measure(measure, response, [*own[:i], fill(judgment, end), *own[i + 1 :]])
            for end in (False, True)
        )
        # Undefined at either end: its label cannot move the mean by a known amount.
        reach = 0.0 if worst is None or best is None else best - worst
        undecided = not judgment.judged or now is None or worst is None or not reach
        share = None if undecided else ((now or 0.0) - (worst or 0.0)) / reach
        yield places[i], _candidate(judgment, abs(reach), share)


def _candidate(judgment: Judgment, reach: float, share: float | None) -> LabelCandidate:
    place = judgment.sentence_index, judgment.doc_id
    nugget = next(iter(judgment.nugget.names), "") if judgment.nugget else ""
    against = judgment.opponent.run_id if judgment.opponent else ""
    named = judgment.run_id, judgment.topic_id
    return LabelCandidate(*named, *place, reach, share, nugget=nugget, against=against)


def _shown(
    response: Response, judgment: Judgment, place: int, reach: float, share: float | None
) -> LabelCandidate:
    """Return a candidate with what helps to label it."""
    texts = {sentence.index: sentence.text for sentence in response.sentences}
    index = judgment.sentence_index
    return replace(
        _candidate(judgment, reach, share),
        text=response.text if index is None else texts.get(index, ""),
        label=judgment.label or "",
        reason=judgment.reason,
        place=place,
    )


def _read_again(
    reader: JudgmentsReader, found: LabelCandidates, wanted: NDArray[np.intp]
) -> Iterator[tuple[int, LabelCandidate]]:
    """Yield the wanted candidates with their numbers, in that order, with what helps to label."""
    by_response: dict[int, list[int]] = {}
    for number in wanted.tolist():
        by_response.setdefault(found.owners[number], []).append(number)
    read: dict[int, LabelCandidate] = {}
    for owner, numbers in by_response.items():
        places = [found.places[number] for number in numbers]
        response, judgments = reader.again(*found.responses[owner], places)
        for number, place, judgment in zip(numbers, places, judgments, strict=True):
            share = found.shares[number]
            known = None if math.isnan(share) else share
            read[number] = _shown(response, judgment, place, found.reaches[number], known)
    return ((number, read[number]) for number in wanted.tolist())
