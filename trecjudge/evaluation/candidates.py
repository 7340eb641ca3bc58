"""The items of a job that people could label, those that would narrow the ranking most first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from trecjudge.errors import InputError, unknown
from trecjudge.evaluation.loading import judgments_at
from trecjudge.inputs.labels import ItemKey, TakesLabels, key_of
from trecjudge.judging.panel import panel_spec
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.records import Judgment, Response
from trecjudge.scores.leaderboard import Leaderboard, measured
from trecjudge.scores.scoring import panel_of
from trecjudge.stats.labelling import Candidate, drawn, near_ties, ranked
from trecjudge.stats.resampling import SEED


def label_next(
    path: Path,
    budget: int,
    labelled: Mapping[ItemKey, str],
    measure_name: str = "",
    at_random: bool = False,
    trust: bool = False,
) -> list[tuple[float, Candidate]]:
    """Return the `budget` items whose labels would narrow the ranking most, with their gain.

    `labelled` are left out. `measure_name` is that of the ranking, the job's own where it is
    empty. `at_random` draws responses, and items of these, instead, the same ones each time.
    `trust` lets code of others that the file names be imported.
    Raises InputError for a measure that is not there, or a judge that takes no labels.
    """
    reader = judgments_at(path)
    panel = panel_of(reader, trust)
    spec = panel_spec(panel, reader.header.leaderboard, reader.header.measures)
    takers = {named.name for named in panel if isinstance(named.judge, TakesLabels)}
    measure = _measure(spec, measure_name)
    if spec.fill is None or (measure.judge and measure.judge not in takers):
        raise InputError(f"{reader.path}: {measure.name}: its judge takes no labels of people")
    board = Leaderboard(spec, reader.header.topics)
    found: list[Candidate] = []
    for response, judgments in reader:
        board.add(response, judgments)
        own = [j for j in judgments if measure.judge in ("", j.judge)]
        items = _candidates(spec, measure, response, own, labelled, takers)
        # A random sample is one of all that could be labelled, whatever that would change.
        found += (item for item in items if item.reach or at_random)
    board.finish()
    runs = sorted(board.scores)
    values = np.array([board.values(run, measure) for run in runs], dtype=float)
    # On the mean a response counts only a topic's share.
    topics = len(board.expected)
    of_means = (replace(candidate, reach=candidate.reach / topics) for candidate in found)
    every = ranked(of_means, near_ties(runs, values))
    if at_random and budget < len(every):
        places = drawn([one for _, one in every], budget, np.random.default_rng(SEED))
        return [every[place] for place in places]
    return every[:budget]


def label_for_calibration(
    path: Path, budget: int, labelled: Mapping[ItemKey, str], trust: bool = False
) -> list[Candidate]:
    """Return the `budget` items whose labels are to calibrate the offline attester.

    They are drawn at random, the same ones each time, from the items that have a weight to be
    expected; `labelled` are left out. Raises InputError where no item has one.
    """
    reader = judgments_at(path)
    panel = panel_of(reader, trust)
    takers = {named.name for named in panel if isinstance(named.judge, TakesLabels)}
    found: dict[ItemKey, Candidate] = {}
    for response, judgments in reader:
        texts = {sentence.index: sentence.text for sentence in response.sentences}
        for judgment in judgments:
            key = key_of(judgment)
            weighed = judgment.expected is not None and judgment.claim is None
            if weighed and judgment.judge in takers and key not in labelled:
                found.setdefault(key, _to_calibrate(judgment, texts))
    if not found:
        message = "no item to label has `expected`, the weight that the offline attester gives"
        raise InputError(f"{reader.path}: {message}")
    # Strata of the weight are no better: see the notes on the benchmarks.
    keys = sorted(found, key=str)
    order = np.random.default_rng(SEED).permutation(len(keys))
    return [found[keys[place]] for place in sorted(order[:budget].tolist())]


def _to_calibrate(judgment: Judgment, texts: Mapping[int, str]) -> Candidate:
    """Return the item of a judgment, its expected weight as the share."""
    index = judgment.sentence_index
    return Candidate(
        *(judgment.run_id, judgment.topic_id, index, judgment.doc_id),
        reach=0.0,
        share=judgment.expected,
        text="" if index is None else texts.get(index, ""),
        label=judgment.label or "",
        reason=judgment.reason,
    )


def _measure(spec: LeaderboardSpec, name: str) -> MeasureSpec:
    by_name = {measure.name: measure for measure in spec.measures}
    if (name or spec.ranked_by) not in by_name:
        raise InputError(unknown("measure", name, by_name))
    return by_name[name or spec.ranked_by]


def _candidates(
    spec: LeaderboardSpec,
    measure: MeasureSpec,
    response: Response,
    own: Sequence[Judgment],
    labelled: Mapping[ItemKey, str],
    takers: set[str],
) -> Iterator[Candidate]:
    """Yield the items of a response that have no label yet and that people could label."""
    sentences = {sentence.index: sentence.text for sentence in response.sentences}
    now = measured(measure, response, own)
    for i, judgment in enumerate(own):
        known = key_of(judgment) in labelled or judgment.exists is False
        if known or judgment.judge not in takers:
            continue
        worst, best = (_with(spec, measure, response, own, i, best) for best in (False, True))
        # Undefined at either end: its label cannot move the mean by a known amount.
        reach = 0.0 if worst is None or best is None else best - worst
        undecided = not judgment.judged or now is None or worst is None or not reach
        index = judgment.sentence_index
        yield Candidate(
            judgment.run_id,
            judgment.topic_id,
            index,
            judgment.doc_id,
            reach=abs(reach),
            share=None if undecided else ((now or 0.0) - (worst or 0.0)) / reach,
            text=response.text if index is None else sentences.get(index, ""),
            label=judgment.label or "",
            reason=judgment.reason,
        )


def _with(
    spec: LeaderboardSpec,
    measure: MeasureSpec,
    response: Response,
    own: Sequence[Judgment],
    i: int,
    best: bool,
) -> float | None:
    """Return the measure with the item at its best or its worst."""
    if spec.fill is None:
        return None
    decided = spec.fill(own[i], best)
    return measured(measure, response, [*own[:i], decided, *own[i + 1 :]])
