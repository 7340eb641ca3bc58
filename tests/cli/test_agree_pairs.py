"""Several qrels of one pool side by side: each two compared, each with its own grades."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from tests.cli.jobs import as_json
from tests.commandline import command
from trecjudge.stats.agreement import tau_b

GRADES = {"gemini": "0123", "gpt": "0133", "people": "012-"}
"""The grades of documents 0 to 3 by each of three judges, `-` for none."""


@pytest.fixture
def qrels(tmp_path: Path) -> list[Path]:
    files = []
    for name, grades in GRADES.items():
        rows = (f"1 0 d{n} {grade}\n" for n, grade in enumerate(grades) if grade != "-")
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text("".join(rows))
    return files


def test_each_two_of_several_qrels_are_compared(qrels: list[Path]) -> None:
    done = command("labels", "agree", *qrels)
    assert done.status == 0
    rows = [line.split() for line in done.out.splitlines() if ".txt" in line]
    assert [[Path(a).stem, Path(b).stem, items] for a, b, items, *_ in rows] == [
        ["gemini", "gpt", "4"],
        ["gemini", "people", "3"],
        ["gpt", "people", "3"],
    ]
    assert rows[1][3:] == ["1.000", "1.000", "1.000", "1.000", "1", "0"]
    _, found = as_json("labels", "agree", *qrels)
    assert [one["only_truth"] for one in found["jobs"]] == [0, 1, 1]


def test_several_qrels_beside_those_of_people(qrels: list[Path]) -> None:
    done = command("labels", "agree", *qrels[:2], "--labels", qrels[2])
    named = [line for line in done.out.splitlines() if line in map(str, qrels)]
    assert (done.status, named) == (0, [str(path) for path in qrels[:2]])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param((), "--labels is missing: give FILE", id="one, and nothing beside it"),
        pytest.param(("--by", "topic"), "--by topic: give --labels too", id="by topic"),
    ],
)
def test_what_is_missing_is_told(more: tuple[str, ...], message: str, qrels: list[Path]) -> None:
    done = command("labels", "agree", qrels[0], *more)
    assert (done.status, message in done.err) == (1, True)


def test_tau_b_is_kendalls() -> None:
    drawn = np.random.default_rng(1)
    confusion = np.zeros((5, 4, 4))
    sides = [drawn.integers(0, 4, (2, 30)) for _ in confusion]
    for cells, (one, other) in zip(confusion, sides, strict=True):
        np.add.at(cells, (one, other), 1)
    assert tau_b(confusion) == pytest.approx([kendalltau(*both).statistic for both in sides])
    assert np.isnan(tau_b(np.array([[3.0, 0.0], [4.0, 0.0]])))
