"""Rank correlations: against other implementations, by hand, on published tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from trecjudge.errors import WorkflowError
from trecjudge.stats.correlation import (
    COEFFICIENTS,
    RankedScores,
    coefficients,
    correlations,
    kendall,
    pairwise_accuracy,
    pearson,
    spearman,
    tau_ap,
    tau_gap,
    top,
)

RNG = np.random.default_rng(2)
TRUTH = RNG.random((5, 30))
CLOSE = (TRUTH + RNG.normal(0, 0.2, (5, 30))).round(1)  # with ties


def one(name: str, truth: Sequence[float], predicted: Sequence[float]) -> float:
    sides = (
        RankedScores(np.array([truth], dtype=float)),
        RankedScores(np.array([predicted], dtype=float)),
    )
    return float(coefficients([name])[name](*sides)[0])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(kendall, stats.kendalltau), (spearman, stats.spearmanr), (pearson, stats.pearsonr)],
)
def test_those_of_another_implementation(ours: object, theirs: object) -> None:
    wanted = [theirs(t, p).statistic for t, p in zip(TRUTH, CLOSE, strict=True)]  # type: ignore
    assert ours(RankedScores(TRUTH), RankedScores(CLOSE)).tolist() == pytest.approx(wanted)  # type: ignore


UP, DOWN = [1, 2, 3, 4], [4, 3, 2, 1]


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_the_same_order_and_the_opposite(name: str) -> None:
    least = 0.0 if name == "pairwise_accuracy" else -1.0
    assert one(name, UP, UP) == pytest.approx(1.0)
    assert one(name, UP, DOWN) == pytest.approx(least)


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize(
    ("truth", "predicted"),
    [([1, 1, 1], [1, 2, 3]), ([1, 1, 1], [2, 2, 2]), ([1.0], [2.0])],
    ids=["truth constant", "both constant", "one run"],
)
def test_what_is_not_defined_is_never_agreement(
    name: str, truth: list[float], predicted: list[float]
) -> None:
    assert np.isnan(one(name, truth, predicted))


def test_a_constant_prediction() -> None:
    assert all(np.isnan(one(name, UP, [2, 2, 2, 2])) for name in COEFFICIENTS)


def test_tau_ap_by_hand() -> None:
    # The runs above each but the first, and how many the other side has too: 0/1, 2/2, 3/3.
    assert one("tauap_b", [4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(2 * (0 + 1 + 1) / 3 - 1)


def test_tau_ap_punishes_a_swap_at_the_head_more() -> None:
    truth = [5, 4, 3, 2, 1]
    assert one("tauap_b", truth, [4, 5, 3, 2, 1]) < one("tauap_b", truth, [5, 4, 3, 1, 2])
    assert one("kendall", truth, [4, 5, 3, 2, 1]) == one("kendall", truth, [5, 4, 3, 1, 2])


def test_tau_gap_punishes_a_swap_over_a_large_gap_more() -> None:
    small, large = [1.0, 0.5, 0.45], [1.0, 0.5, 0.1]
    assert one("tau_gap", small, [3, 1, 2]) > one("tau_gap", large, [3, 1, 2])


def test_tau_gap_by_hand() -> None:
    # Predicted order b, a, c; gaps above a: 0 of 0.1 right; above c: 0.8 and 0.9, all right.
    assert one("tau_gap", [1.0, 0.9, 0.1], [2, 3, 1]) == pytest.approx(2 * (0 + 1) / 2 - 1)


def test_ties_of_the_predicted_side_are_the_mean_of_both_orders() -> None:
    truth = [4.0, 3.0, 1.0]
    ends = one("tau_gap", truth, [3, 2, 1]), one("tau_gap", truth, [2, 3, 1])
    assert one("tau_gap", truth, [2, 2, 1]) == pytest.approx(sum(ends) / 2)


def test_pairwise_accuracy_counts_a_tied_pair_half_and_leaves_out_ties_of_the_truth() -> None:
    assert one("pairwise_accuracy", [3, 2, 1], [3, 3, 1]) == pytest.approx(2.5 / 3)
    assert one("pairwise_accuracy", [2, 2, 1], [9, 1, 0]) == 1.0


def test_among_the_best_of_the_truth() -> None:
    truth, predicted = [5, 4, 3, 2, 1], [3, 4, 5, 1, 2]
    assert one("kendall@3", truth, predicted) == -1.0
    assert one("kendall@9", truth, predicted) == one("kendall", truth, predicted)


def test_all_that_tie_with_the_last_of_the_best_are_among_them() -> None:
    truth, predicted = [5, 4, 4, 1], [1, 2, 3, 9]
    assert one("kendall@2", truth, predicted) == one("kendall", truth[:3], predicted[:3])
    both = (
        RankedScores(np.array([truth, [4, 3, 2, 1]])),
        RankedScores(np.array([predicted, [4, 3, 2, 1]])),
    )
    assert top(2, kendall)(*both).tolist() == pytest.approx([one("kendall@2", truth, predicted), 1])


@pytest.mark.parametrize("name", ["kendal", "kendall@", "kendall@0", "kendall@x", "@10"])
def test_an_unknown_coefficient(name: str) -> None:
    with pytest.raises(WorkflowError, match="there are: kendall, kendall@10, pairwise_accuracy"):
        coefficients([name])


@pytest.mark.parametrize("name", [*COEFFICIENTS, "kendall@10"])
def test_neither_names_nor_the_order_of_rows_count(name: str) -> None:
    order = RNG.permutation(30)
    before = one(name, TRUTH[0].tolist(), CLOSE[0].tolist())
    assert one(name, TRUTH[0][order].tolist(), CLOSE[0][order].tolist()) == pytest.approx(before)


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"kendall": kendall, "tau_ap": tau_ap, "tau_gap": tau_gap}
    sides = {"H": TRUTH}, {"M": CLOSE, "N": TRUTH}
    whole = correlations(*sides, wanted)
    monkeypatch.setattr("trecjudge.stats.correlation.BLOCK", 1)
    parts = correlations(*sides, wanted)
    assert list(whole) == [("H", m, c) for m in "MN" for c in wanted]
    assert all((parts[key] == whole[key]).all() for key in whole)


def test_a_resample_in_which_a_run_has_no_score_is_not_defined() -> None:
    gap = CLOSE.copy()
    gap[2, 7] = np.nan
    found = correlations({"H": TRUTH}, {"M": gap}, {"kendall": kendall})["H", "M", "kendall"]
    assert np.isnan(found).tolist() == [False, False, True, False, False]


ORACLE = re.compile(r"^(.+?) +n=(\d+) tau-b=(\S+) rho=(\S+) r=(\S+) tauap_b=(\S+) tau_gap=(\S+)")


def oracle(shared: Path) -> dict[str, list[float]]:
    text = (shared / "data/reference/oracle_values.txt").read_text()
    found = (ORACLE.match(line) for line in text.splitlines())
    return {m[1].strip(): [float(m[i]) for i in range(2, 8)] for m in found if m}


@pytest.mark.parametrize("left_out", ["", "webis-manual"])
@pytest.mark.parametrize("kind", ["scratch wp", "scratch wr", "postedit wp", "postedit wr"])
def test_the_published_table_of_45_runs(kind: str, left_out: str, shared: Path) -> None:
    with (shared / "data/reference/support24_runs.tsv").open() as file:
        runs = [r for r in csv.DictReader(file, delimiter="\t") if r["run_id"] != left_out]
    column = kind.replace(" ", "_")
    truth = [float(run[f"human_{column}"]) for run in runs]
    predicted = [float(run[f"gpt4o_{column}"]) for run in runs]
    wanted = oracle(shared)[f"support24 {kind}{left_out and f' -{left_out}'}"]
    assert len(runs) == wanted[0]
    names = ("kendall", "spearman", "pearson", "tauap_b")
    found = [round(one(name, truth, predicted), 4) for name in names]
    assert found == wanted[1:5]


def dl20(path: Path) -> dict[str, list[float]]:
    lines = [line for line in path.read_text().splitlines() if line.startswith("|")]
    cells = [[c.strip(" *\\") for c in line.split("|")[1:-1]] for line in (lines[0], *lines[2:])]
    kept = [row for row in cells[1:] if row[-1].replace(".", "").isdigit()]
    return {name: [float(row[i]) for row in kept] for i, name in enumerate(cells[0]) if i}


@pytest.mark.parametrize(
    "measure",
    ["nugget-3", "nugget-4", "nugget-5", "question-3", "question-4", "question-5"],
)
def test_the_published_table_of_59_systems(measure: str, shared: Path) -> None:
    table = dl20(shared / "data/reference/dl20-qrels.md")
    truth = [-rank for rank in table["official rank"]]
    wanted = oracle(shared)[f"dl20-qrels.md {measure}"]
    assert len(truth) == wanted[0]
    assert round(one("kendall", truth, table[measure]), 4) == wanted[1]
    assert round(one("tauap_b", truth, table[measure]), 4) == wanted[4]


def test_pairwise_accuracy_is_tau_without_ties() -> None:
    sides = RankedScores(TRUTH), RankedScores(TRUTH[::-1].copy())
    assert pairwise_accuracy(*sides).tolist() == pytest.approx(((kendall(*sides) + 1) / 2).tolist())
