"""Means by labels on some items: worked numbers, what never happens, how often intervals hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from trecjudge.results.statistics import Corrected
from trecjudge.stats.labelled import Labellable, row_of
from trecjudge.stats.shrinkage import (
    FEWEST_LABELS,
    SLOPES,
    LabelEvidence,
    Posterior,
    ShrinkageModel,
    fit,
    forecast,
)

Responses = Mapping[tuple[str, str], Sequence[Labellable]]


def evidence(given: Responses) -> LabelEvidence:
    """Return the evidence of responses, (run, topic), of all runs on all topics."""
    names = sorted(given)
    runs = sorted({run for run, _ in names})
    table = np.array([row_of(0.0, given[name]) for name in names])
    return LabelEvidence(
        runs, names, table, np.zeros(len(runs)), len({topic for _, topic in names})
    )


def items(judged: Sequence[float], labels: Sequence[float | None]) -> list[Labellable]:
    """Return the items of a response in which all weigh the same."""
    pairs = zip(judged, labels, strict=True)
    return [Labellable(1 / len(judged), x, x, label) for x, label in pairs]


def world(
    seed: int, labels: int, bias: float = 0.0, runs: int = 24, topics: int = 8, size: int = 8
) -> tuple[Responses, np.ndarray, np.ndarray]:
    """Return responses, the true means and the judge's; `bias` is added to what people say."""
    rng = np.random.default_rng(seed)
    drawn = set(rng.choice(runs * topics * size, labels, replace=False).tolist())
    given: dict[tuple[str, str], list[Labellable]] = {}
    truth, judged = np.zeros((runs, topics)), np.zeros((runs, topics))
    for run, quality in enumerate(rng.normal(0.55, 0.15, runs)):
        own = rng.normal(bias, 0.07)
        for topic in range(topics):
            p = quality + rng.normal(0, 0.25, size)
            said = np.digitize(p + rng.normal(0, 0.15, size), [0.35, 0.7]) / 2
            p += own + rng.normal(0, 0.07)
            people = np.digitize(p + rng.normal(0, 0.2, size), [0.35, 0.7]) / 2
            first = (run * topics + topic) * size
            known = [w if first + i in drawn else None for i, w in enumerate(people.tolist())]
            given[f"r{run:02}", f"t{topic}"] = items(said.tolist(), known)
            truth[run, topic], judged[run, topic] = people.mean(), said.mean()
    return given, truth.mean(axis=1), judged.mean(axis=1)


def held(found: Posterior, truth: np.ndarray) -> float:
    low, high = found.intervals()
    return float(((low <= truth + 1e-9) & (truth <= high + 1e-9)).mean())


def test_labels_of_all_items_are_what_people_say() -> None:
    for size in (3, 30):  # fewer than are needed to correct others, and more
        given = {("r", "t"): items([1.0] * size, [0.5] * size)}
        assert evidence(given).correct_means()[0] == {"r": Corrected(1, 0.5, 0.5, 0.5)}


def test_few_labels_change_only_their_own_items() -> None:
    given = {(run, "t"): items([0.5] * 4, [None] * 4) for run in "abc"}
    given["a", "t"] = items([0.5] * 4, [1.0, None, None, None])
    found, effect = evidence(given).correct_means()
    assert effect == {"labels": 1, "needed": FEWEST_LABELS}
    assert found["a"] == Corrected(1, 0.5 + 0.5 / 4, None, None)
    assert found["b"] == Corrected(0, 0.5, None, None)


def test_runs_without_labels_keep_their_order_and_their_distances() -> None:
    given, _, judged = world(1, labels=150, bias=-0.2)
    for name, own in given.items():
        if name[0] < "r12":
            given[name] = [one._replace(label=None) for one in own]  # type: ignore[index]
    found = fit(evidence(given)).mean[:12]
    order = np.argsort(judged[:12])
    gaps, before = np.diff(found[order]), np.diff(judged[:12][order])
    assert (gaps[before > 1e-9] > 0).all()
    assert gaps == pytest.approx(before * gaps.sum() / before.sum())


def test_one_label_more_hardly_moves_another_run() -> None:
    given, _, _ = world(2, labels=100)
    before = fit(evidence(given)).mean
    name = next(name for name, own in given.items() if own[0].label is None)
    given[name] = [given[name][0]._replace(label=0.0), *given[name][1:]]  # type: ignore[index]
    moved = np.abs(fit(evidence(given)).mean - before)
    assert np.delete(moved, int(name[0][1:])).max() < 0.01


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_means_and_intervals_stay_within_what_is_possible(label: float) -> None:
    judged = [1 - label] * 5
    given = {
        (f"r{run}", f"t{topic}"): items(judged, [label if topic < run % 5 else None] * 5)
        for run in range(20)
        for topic in range(5)
    }
    one = evidence(given)
    found = fit(one)
    for run, mean, below, above in zip(one.runs, found.mean, *found.intervals(), strict=True):
        share = int(run[1:]) % 5 / 5
        low, high = (0.0, 1 - share) if label == 0 else (share, 1.0)
        assert low - 1e-6 <= below <= mean <= above <= high + 1e-6


def test_neither_names_nor_the_order_of_topics_change_a_figure() -> None:
    given, _, _ = world(3, labels=120)
    turned = {(f"s{99 - int(r[1:])}", f"u{9 - int(t[1:])}"): own for (r, t), own in given.items()}
    found, other = evidence(given).correct_means(), evidence(turned).correct_means()
    assert found[1] == other[1]
    for run, one in found[0].items():
        assert other[0][f"s{99 - int(run[1:])}"] == one


def test_a_judge_that_is_off_on_all_runs_is_put_right() -> None:
    given, truth, judged = world(4, labels=100, bias=-0.2)
    found = fit(evidence(given))
    assert found.is_told and found.shift == pytest.approx(-0.2, abs=0.06)
    assert np.abs(found.mean - truth).mean() < np.abs(judged - truth).mean() / 2


def test_labels_drawn_at_random_correct_a_judge_that_is_wrong_on_long_responses() -> None:
    """A run of long responses gets its own error, not that of the runs of short ones."""
    rng, errors, without = np.random.default_rng(9), [], []
    for _ in range(10):
        given, truth, judged = {}, np.zeros((12, 6)), np.zeros((12, 6))
        for run, topic in np.ndindex(12, 6):
            size, share = (24, 0.4) if run < 4 else (4, 0.05)
            people = rng.choice([0.0, 0.5, 1.0], size, p=[0.3, 0.2, 0.5])
            own = np.where(rng.random(size) < share, 1.0, people)
            known = [w if rng.random() < 0.3 else None for w in people.tolist()]
            given[f"r{run:02}", f"t{topic}"] = items(own.tolist(), known)
            truth[run, topic], judged[run, topic] = people.mean(), own.mean()
        found = fit(evidence(given)).mean
        errors.append(np.abs(found - truth.mean(axis=1)))
        without.append(np.abs(judged.mean(axis=1) - truth.mean(axis=1)))
    after, before = np.mean(errors, axis=0), np.mean(without, axis=0)
    assert after[:4].mean() < before[:4].mean() / 2
    assert after[4:].mean() < before[4:].mean() + 0.01


def test_a_judge_that_is_right_on_average_is_left() -> None:
    found = [fit(evidence(world(seed, labels=40)[0])) for seed in range(10)]
    assert sum(one.is_told for one in found) <= 1
    assert np.mean([abs(one.shift) for one in found]) < 0.03


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_labels_that_all_say_the_same_do_not_correct_other_items(label: float) -> None:
    """As where people list the faults that they found, and no more."""
    given, _, judged = world(8, labels=24 * 8 * 8)
    chosen = {
        name: [one if one.label == label else one._replace(label=None) for one in own]
        for name, own in given.items()
    }
    found, effect = evidence(chosen).correct_means()
    assert effect["labels"] > FEWEST_LABELS and "shift" not in effect
    means = np.array([one.mean for one in found.values()])
    assert np.abs(means - judged).max() < 0.3
    right = {("r", "t"): items([1.0] * 30, [1.0] * 25 + [None] * 5)}  # the judge says it too
    assert evidence(right).correct_means()[1]["told"] is False


@pytest.mark.parametrize("labels", [40, 300, 900])
def test_intervals_hold_and_labels_make_nothing_worse(labels: int) -> None:
    share, errors, without = [], [], []
    for seed in range(12):
        given, truth, judged = world(seed, labels)
        found = fit(evidence(given))
        share.append(held(found, truth))
        errors.append(np.abs(found.mean - truth).mean())
        without.append(np.abs(judged - truth).mean())
    assert 0.92 <= np.mean(share) <= 0.985
    assert np.mean(errors) < np.mean(without)


def test_twenty_right_labels_leave_doubt() -> None:
    given = {(f"r{run}", "t"): items([1.0] * 8, [1.0, 1.0, *[None] * 6]) for run in range(10)}
    for one in evidence(given).correct_means()[0].values():
        assert one.low is not None and one.low < 0.97 < one.mean <= 1.0


def test_an_item_that_the_judge_left_open_is_predicted_with_more_doubt() -> None:
    given, _, _ = world(5, labels=100)
    blind = {
        name: [one._replace(blind=name[0] == "r00" and one.label is None) for one in own]
        for name, own in given.items()
    }
    found, other = fit(evidence(given)), fit(evidence(blind))
    assert other.variance[0] > found.variance[0]
    assert 0 < other.mean[0] < 1


def test_the_model_at_a_point_is_generalised_least_squares() -> None:
    """The closed form equals the one with the covariance of all items written out."""

    given, _, _ = world(6, labels=30, runs=3, topics=2, size=8)
    one = evidence(given)
    run_ratio, response_ratio, shift = 0.4, 0.3, 0.5
    model = ShrinkageModel(one)
    found = model.solve(run_ratio, model.group_responses(response_ratio), shift)
    every = [(name, item) for name, own in sorted(given.items()) for item in own]
    judged = np.array([item.judged for _, item in every])
    runs = np.array([[name[0] == other[0] for other, _ in every] for name, _ in every])
    responses = np.array([[name == other for other, _ in every] for name, _ in every])
    means = np.array([judged[row].mean() for row in runs])
    columns = [np.ones(len(every)), judged - means, judged - means, means - judged.mean()]
    design = np.column_stack(columns) * [shift, SLOPES, SLOPES, shift]
    covariance = design @ design.T + run_ratio**2 * runs + response_ratio**2 * responses
    covariance += np.eye(len(every))
    seen = np.array([item.label is not None for _, item in every])
    errors = np.array([item.label for _, item in every if item.label is not None]) - judged[seen]
    gain = covariance[:, seen] @ np.linalg.inv(covariance[np.ix_(seen, seen)])
    left = covariance - gain @ covariance[seen]
    for place, run in enumerate(one.runs):
        own = np.array([name[0] == run for name, _ in every]) / 8
        assert found.mean[place] == pytest.approx(own @ (judged + gain @ errors))
        assert found.variance[place] == pytest.approx(own @ left @ own)


def test_a_forecast_is_of_what_comes() -> None:
    given, _, _ = world(7, labels=100)
    found = evidence(given)
    nothing = forecast(found, {})
    assert (nothing.tau_then, nothing.width_then) == (nothing.tau_now, nothing.width_now)
    told = forecast(found, dict.fromkeys(given, 3))
    assert told.tau_now is not None and told.tau_then is not None
    assert told.tau_then > told.tau_now and told.width_then < told.width_now
    whole = forecast(found, dict.fromkeys(given, 99))
    assert whole.tau_then == pytest.approx(1.0) and whole.width_then == pytest.approx(0.0)
