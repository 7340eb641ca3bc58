"""TREC run files, as other tools read them."""

from __future__ import annotations

import ir_measures
import pytest
from ir_measures import nDCG

from trecjudge.results.trec_runs import run_lines


def test_a_line_has_topic_document_rank_score_and_tag() -> None:
    lines = list(run_lines("t 1", [("d", 1.5), ("e f", 0.25)], "my run"))
    assert lines == ["t%201 Q0 d 1 1.500000 my%20run\n", "t%201 Q0 e%20f 2 0.250000 my%20run\n"]


@pytest.mark.parametrize(
    "scores",
    [
        [1.0, 1.0, 1.0],
        [0.0, 0.0],
        [3.0, 3.0, 2.9999999],
        [151.00001, 151.00001, 151.0],
        [-1.0, -5.0],
    ],
    ids=["equal", "zero", "close", "large", "negative"],
)
def test_scores_fall_strictly_as_floats_of_32_bits(scores: list[float]) -> None:
    import numpy as np

    lines = run_lines("t", [(f"d{n}", score) for n, score in enumerate(scores)], "x")
    written = np.array([line.split()[4] for line in lines], np.float32)
    assert (np.diff(written) < 0).all()


def test_ir_measures_judges_it_in_the_order_of_ranks() -> None:
    # All scores are equal: a tool that orders ties by id would put c first.
    text = "".join(run_lines("1", [("a", 2.0), ("b", 2.0), ("c", 2.0)], "x"))
    qrels = list(ir_measures.read_trec_qrels("1 0 a 1\n1 0 b 0\n1 0 c 0\n"))
    run = list(ir_measures.read_trec_run(text))
    assert ir_measures.calc_aggregate([nDCG @ 10], qrels, run) == {nDCG @ 10: 1.0}


def test_nothing_found_is_no_line() -> None:
    assert list(run_lines("t", [], "x")) == []
