"""How fast: calls beside peers, replies from a warm cache, memory, start of the command."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import IN_FLIGHT, NOWHERE, Bench, median
from processes import ROOT, Stub, run, serving
from table import Row

CALLS, LATENCY_MS = 4_000, 2
"""With more latency it is the server that is measured, with fewer calls the start."""

WIDTHS = (128, 256)
WARM, WARM_PEER = 20_000, 4_000
FEW, MANY = 2_000, 50_000
HELPS = 5
Contender = Callable[[int], dict[str, Any]]
"""Runs in the round of that number and reports."""

JUDGE, RAW = "whole judge", "raw aiohttp"
LEAST_OF_RAW, LEAST_OF_MINIMA, LEAST_WARM = 0.5, 4, 12_000
MOST_CPU = 0.3
"""CPU milliseconds of a call."""

MINIMA, MINIMA_KEEPING = "minima-llm, no cache", "minima-llm, cache written"
ACALL, PARALLEL = "dspy acall, stock client", "dspy.Parallel, stock client"


def calls(bench: Bench) -> Iterator[Row]:
    """Yield calls a second and CPU a call of every contender, the same work to each."""
    runs = bench.runs(CALLS)
    if bench.peers is None:
        yield Row("calls", "minima-llm passed over: it needs --peers", "")
    for width in WIDTHS:
        with serving(bench.stub_script, latency_ms=LATENCY_MS) as stub:
            contenders = _contenders(bench, stub, runs, width)
            found: dict[str, list[dict[str, Any]]] = {name: [] for name in contenders}
            for number in range(bench.rounds):  # in turn, so that noise of the machine hits all
                for name, contender in contenders.items():
                    found[name].append(contender(number))
            job = bench.job(stub.url, runs, "p", f"cache-{width}-p", in_flight=width)
            bench.profiled(f"calls-{width}", job)
        yield from _rows(f"calls, {width}", found)


def _rows(part: str, found: dict[str, list[dict[str, Any]]]) -> Iterator[Row]:
    """Yield what was found of every contender."""
    for name, figures in found.items():
        lost = any(one["done"] != CALLS for one in figures)
        rate = CALLS / median(figures, "seconds")
        yield Row(
            part,
            name,
            f"{rate:,.0f} calls/s" + (" (some lost)" if lost else ""),
            f"{_ratio(found[RAW], figures):.2f} of {RAW}",
            *_least(_ratio(found[RAW], figures), LEAST_OF_RAW, name),
        )
        cpu = 1000 * median(figures, "cpu_seconds") / CALLS
        aim = (f"at most {MOST_CPU}", cpu <= MOST_CPU) if name == JUDGE else ()
        yield Row(part, name, f"{cpu:.2f} CPU ms a call", "", *aim)
    if MINIMA_KEEPING in found:
        ratio = _ratio(found[MINIMA_KEEPING], found[JUDGE])
        aim = (f"at least {LEAST_OF_MINIMA}", ratio >= LEAST_OF_MINIMA)
        yield Row(part, JUDGE, f"{ratio:.2f} x", MINIMA_KEEPING, *aim)


def _contenders(bench: Bench, stub: Stub, runs: Path, width: int) -> dict[str, Contender]:
    posted = {
        "url": stub.url,
        "bodies": str(bench.bodies(stub.url, CALLS)),
        "in_flight": width,
        "cache": None,
        "warm": False,
    }
    stock = {"url": stub.url, "items": CALLS, "seed": 0, "in_flight": width}

    def judge(number: int) -> dict[str, Any]:
        cache = f"cache-{width}-{number}"
        return run("judge", bench.job(stub.url, runs, "j", cache, in_flight=width))

    contenders: dict[str, Contender] = {
        JUDGE: judge,
        RAW: lambda _: run("raw_aiohttp", posted),
        ACALL: lambda _: run("stock_dspy", stock | {"parallel": False}),
        PARALLEL: lambda _: run("stock_dspy", stock | {"parallel": True}),
    }
    peers = bench.peers
    if peers is not None:
        contenders[MINIMA] = lambda _: run("minima", posted, peers)
        contenders[MINIMA_KEEPING] = lambda number: run(
            "minima", posted | {"cache": str(bench.folder / f"peer-{width}-{number}")}, peers
        )
    return contenders


def _ratio(baseline: list[dict[str, Any]], figures: list[dict[str, Any]]) -> float:
    """Return the median over the rounds of how many times as fast as the baseline."""
    pairs = zip(baseline, figures, strict=True)
    return statistics.median(theirs["seconds"] / ours["seconds"] for theirs, ours in pairs)


def _least(value: float, aim: float, name: str) -> tuple[str, bool] | tuple[()]:
    return (f"at least {aim}", value >= aim) if name == JUDGE else ()


def warm(bench: Bench) -> Iterator[Row]:
    """Yield items a second where every reply is in the cache and nothing may be asked."""
    runs = bench.runs(WARM)
    bench.warm_cache(WARM, "cache")
    job = bench.job(NOWHERE, runs, "w", "cache")
    for what, more in ((JUDGE, {}), (f"{JUDGE}, debug log", {"debug_log": True})):
        figures = [run("judge", job | more) for _ in range(bench.rounds)]
        assert all(one["judged"] == WARM and not one["spent"]["calls"] for one in figures)
        rate = WARM / median(figures, "seconds")
        cpu = f"{1e6 * median(figures, 'cpu_seconds') / WARM:.0f} CPU us an item"
        aim = () if more else (f"at least {LEAST_WARM:,}", rate >= LEAST_WARM)
        yield Row("warm", what, f"{rate:,.0f} items/s", cpu, *aim)
    bench.profiled("warm", job)
    if bench.peers is None or bench.stub is None:
        yield Row("warm", "minima-llm passed over: it needs --peers and --stub", "")
        return
    with serving(bench.stub, latency_ms=0) as stub:
        posted = {
            "url": stub.url,
            "bodies": str(bench.bodies(stub.url, WARM_PEER)),
            "in_flight": IN_FLIGHT,
            "cache": str(bench.folder / "peer"),
            "warm": True,
        }
        found = run("minima", posted, bench.peers)
    yield Row("warm", "minima-llm, replies alone", f"{WARM_PEER / found['seconds']:,.0f} items/s")


def memory(bench: Bench) -> Iterator[Row]:
    """Yield the peak memory of small and large jobs on a warm cache."""
    peaks = {}
    for items in (FEW, MANY):
        runs = bench.runs(items, f"runs-{items}")
        bench.warm_cache(items, f"cache-{items}")
        job = bench.job(NOWHERE, runs, f"m{items}", f"cache-{items}")
        peaks[items] = run("judge", job)["peak_mb"]
        yield Row("memory", f"{items:,} items", f"{peaks[items]:.1f} MB peak")
    more = peaks[MANY] - peaks[FEW]
    against = f"{MANY:,} over {FEW:,}"
    yield Row("memory", JUDGE, f"{more:+.1f} MB", against, "within 20", more <= 20)


def start(bench: Bench) -> Iterator[Row]:
    """Yield the time of `--help` beside that of a Python that does nothing."""
    bare = _seconds([sys.executable, "-c", "pass"])
    ours = _seconds([sys.executable, str(ROOT / "run_judge.py"), "--help"])
    against = f"bare Python {1000 * bare:.0f} ms"
    yield Row("start", "--help", f"{1000 * ours:.0f} ms", against, "within 300", ours <= 0.3)


def _seconds(command: list[str]) -> float:
    """Return the median time of a command."""
    found = []
    for _ in range(HELPS):
        started = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        found.append(time.perf_counter() - started)
    return statistics.median(found)
