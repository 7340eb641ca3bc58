"""What is lost: at a busy endpoint, a faulty one, by kills, and where runs ask for the same."""

from __future__ import annotations

import json
import math
import random
import signal
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from bench import Bench
from invented import pairs, write_run
from processes import Stub, figures, run, serving, start
from table import Row

BUSY_ITEMS, BUSY_LIMIT, BUSY_MS = 2_000, 8, 50
FAULTY_ITEMS = 2_000
FAULTS = {
    "rate_malformed": 0.1,
    "rate_truncated": 0.02,
    "rate_timeout": 0.01,
    "rate_reset": 0.05,
    "rate_500": 0.05,
}
TIMEOUT, HANG = 1.5, 3
KILLED_ITEMS, KILLED_IN_FLIGHT, KILLS, SEED = 2_400, 16, 20, 7
RUNS, PAIRS, COMMON = 10, 200, 120


def throttle(bench: Bench) -> Iterator[Row]:
    """Yield how an endpoint that holds few requests at once is used, without losing any."""
    runs, log = bench.runs(BUSY_ITEMS), bench.folder / "stub.log"
    flags = {"latency_ms": BUSY_MS, "max_concurrency": BUSY_LIMIT, "retry_after": 1, "log": log}
    with serving(bench.stub_script, **flags) as stub:
        found = run("judge", bench.job(stub.url, runs, "t", "cache"))
        refused = stub.stats()["by_status"].get("429", 0)
    ideal = BUSY_ITEMS * BUSY_MS / 1000 / BUSY_LIMIT
    lost, ratio = BUSY_ITEMS - found["judged"], found["seconds"] / ideal
    first, after = _refusals(log)
    yield Row("throttle", "items lost", str(lost), f"{BUSY_ITEMS:,} items", "0", not lost)
    against = f"{ratio:.2f} of ideal {ideal:.1f} s"
    figure = f"{found['seconds']:.1f} s"
    yield Row("throttle", "time", figure, against, "at most 1.2", ratio <= 1.2)
    yield Row("throttle", "429s in the first second", str(first), f"{refused} in all")
    yield Row("throttle", "429s after it", str(after), "", "at most 10", after <= 10)


def _refusals(log: Path) -> tuple[int, int]:
    """Return how many 429s there were within a second of the first request, and after."""
    requests = [json.loads(line) for line in log.read_bytes().splitlines()]
    began = min(request["t"] for request in requests)
    times = [request["t"] - began for request in requests if request["fault"] == "429"]
    first = sum(at <= 1 for at in times)
    return first, len(times) - first


def faults(bench: Bench) -> Iterator[Row]:
    """Yield what becomes of items at an endpoint with faults, twice with the same seed."""
    runs = bench.runs(FAULTY_ITEMS)
    flags = {"latency_ms": 5, "hang_s": HANG, "seed": SEED} | FAULTS
    found = []
    for name in ("first", "second"):
        with serving(bench.stub_script, **flags) as stub:
            job = bench.job(stub.url, runs, name, f"cache-{name}", timeout=TIMEOUT)
            found.append(run("judge", job) | {"stub": _met(stub.stats())})
    unjudged = found[0]["done"] - found[0]["judged"]
    told = sum(found[0]["failures"].values())
    met = ", ".join(f"{count} {kind}" for kind, count in found[0]["stub"].items())
    kinds = ", ".join(f"{count} {kind}" for kind, count in found[0]["failures"].items())
    whole = found[0]["done"] == FAULTY_ITEMS and unjudged == told
    yield Row("faults", "judged", f"{found[0]['judged']:,} of {FAULTY_ITEMS:,}", f"met: {met}")
    yield Row("faults", "unjudged by kind", kinds or "none", "", "every one has a kind", whole)
    bugs = found[0]["failures"].get("bug", 0)
    yield Row("faults", "exceptions", str(bugs), "", "0", not bugs)
    bad = _not_finite(bench.files("first")["leaderboard.txt"])
    yield Row("faults", "NaN in the leaderboard", str(bad), "", "0", not bad)
    same = [k for k, v in bench.files("first").items() if v == bench.files("second")[k]]
    against = "replay with the same seed"
    yield Row("faults", "files alike", f"{len(same)} of 3", against, "3 of 3", len(same) == 3)


def _met(stats: dict[str, Any]) -> dict[str, int]:
    """Return what an endpoint answered by kind; a held request is one that the client let go."""
    met: dict[str, int] = stats["by_kind"] | {"timeout": stats["client_gone"]}
    return met


def _not_finite(leaderboard: bytes) -> int:
    return sum(not math.isfinite(float(row.split()[-1])) for row in leaderboard.splitlines())


def kill(bench: Bench) -> Iterator[Row]:
    """Yield what a job that is killed again and again pays twice, and whether it ends the same."""
    runs, chance = bench.runs(KILLED_ITEMS), random.Random(SEED)
    with serving(bench.stub_script, latency_ms=50) as stub:
        limit = {"in_flight": KILLED_IN_FLIGHT}
        run("judge", bench.job(stub.url, runs, "whole", "cache-whole", **limit))
        distinct = stub.stats()["requests"]
        stub.reset()
        job = bench.job(stub.url, runs, "killed", "cache-killed", **limit)
        under_way = [_killed(job, stub, chance, number % 4 > 0) for number in range(KILLS)]
        run("judge", job)
        stats = stub.stats()
    hits = [count for count in under_way if count is not None]
    extra = stats["requests"] - distinct
    most = len(hits) * KILLED_IN_FLIGHT
    yield Row("kill", "kill -9", f"{len(hits)} of {KILLS}", f"{distinct:,} requests")
    against = f"{sum(hits)} under way at the kills, {stats['client_gone']} cut"
    yield Row("kill", "paid twice", str(extra), against, f"at most {most}", extra <= most)
    same = [k for k, v in bench.files("whole").items() if v == bench.files("killed")[k]]
    against = "uninterrupted run"
    yield Row("kill", "files alike", f"{len(same)} of 3", against, "3 of 3", len(same) == 3)


def _killed(job: dict[str, Any], stub: Stub, chance: random.Random, asking: bool) -> int | None:
    """Kill a job at a random moment, once it is `asking` or from its start.

    Return how many requests were under way, None if it ended before.
    """
    before = stub.stats()["requests"]
    process = start("judge", job)
    while asking and process.poll() is None and stub.stats()["requests"] == before:
        time.sleep(0.01)
    time.sleep(chance.uniform(0, 0.6 if asking else 2.0))
    under_way: int = stub.stats()["inflight"]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return under_way if process.returncode == -signal.SIGKILL else None


def shared(bench: Bench) -> Iterator[Row]:
    """Yield the calls that runs cost which have most of their pairs in common."""
    folder = bench.folder / "runs"
    for number in range(RUNS):
        own = pairs(PAIRS - COMMON, seed=1 + number)
        write_run(folder, f"r{number}", chain(pairs(COMMON), own))
    distinct = COMMON + RUNS * (PAIRS - COMMON)
    with serving(bench.stub_script, latency_ms=5) as stub:
        reported = figures(start("judge", bench.job(stub.url, folder, "s", "cache")))
        calls = stub.stats()["requests"]
    assert reported["judged"] == RUNS * PAIRS
    against = f"{RUNS * PAIRS:,} items, {distinct} distinct pairs"
    yield Row("shared", "calls", str(calls), against, str(distinct), calls == distinct)
