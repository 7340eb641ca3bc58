"""The simulation loses no work, whatever fails, and says the same twice."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # as where it is run by command

from simulate_scale import Costs, Outcome, costs_asked, report, simulated

OFTEN = Costs(pairs=1e7, mtbf_hours=0.5, repair_seconds=30)
"""Machines that fail every half hour."""


def work(costs: Costs, outcome: Outcome) -> float:
    """Return the seconds that all pairs need, without starts."""
    return outcome.pairs * (costs.judge_seconds + costs.read_seconds)


@pytest.mark.parametrize("way", ["workers", "shard"])
@pytest.mark.parametrize("machines", [1, 7, 100])
def test_every_pair_is_judged_once_though_machines_fail(way: str, machines: int) -> None:
    costs = replace(OFTEN, way=way, pairs=1e6)
    outcome = simulated(costs, machines)
    assert outcome.pairs == pytest.approx(1e6)
    assert outcome.busy >= 1e6 * costs.judge_seconds


def test_work_is_conserved() -> None:
    still = Costs(pairs=1e7, mtbf_hours=1e12, slow_share=0, start_seconds=0)
    outcome = simulated(still, 10)
    assert (outcome.failures, outcome.again, outcome.lost) == (0, 0, 0)
    assert outcome.busy == pytest.approx(work(still, outcome))
    assert outcome.judged >= outcome.busy / (10 * still.cores)


def test_failures_cost_time_and_are_seeded() -> None:
    outcome = simulated(OFTEN, 10)
    assert outcome.again >= outcome.failures > 0 < outcome.lost
    assert outcome.judged > simulated(replace(OFTEN, mtbf_hours=1e9), 10).judged
    assert simulated(OFTEN, 10) == outcome
    assert simulated(replace(OFTEN, seed=2), 10) != outcome


def test_a_disk_that_all_share_is_the_limit_at_last() -> None:
    slow = Costs(pairs=1e7, disk_bytes=1e7)
    assert simulated(slow, 100).judged >= 1e7 * slow.judgment_bytes / 1e7


def test_flags_are_costs() -> None:
    costs = costs_asked(["--pairs", "1e6", "--way", "shard", "--cores", "4"])
    assert costs == Costs(pairs=1e6, way="shard", cores=4)
    assert len(report(costs)) > 8
