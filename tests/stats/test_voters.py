"""Agreement of voters, against figures worked out by hand or by another library's formula."""

from __future__ import annotations

import pytest

from trecjudge.stats.agreement import alpha_of_all, voter_pair


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
