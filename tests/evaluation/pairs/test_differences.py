"""Paired differences of two runs on the same pairs: figures, intervals, what is not compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trecjudge.errors import InputError
from trecjudge.evaluation.pairs.differences import (
    COMPARED,
    PairedDifference,
    VerdictComparison,
    compare_rows,
)
from trecjudge.evaluation.pairs.earlier import EarlierVerdicts, VerdictLine
from trecjudge.evaluation.pairs.measuring import PairRows

RANDOM = np.random.default_rng(1)
SIZE = 240
HUMAN = RANDOM.choice([0.0, 0.5, 1.0], SIZE)
GROUPS = np.arange(SIZE) % 12
WORDS = np.zeros(SIZE, dtype=np.intp)
EVERY = np.ones(SIZE, dtype=np.bool_)


def verdicts(noise: float) -> PairRows:
    """Return verdicts that people's labels make, the worse the more noise."""
    supported = np.clip((HUMAN + noise * RANDOM.random(SIZE)) / (1 + noise), 0, 1).round(2)
    full = (supported * RANDOM.random(SIZE)).round(2)
    said = np.where(RANDOM.random(SIZE) < noise / 4, RANDOM.choice([0.0, 0.5, 1.0], SIZE), HUMAN)
    return PairRows(HUMAN, said, supported, full, GROUPS, WORDS, EVERY)


THIS, OTHER = verdicts(1), verdicts(3)


def figures(this: PairRows = THIS, other: PairRows = OTHER) -> dict[str, PairedDifference]:
    return {figure.name: figure for figure in compare_rows("all", this, other).figures}


def calibration_error(rows: PairRows) -> float:
    """Return it bin by bin."""
    parts = np.minimum(rows.supported // 0.1, 9)
    apart = rows.supported - (HUMAN > 0)
    return float(sum(abs(apart[parts == part].sum()) for part in range(10)) / SIZE)


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("AUC, full against the rest", lambda m, r: m.roc_auc_score(HUMAN == 1, r.full)),
        ("AUC, supported or not", lambda m, r: m.roc_auc_score(HUMAN > 0, r.supported)),
        ("same label", lambda m, r: m.accuracy_score(HUMAN * 2, r.said * 2)),
        (
            "balanced accuracy, full",
            lambda m, r: m.balanced_accuracy_score(HUMAN == 1, r.said == 1),
        ),
        ("Brier score, P(supported)", lambda m, r: m.brier_score_loss(HUMAN > 0, r.supported)),
    ],
)
def test_they_are_those_of_scikit_learn(name: str, of: Callable[[Any, PairRows], float]) -> None:
    from sklearn import metrics  # late: who collects tests need not wait for it

    found = figures()[name]
    assert found.this == pytest.approx(of(metrics, THIS))
    assert found.other == pytest.approx(of(metrics, OTHER))
    assert found.difference == pytest.approx(of(metrics, THIS) - of(metrics, OTHER))


def test_the_calibration_error_bin_by_bin() -> None:
    rows = [
        PairRows(
            HUMAN, r.said, (r.supported * 100 // 10 + 0.5) / 10.5, r.full, GROUPS, WORDS, EVERY
        )
        for r in (THIS, OTHER)
    ]
    found = figures(*rows)["calibration error, P(supported)"]
    this, other = map(calibration_error, rows)
    assert found.difference == pytest.approx(this - other)


def test_the_interval_is_that_of_a_plain_paired_bootstrap_over_groups() -> None:
    found = figures()["same label"]
    gained = (THIS.said == HUMAN).astype(float) - (OTHER.said == HUMAN)
    means = np.array([gained[group == GROUPS].mean() for group in range(12)])
    drawn = np.random.default_rng(5).choice(means, (20_000, 12)).mean(axis=1)
    low, high = found.interval
    assert low is not None and high is not None and low < found.difference < high  # type: ignore[operator]
    plain = np.quantile(drawn, [0.025, 0.975])
    # Wider than the plain one by t of 11 degrees, and n / (n - 1): 17 %.
    assert (high - low) / (plain[1] - plain[0]) == pytest.approx(1.17, abs=0.08)


def test_both_sides_are_drawn_together() -> None:
    """Two runs that hardly differ have a narrow interval, however wide that of each is."""
    said = THIS.said.copy()
    said[:6] = (said[:6] + 0.5) % 1.5
    near = PairRows(HUMAN, said, THIS.supported, THIS.full, GROUPS, WORDS, EVERY)
    low, high = figures(THIS, near)["same label"].interval
    assert low is not None and high is not None and high - low < 0.06


def test_a_run_beside_itself_differs_by_zero_without_an_interval() -> None:
    for figure in figures(THIS, THIS).values():
        assert (figure.difference, tuple(figure.interval)) == (0.0, (None, None))


@pytest.mark.parametrize(("groups", "over"), [(12, "groups"), (10, "groups"), (9, "pairs")])
def test_intervals_are_over_groups_where_there_are_ten(groups: int, over: str) -> None:
    rows = groups > GROUPS
    found = compare_rows("all", THIS.where(rows), OTHER.where(rows))
    assert (found.groups, found.over) == (groups, over)


def test_neither_order_nor_names_change_anything() -> None:
    shuffled = RANDOM.permutation(SIZE)
    other = [
        PairRows(
            *(getattr(r, n)[shuffled] for n in ("human", "said", "supported", "full")),
            *(11 - r.owners[shuffled], WORDS, EVERY),
        )
        for r in (THIS, OTHER)
    ]
    assert compare_rows("all", *other) == compare_rows("all", THIS, OTHER)


def test_a_missing_probability_leaves_its_pair_out_of_both_sides() -> None:
    from sklearn import metrics

    full = OTHER.full.copy()
    full[:40] = np.nan
    found = figures(THIS, PairRows(HUMAN, OTHER.said, OTHER.supported, full, GROUPS, WORDS, EVERY))
    one = found["AUC, full against the rest"]
    assert (one.labels, found["AUC, supported or not"].labels) == (200, SIZE)
    assert one.this == pytest.approx(metrics.roc_auc_score(HUMAN[40:] == 1, THIS.full[40:]))
    assert one.other == pytest.approx(metrics.roc_auc_score(HUMAN[40:] == 1, full[40:]))


def test_what_is_not_calibrated_on_either_side_is_compared_by_order_only() -> None:
    found = figures(THIS, replace(OTHER, calibrated=np.arange(SIZE) >= 40))
    counts = {name: figure.labels for name, figure in found.items()}
    of_level = [name for name, figure in COMPARED.items() if figure.lower_is_better]
    assert len(of_level) == 2
    assert counts == dict.fromkeys(COMPARED, SIZE) | dict.fromkeys(of_level, SIZE - 40)


def test_without_probabilities_there_is_no_difference_of_them() -> None:
    unknown = np.full(SIZE, np.nan)
    found = figures(THIS, PairRows(HUMAN, OTHER.said, unknown, unknown, GROUPS, WORDS, EVERY))
    undefined = [name for name, figure in found.items() if figure.difference is None]
    assert undefined == [name for name, figure in COMPARED.items() if figure.chance]
    assert found["same label"].difference is not None


# Verdicts of two runs, pair by pair.
def line(number: int, label: str | None = "full_support", human: object = "FULL") -> VerdictLine:
    labels = () if human is None else (human,)
    chance = None if label is None else 0.7
    return VerdictLine(str(number), "", False, f"text {number}", label, chance, chance, labels)


def compare(this: list[VerdictLine], other: list[VerdictLine]) -> VerdictComparison:
    comparison = VerdictComparison(EarlierVerdicts(Path("other.jsonl"), other))
    for one in this:
        comparison.add(one, "pairs.jsonl")
    return comparison


def test_what_is_not_compared_is_counted_by_its_reason() -> None:
    this = [line(n) for n in range(9)]
    this[3] = line(3, label=None)
    this[4] = line(4, label=None)
    this[6] = line(6, human=None)
    other = [line(n) for n in (*range(1, 9), 20, 21)]
    other[1] = line(2, human="NONE")
    other[2] = line(3, label=None)
    other[4] = line(5, label=None)
    other[5] = line(6, human=None)
    other[6] = line(7, label="nothing_to_check")
    found = compare(this, other).compute_differences()
    assert found.not_compared == {
        "only_this": 1,
        "only_other": 2,
        "other_labels": 1,
        "unjudged_this": 1,
        "unjudged_other": 1,
        "unjudged_both": 1,
        "nothing_to_check": 1,
        "without_label": 1,
    }
    assert (found.compared, found.whole and found.whole.labels) == (2, 2)


@pytest.mark.parametrize(
    ("labels", "said", "same"),
    [
        (("FULL", "NONE"), "partial_support", [0.0, 1.0]),
        (("PARTIAL", "NONE"), "full_support", [1.0, 0.0]),
        (("FULL", "PARTIAL"), "no_support", [0.0, 1.0]),
        (("FULL", "PARTIAL", "NONE"), "partial_support", [0.0, 1.0, 0.0]),
    ],
)
def test_the_same_label_is_of_the_labels_that_the_file_has(
    labels: tuple[str, ...], said: str, same: list[float]
) -> None:
    lines = [line(n, said, human) for n, human in enumerate(labels)]
    found = compare(lines, lines).compute_differences()
    (figure,) = (f for f in (found.whole.figures if found.whole else ()) if f.name == "same label")
    assert figure.this == pytest.approx(np.mean(same))


def test_labels_that_say_the_same_in_other_words_are_no_others() -> None:
    found = compare([line(1, human="FULL")], [line(1, human="supported")]).compute_differences()
    assert (found.compared, dict(found.not_compared)) == (1, {})


def test_numbers_up_to_two_are_read_so_though_no_two_is_compared() -> None:
    """A label 1 is partial support where the file has a 2, be that on an unjudged pair."""
    this = [line(1, "partial_support", 1), line(2, None, 2)]
    found = compare(this, [line(1, "full_support", 1), line(2, None, 2)]).compute_differences()
    (figure,) = (f for f in (found.whole.figures if found.whole else ()) if f.name == "same label")
    assert (figure.this, figure.other) == (1.0, 0.0)


def test_no_pair_in_common_is_an_error_that_names_both_files() -> None:
    comparison = compare([line(1)], [line(2)])
    with pytest.raises(InputError, match=r"other.jsonl: no pair in common with p.jsonl. Its first"):
        comparison.require_pairs("p.jsonl")
    compare([line(1)], [line(1)]).require_pairs("p.jsonl")
