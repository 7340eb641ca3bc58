"""Agreement: against other implementations, by hand, where it is not defined."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from sklearn import metrics

from trecjudge.stats.agreement import (
    Agreed,
    LabelPair,
    LabelPairs,
    agreement,
    alpha,
    alpha_of_all,
    auc,
    auc_of_topics,
    kappa,
    separation,
    voter_pair,
)
from trecjudge.stats.resampling import NO_INTERVAL

RNG = np.random.default_rng(8)
TRUTH = RNG.integers(0, 4, 400)
PREDICTED = np.where(RNG.random(400) < 0.6, TRUTH, RNG.integers(0, 4, 400))
SCORES = (PREDICTED + RNG.normal(0, 1, 400)).round(1)  # with ties
PAIRS = [
    LabelPair(f"t{i % 6}", int(t), int(p), float(s))
    for i, (t, p, s) in enumerate(zip(TRUTH, PREDICTED, SCORES, strict=True))
]
COUNTS = metrics.confusion_matrix(TRUTH, PREDICTED).astype(float)

NAN = float("nan")


def figures(pairs: list[LabelPair], labels: int = 2, **options: object) -> dict[str, Agreed]:
    return {f.name: f for f in agreement(LabelPairs.of(pairs), labels, **options)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("accuracy", metrics.accuracy_score(TRUTH, PREDICTED)),
        ("kappa", metrics.cohen_kappa_score(TRUTH, PREDICTED)),
        ("kappa_linear", metrics.cohen_kappa_score(TRUTH, PREDICTED, weights="linear")),
        ("kappa_quadratic", metrics.cohen_kappa_score(TRUTH, PREDICTED, weights="quadratic")),
        ("precision", metrics.precision_score(TRUTH >= 2, PREDICTED >= 2)),
        ("recall", metrics.recall_score(TRUTH >= 2, PREDICTED >= 2)),
        ("f1", metrics.f1_score(TRUTH >= 2, PREDICTED >= 2)),
        ("auc", metrics.roc_auc_score(TRUTH >= 2, SCORES)),
    ],
)
def test_those_of_scikit_learn(name: str, wanted: float) -> None:
    found = figures(PAIRS, 4, threshold=2)[name]
    assert found.pooled == pytest.approx(wanted, abs=1e-6)
    low, high = found.interval
    assert low is not None and high is not None
    assert low < wanted < high


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_those_of_krippendorff(level: str) -> None:
    both = np.array([TRUTH, PREDICTED])
    wanted = krippendorff.alpha(reliability_data=both, level_of_measurement=level)
    assert figures(PAIRS, 4)[f"alpha_{level}"].pooled == pytest.approx(wanted, abs=1e-6)


def test_the_figures_of_topics_and_their_mean() -> None:
    found = figures(PAIRS, 4)["kappa"]
    own = [i for i in range(400) if i % 6 == 2]
    wanted = metrics.cohen_kappa_score(TRUTH[own], PREDICTED[own])
    assert found.by_topic["t2"] == pytest.approx(wanted, abs=1e-6)
    assert found.topics_defined == 6
    assert found.mean == pytest.approx(np.mean(list(found.by_topic.values())), abs=1e-6)


def test_kappa_by_hand() -> None:
    # 20 of 50 both yes, 15 both no: Po = 0.7, Pe = 0.5.
    counts = np.array([[15.0, 10.0], [5.0, 20.0]])
    assert kappa(0)(counts) == pytest.approx(0.4)


def test_alpha_by_hand() -> None:
    # Ten units of two coders, values 0 and 1: Krippendorff's example of binary data.
    coders = zip([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0], strict=True)
    counts = np.zeros((2, 2))
    for a, b in coders:
        counts[a, b] += 1
    assert alpha(ordinal=False)(counts) == pytest.approx(0.095, abs=5e-4)


def test_all_alike_leaves_kappa_and_alpha_undefined() -> None:
    found = figures([LabelPair("t", 1, 1)] * 5)
    assert found["accuracy"].pooled == 1.0
    undefined = {name for name, figure in found.items() if figure.pooled is None}
    assert undefined == set(found) - {"accuracy"}


def test_a_topic_without_relevant_items_stays_in_the_mean() -> None:
    pairs = [LabelPair("t1", 1, 1), LabelPair("t1", 0, 1), LabelPair("t2", 0, 0)]
    found = figures(pairs, threshold=1)
    assert found["precision"].by_topic == {"t1": 0.5, "t2": 1.0}
    assert (found["precision"].mean, found["precision"].topics_defined) == (0.75, 2)
    assert found["recall"].by_topic == {"t1": 1.0, "t2": 1.0}
    assert found["kappa"].by_topic["t2"] is None
    assert found["kappa"].topics_defined == 1


def test_relevant_items_that_only_one_side_has() -> None:
    found = figures([LabelPair("a", 1, 0), LabelPair("b", 0, 1)], threshold=1)
    assert found["precision"].by_topic == {"a": 0.0, "b": 0.0}
    assert found["f1"].by_topic == {"a": 0.0, "b": 0.0}


def test_labels_that_are_no_grades_have_no_order() -> None:
    found = figures(PAIRS, 4, ordered=False)
    assert list(found) == ["accuracy", "kappa", "alpha_nominal"]


def test_without_scores_there_is_no_auc() -> None:
    found = figures([LabelPair("t", 1, 1, 0.5), LabelPair("t", 0, 0)], threshold=1)
    assert "auc" not in found


@pytest.mark.parametrize(
    ("scores", "relevant", "weights", "area"),
    [
        pytest.param([1, 2, 3, 4], [0, 0, 1, 1], [1, 1, 1, 1], 1.0, id="apart"),
        pytest.param([1, 2, 3, 4], [1, 1, 0, 0], [1, 1, 1, 1], 0.0, id="the wrong way"),
        pytest.param([1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1], 0.5, id="all tied"),
        pytest.param([1, 2, 2, 3], [0, 1, 0, 1], [1, 1, 1, 1], 3.5 / 4, id="one tie"),
        pytest.param([1, 2, 2, 3], [0, 1, 0, 1], [1, 0, 1, 1], 1.0, id="the tie is not drawn"),
        pytest.param([1, 2, 2, 3], [0, 1, 0, 1], [2, 1, 0, 1], 1.0, id="one drawn twice"),
        pytest.param([1, 2], [1, 1], [1, 1], NAN, id="one kind"),
        pytest.param([1, 2], [0, 1], [1, 0], NAN, id="one kind is drawn"),
        pytest.param([], [], [], NAN, id="nothing"),
    ],
)
def test_auc_by_hand(
    scores: list[int], relevant: list[int], weights: list[int], area: float
) -> None:
    values = np.array(scores, dtype=float), np.array(relevant, dtype=bool)
    counts = np.array([weights], dtype=float)
    own = np.arange(len(scores))  # each item is a topic of its own
    for found in (auc(*values, counts), auc_of_topics(*values, own, counts)):
        assert found.tolist() == pytest.approx([area], nan_ok=True)


@pytest.mark.parametrize(
    ("higher", "lower", "area"),
    [([2.0], [1.0], 1.0), ([1.0], [1.0], 0.5), ([1.0, 3.0], [2.0, 0.0], 0.75), ([1.0], [], NAN)],
)
def test_separation_is_the_auc(higher: list[float], lower: list[float], area: float) -> None:
    assert separation(higher, lower) == pytest.approx(area, nan_ok=True)


@pytest.mark.parametrize("block", [1, 4, 256])
def test_auc_by_topics_is_that_of_their_items(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trecjudge.stats.agreement.BLOCK", block)
    owners = RNG.integers(0, 9, 400)
    weights = RNG.integers(0, 4, (50, 9)).astype(float)
    wanted = auc(SCORES, TRUTH >= 2, weights[:, owners])
    assert auc_of_topics(SCORES, TRUTH >= 2, owners, weights).tolist() == wanted.tolist()


def test_one_topic_has_no_interval() -> None:
    assert figures([LabelPair("t", 1, 1), LabelPair("t", 0, 1)])["accuracy"].interval == NO_INTERVAL


def test_topics_of_auc_0_and_of_none_are_not_one_and_the_same() -> None:
    """`t0` has an AUC of 0, `t1` none, and all have as many items: a tie that no name may break."""
    scored = {0: [(1, 0.1), (0, 0.9)], 1: [(1, 0.2), (1, 0.3)], 2: [(0, 0.9), (0, 0.8)]}
    scored |= {t: [(1, 0.6 + t / 100), (0, 0.5 - t / 100)] for t in range(3, 8)}
    found = set()
    for shift in range(8):
        pairs = [
            LabelPair(f"t{(t + shift) % 8}", r, r, s) for t, held in scored.items() for r, s in held
        ]
        found.add(figures(pairs, threshold=1)["auc"].interval)
    assert len(found) == 1
    assert found != {NO_INTERVAL}


def test_names_of_topics_change_nothing() -> None:
    renamed = [
        LabelPair(f"x{9 - int(p.topic_id[1:])}", p.truth, p.predicted, p.score) for p in PAIRS
    ]
    before, after = figures(PAIRS, 4, threshold=2), figures(renamed[::-1], 4, threshold=2)
    assert [f.interval for f in before.values()] == [f.interval for f in after.values()]


def test_kappa_of_two_voters_is_cohens() -> None:
    counts = {("a", "a"): 20, ("a", "b"): 5, ("b", "a"): 10, ("b", "b"): 15}
    cells = {(f"t{t}", *labels): count // 5 for labels, count in counts.items() for t in range(5)}
    found = voter_pair(("x", "y"), cells)
    assert found.items == 50
    assert found.same == 0.7
    assert found.kappa.pooled == pytest.approx(0.4)  # the example of Wikipedia's page


def test_alpha_of_several_voters_with_gaps_is_krippendorffs() -> None:
    """The example of Krippendorff's computing pages: 4 observers, 12 units, alpha 0.743."""
    rows = [
        ["1", "2", "3", "3", "2", "1", "4", "1", "2", ".", ".", "."],
        ["1", "2", "3", "3", "2", "2", "4", "1", "2", "5", ".", "3"],
        [".", "3", "3", "3", "2", "3", "4", "2", "2", "5", "1", "."],
        ["1", "2", "3", "3", "2", "4", "4", "1", "2", "5", "1", "."],
    ]
    cells: dict[tuple[str, str, str], float] = {}
    for unit in zip(*rows, strict=True):
        given = [label for label in unit if label != "."]
        for i, one in enumerate(given):
            for other in given[i + 1 :]:
                key = ("t", one, other)
                cells[key] = cells.get(key, 0) + 1 / (len(given) - 1)
    assert alpha_of_all(cells).pooled == pytest.approx(0.743, abs=5e-4)


def test_one_label_only_has_no_alpha() -> None:
    assert alpha_of_all({("t", "a", "a"): 3.0}).pooled is None
