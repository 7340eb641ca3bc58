"""Shards given to workers that die."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from typing import Any

import pytest

from trecjudge.errors import OutputError
from trecjudge.job.request import Job
from trecjudge.job.shards.session import JudgingScheduler
from trecjudge.job.shards.shard import Portion, Shard, ShardDone, ShardSetup
from trecjudge.job.shards.workers import MOST_TRIES
from trecjudge.results.outputs import Outputs
from trecjudge.scores.scoring import PartScores
from trecjudge.settings.limits import limits

SHARDS = [
    Shard(n, (Portion(Path(f"run{n}"), (0,), ("r",), ("",)),), responses=1, items=10 - n)
    for n in range(3)
]


class Dying:
    """Two workers; one dies each time that it is given a shard of `deaths`, as often as told."""

    count = 2

    def __init__(self, deaths: Counter[int]) -> None:
        self.deaths = deaths
        self.given: list[int] = []
        self.renewed = 0

    def submit(self, work: Callable[..., Any], *given: Any) -> Future[Any]:
        """Do a shard at once, or die of it."""
        number = given[1].number
        self.given.append(number)
        found: Future[Any] = Future()
        if self.deaths[number]:
            self.deaths[number] -= 1
            found.set_exception(BrokenExecutor())
        else:
            found.set_result(ShardDone(number, 1, 2, "", 0, PartScores({}, {}, Counter())))
        return found

    def renew(self) -> None:
        """Count how often workers were replaced."""
        self.renewed += 1

    def look(self) -> None:
        """All give signs of life."""

    def close(self) -> None:
        """Nothing is open."""


def judged(workers: Dying, folder: Path) -> tuple[JudgingScheduler, list[str]]:
    """Return what has run the shards, and what the user was told."""
    told: list[str] = []
    setup = ShardSetup("t", Job((), Outputs(folder, "x")), folder, limits())
    found = JudgingScheduler(workers, setup, SHARDS, told.append, lambda responses, items: None)
    asyncio.run(found.run())
    return found, told


def test_what_a_dead_worker_had_is_done_again_and_the_rest_once(tmp_path: Path) -> None:
    workers = Dying(Counter({1: 1}))
    found, told = judged(workers, tmp_path)
    assert sorted(found.done) == [0, 1, 2]
    assert (workers.given, workers.renewed) == ([0, 1, 2, 1], 1)  # the longest first
    assert told == ["a worker died: 1 shards are judged again"]


def test_a_shard_that_kills_each_of_its_workers_is_named(tmp_path: Path) -> None:
    workers = Dying(Counter({2: MOST_TRIES}))
    with pytest.raises(OutputError, match=r"a worker died 3 times on 1 responses from run2 on"):
        judged(workers, tmp_path)
    assert Counter(workers.given) == {0: 1, 1: 1, 2: MOST_TRIES}
