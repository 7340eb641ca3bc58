"""Cost against agreement: what is right, in which order, and whether a promise is kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from trecjudge.evaluation.agreement import SharedItem
from trecjudge.evaluation.trust.buying import (
    Option,
    TriedOption,
    choose_option,
    compare_options,
    cost_of,
    workflow_of,
)
from trecjudge.stats.resampling import NO_INTERVAL

LABELS = ("no_support", "partial_support", "full_support")


def items(
    truth: Sequence[int], said: Sequence[int | None], scores: Sequence[float], runs: int = 4
) -> list[SharedItem]:
    """Return labelled items, twenty of each topic, in turn of each run; None is unjudged."""
    return [
        SharedItem((str(n // 20), f"r{n % runs}"), (n,), LABELS[t], LABELS[s], score)
        for n, (t, s, score) in enumerate(zip(truth, said, scores, strict=True))
        if s is not None
    ]


def drawn(topics: int, seed: int, sure_helps: bool = True) -> list[TriedOption]:
    """Return words that are right more often where they are sure, and a model right on 80 %."""
    rng = np.random.default_rng(seed)
    n = 20 * topics
    truth, score = rng.integers(0, 3, n), rng.random(n)
    chance = 0.4 + 0.5 * score if sure_helps else np.full(n, 0.65)

    def said(chances: np.ndarray) -> list[int | None]:
        wrong = (truth + rng.integers(1, 3, n)) % 3
        return np.where(rng.random(n) < chances, truth, wrong).tolist()

    words = TriedOption("words", items(truth, said(chance), score.tolist()), offline=True)
    by_model = items(truth, said(np.full(n, 0.8)), [1.0] * n)
    return [words, TriedOption("model", by_model, False, 1.0, 0.002)]


def test_a_cascade_asks_first_what_words_are_least_sure_of() -> None:
    words, model, *cascades = compare_options(drawn(50, 1))
    assert [round(one.asked, 2) for one in cascades] == pytest.approx(
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], abs=0.01
    )
    passed = [one.passed for one in cascades]
    assert passed[0] is not None
    assert passed[-1] is not None
    assert passed[0] + 0.1 < passed[-1]
    assert max(one.right or 0 for one in cascades) > max(words.right or 0, model.right or 0)
    assert cascades[3].cost == pytest.approx(0.4 * 0.002, rel=0.01)


def test_what_is_unjudged_is_counted_and_not_wrong() -> None:
    truth = [0, 1, 2] * 20
    known = items(truth, [t if n % 2 else None for n, t in enumerate(truth)], [1.0] * 60)
    every = items(truth, truth, [0.5] * 60)
    tried = [TriedOption("words", every, True), TriedOption("model", known, False, 1.0)]
    model = compare_options(tried)[1]
    assert (model.n, model.unjudged, model.right) == (30, 30, 1.0)


def test_the_order_is_that_of_the_runs_by_their_labels() -> None:
    truth = [n % 4 // 2 * 2 for n in range(160)]  # two runs without support, two with full support
    same, turned = (items(truth, said, [1.0] * 160) for said in (truth, [2 - t for t in truth]))
    options = compare_options(
        [TriedOption("words", same, True), TriedOption("model", turned, False, 1.0)]
    )
    assert [one.tau for one in options[:2]] == [1.0, -1.0]


def test_the_least_that_is_promised_holds() -> None:
    """Of 100 draws of labels, the chosen one is less right than promised in 5 % at most."""
    whole = {(one.name, one.sure): one for one in compare_options(drawn(1000, 0))}
    broken = chosen = 0
    for seed in range(100):
        found = choose_option(compare_options(drawn(15, seed + 1)), least=0.72)
        if found is None:
            continue
        chosen += 1
        name, share = found.name, round(found.asked, 1)
        truly = next(o for o in whole.values() if o.name == name and abs(o.asked - share) < 0.05)
        broken += (truly.right or 0) < 0.72
    assert chosen > 25
    assert broken <= 0.05 * 100


def option(name: str, asked: float, right: float | None, least: float | None) -> Option:
    numbers = (asked, None, asked, asked, 100, 0)
    return Option(name, *numbers, right, NO_INTERVAL, least, None, NO_INTERVAL)


WAYS = [
    option("words", 0.0, 0.60, 0.50),
    option("mix", 0.4, 0.80, 0.70),
    option("model", 1.0, 0.78, 0.72),
    option("none", 0.2, None, None),
]


@pytest.mark.parametrize(
    ("least", "most", "name"),
    [
        (None, None, "mix"),
        (None, 0.3, "words"),
        (0.5, None, "words"),
        (0.65, None, "mix"),
        (0.71, None, "model"),
        (0.71, 0.5, None),
        (0.9, None, None),
    ],
)
def test_the_cheapest_that_keeps_what_is_wanted(
    least: float | None, most: float | None, name: str | None
) -> None:
    found = choose_option(WAYS, least, most)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("paid", "mean"), [([], None), ([1.0, None], None), ([1.0, 3.0], 2.0)], ids=str
)
def test_a_cost_that_is_not_known_of_one_call_is_not_known(
    paid: list[float | None], mean: float | None
) -> None:
    assert cost_of(paid) == mean


def test_a_cascade_is_a_workflow_that_audits_what_words_let_pass() -> None:
    cascade = compare_options(drawn(10, 3))[5]
    made = workflow_of(cascade, {"model": {"model": "m"}})
    first = {"offline": True, "sure": cascade.sure, "audit": 0.05}
    voters = {"words": first, "model": {"llm": {"model": "m"}}}
    assert made == {"voters": voters, "vote": "cascade"}
    assert workflow_of(WAYS[0], {}) == {}
