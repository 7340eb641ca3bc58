"""A process that is killed: what was paid for is not paid for again, and the files are the same."""

from __future__ import annotations

import math
from pathlib import Path

from tests.endpoint import attesting, serving
from tests.models.processes import (
    FILES,
    IN_FLIGHT,
    SENTENCES,
    TOPICS,
    Here,
    answer_until,
    runs,
    start,
)


def test_killed_and_started_again(tmp_path: Path, here: Here) -> None:
    runs(tmp_path / "runs")
    with serving(attesting("partial_support")) as endpoint:
        assert here(endpoint, "cache1", "whole").status == 0
        whole = len(endpoint.requests)
        assert whole == SENTENCES * TOPICS
        endpoint.requests.clear()
        for count in (40, 120):
            process = start(tmp_path, endpoint, "cache2")
            answer_until(endpoint, count)
            process.kill()
            process.communicate(timeout=20)
            assert not (tmp_path / "x.leaderboard.txt").exists()
        endpoint.answers = math.inf
        assert here(endpoint, "cache2", "x").status == 0
    assert whole <= len(endpoint.requests) <= whole + 2 * IN_FLIGHT
    for kind in FILES:
        assert (tmp_path / f"x.{kind}").read_bytes() == (tmp_path / f"whole.{kind}").read_bytes()
