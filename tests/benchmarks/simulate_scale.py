"""Simulate a large job on many machines: what is moved, what is serial, what fails how often.

    python tests/benchmarks/simulate_scale.py [--pairs 1e8] [--way workers|shard] [--mtbf-hours 24]

Shards are judged by machines that fail and are slow at random, and write to one shared file
system. Costs were measured with `docs/measured.md`; flags of machines are assumptions. Times of two
ways differ: with `workers` one process reads all runs and shards are scored where they are judged;
with `shard` every part reads all runs, and `merge` scores.
"""

from __future__ import annotations

import argparse
import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import get_type_hints

from table import Row, lines_of

MACHINES = (1, 2, 8, 32, 100)
SHARDS_OF_A_CORE = 4
LEAST_PAIRS = 2_000
WORTH = 1.25
"""Twice the machines must be so much faster to be worth it."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What a job costs: seconds of one core, bytes; and the machines that it runs on."""

    pairs: float = 1e8
    way: str = "workers"
    judge_seconds: float = 0.000935
    """CPU of a pair judged, scored and written."""
    read_seconds: float = 0.0000158
    """CPU of reading the runs, by pair."""
    start_seconds: float = 1.2
    """Until a process has read what there is beside the runs."""
    pair_bytes: float = 242
    """Of the runs."""
    judgment_bytes: float = 1825
    """Of a judgment on disk, without the log."""
    copy_bytes: float = 1.07e9
    """That one process copies in a second."""
    finish_seconds: float = 0.0000202
    """CPU of putting scores together, by pair, where shards are scored apart."""
    score_seconds: float = 0.0000555
    """CPU of scoring, by pair, where `merge` does it."""
    cores: int = 2
    disk_bytes: float = 1e9
    """That the shared file system writes in a second, for all together."""
    mtbf_hours: float = 720
    """Mean hours until a machine fails."""
    repair_seconds: float = 120
    slow_share: float = 0.05
    slow_factor: float = 3
    """How many machines are slow, and how much slower."""
    seed: int = 1


@dataclass(slots=True)
class Outcome:
    """What a simulated job came to, in seconds; `busy` and `lost` are of all cores together."""

    read: float = 0
    judged: float = 0
    merged: float = 0
    scored: float = 0
    pairs: float = 0
    busy: float = 0
    lost: float = 0
    failures: int = 0
    again: int = 0

    @property
    def serial(self) -> float:
        """Seconds in which one process works, and all others wait."""
        return self.read + self.merged + self.scored

    @property
    def total(self) -> float:
        """Seconds until all files are there."""
        return self.serial + self.judged


def shards_of(costs: Costs, cores: int) -> list[float]:
    """Return the pairs of each shard: several for a core, or exactly one."""
    each = 1 if costs.way == "shard" else SHARDS_OF_A_CORE
    count = max(1, min(cores * each, int(costs.pairs // LEAST_PAIRS)))
    return [costs.pairs / count] * count


@dataclass(frozen=True, slots=True, order=True)
class Event:
    """A core is free, or has judged a shard of so many pairs that are to be `written`.

    It is `fresh` where its process has yet to start.
    """

    time: float
    core: int
    machine: int
    fresh: bool = True
    written: float = 0


@dataclass(slots=True)
class Cluster:
    """Machines that judge shards: each core takes the next one when it is free."""

    costs: Costs
    machines: int
    chance: random.Random = field(init=False)
    slow: list[float] = field(init=False)
    fails: list[float] = field(init=False)
    disk_free: float = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(f"{self.costs.seed} {self.machines}")
        slow = round(self.machines * self.costs.slow_share)
        self.slow = [self.costs.slow_factor if n < slow else 1.0 for n in range(self.machines)]
        self.fails = [self._until_failure() for _ in range(self.machines)]

    def judge(self, outcome: Outcome) -> None:
        """Judge all shards; add to the outcome what that took."""
        costs = self.costs
        waiting = [(0.0, pairs) for pairs in shards_of(costs, self.machines * costs.cores)]
        cores = (machine for machine in range(self.machines) for _ in range(costs.cores))
        events = [Event(0.0, number, machine) for number, machine in enumerate(cores)]
        while events:
            event = heapq.heappop(events)
            if event.written:
                heapq.heappush(events, self._write(event, outcome))
            elif waiting:
                heapq.heappush(events, self._take(event, waiting, outcome))

    def _take(self, event: Event, waiting: list[tuple[float, float]], outcome: Outcome) -> Event:
        """Let a core judge the next shard; return when it is judged, or the machine is back."""
        ready, pairs = heapq.heappop(waiting)
        now, machine = max(event.time, ready), event.machine
        self._fail_until(machine, now, outcome)
        work, fails = self._seconds(pairs, event.fresh) * self.slow[machine], self.fails[machine]
        if now + work < fails:
            outcome.busy += work
            return Event(now + work, event.core, machine, False, pairs)
        outcome.lost += max(0.0, fails - now)
        outcome.again += 1
        heapq.heappush(waiting, (max(now, fails), pairs))
        return Event(fails + self.costs.repair_seconds, event.core, machine)

    def _write(self, event: Event, outcome: Outcome) -> Event:
        """Write a shard to the disk, which all share; return when its core is free."""
        size = event.written * self.costs.judgment_bytes
        self.disk_free = max(event.time, self.disk_free) + size / self.costs.disk_bytes
        outcome.pairs += event.written
        outcome.judged = self.disk_free
        return Event(self.disk_free, event.core, event.machine, False)

    def _seconds(self, pairs: float, fresh: bool) -> float:
        """Return the seconds that a core needs for a shard, without writing it."""
        costs = self.costs
        read = costs.read_seconds * (costs.pairs if costs.way == "shard" else pairs)
        return pairs * costs.judge_seconds + read + (costs.start_seconds if fresh else 0)

    def _fail_until(self, machine: int, now: float, outcome: Outcome) -> None:
        """Count failures that are over by now, and settle when the machine fails next."""
        while self.fails[machine] + self.costs.repair_seconds <= now:
            outcome.failures += 1
            self.fails[machine] += self.costs.repair_seconds + self._until_failure()

    def _until_failure(self) -> float:
        return self.chance.expovariate(1 / (self.costs.mtbf_hours * 3600))


def simulated(costs: Costs, machines: int) -> Outcome:
    """Return what a job comes to on so many machines. The same seed gives the same outcome."""
    outcome = Outcome()
    apart = costs.way == "workers"
    outcome.read = costs.pairs * costs.read_seconds if apart else 0
    Cluster(costs, machines).judge(outcome)
    size = costs.pairs * costs.judgment_bytes
    outcome.merged = 2 * size / min(costs.copy_bytes, costs.disk_bytes)
    outcome.scored = costs.pairs * (costs.finish_seconds if apart else costs.score_seconds)
    return outcome


def knee(costs: Costs, most: int = 128) -> int:
    """Return the machines from which on twice as many are hardly worth it."""
    machines = 1
    while machines < most:
        faster = simulated(costs, machines).total / simulated(costs, 2 * machines).total
        if faster < WORTH:
            break
        machines *= 2
    return machines


def report(costs: Costs) -> list[str]:
    """Return the lines that are printed."""
    one = simulated(costs, 1).total
    rows = []
    for machines in MACHINES:
        found = simulated(costs, machines)
        what = f"read {found.read:,.0f}, judge {found.judged:,.0f}"
        what += f", merge {found.merged:,.0f}, score {found.scored:,.0f} s"
        failed = f"{found.failures} failures, {found.again} shards again, {found.lost:,.0f} s lost"
        figure = f"{found.total:,.0f} s, {one / found.total:.1f} x"
        rows.append(Row(f"{machines} machines", what, figure, failed))
    parts = costs.pairs * costs.judgment_bytes
    copies = 1 if costs.way == "workers" else MACHINES[-1] * costs.cores
    hours = simulated(costs, MACHINES[-1]).total / 3600
    return [
        f"{costs.pairs:,.0f} pairs, {costs.cores} cores a machine, by {costs.way}",
        *lines_of(rows),
        f"moved: runs {costs.pairs * costs.pair_bytes / 1e9:,.0f} GB, read {copies + 1} times;"
        f" parts {parts / 1e9:,.0f} GB written, then read and written once more",
        f"serial: {simulated(costs, 1).serial:,.0f} s of {one:,.0f} s on one machine",
        f"fails: {MACHINES[-1] * hours / costs.mtbf_hours:.3f} machines expected in a job on"
        f" {MACHINES[-1]}",
        f"knee: beyond {knee(costs)} machines, twice as many save less than a fifth of the time",
    ]


def costs_asked(words: Sequence[str] | None = None) -> Costs:
    """Return the costs of a command line: a flag each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    kinds = get_type_hints(Costs)
    default = Costs()
    for one in fields(Costs):
        flag = f"--{one.name.replace('_', '-')}"
        choices = ("workers", "shard") if one.name == "way" else None
        value = getattr(default, one.name)
        parser.add_argument(flag, type=kinds[one.name], default=value, choices=choices)
    return replace(default, **vars(parser.parse_args(words)))


if __name__ == "__main__":
    print("\n".join(report(costs_asked())))
