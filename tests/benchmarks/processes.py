"""What a benchmark runs and times: the stub server, a child for each contender, commands, calls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CONTENDERS = HERE / "contenders"


@dataclass(frozen=True, slots=True)
class Stub:
    """A running stub server."""

    port: int

    @property
    def url(self) -> str:
        """What OPENAI_BASE_URL would be."""
        return f"http://127.0.0.1:{self.port}/v1"

    def stats(self) -> dict[str, Any]:
        """Return the server's counters."""
        return self._get("/stats")

    def reset(self) -> None:
        """Set the counters to nothing."""
        self._get("/stats/reset", b"{}")

    def _get(self, path: str, data: bytes | None = None) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", data) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


@contextmanager
def serving(script: Path, **flags: object) -> Iterator[Stub]:
    """Run the stub server with these flags (`latency_ms=50` is `--latency-ms 50`)."""
    words = [w for k, v in flags.items() for w in (f"--{k.replace('_', '-')}", str(v))]
    process = subprocess.Popen(
        [sys.executable, str(script), "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Stub(int(process.stdout.readline().split()[-1]))
    finally:
        process.terminate()
        process.wait()


def start(
    name: str, spec: Mapping[str, Any], interpreter: str = sys.executable
) -> subprocess.Popen[str]:
    """Start a contender on what `spec` describes; our own code is on the path of our own alone."""
    ours = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])}
    process = subprocess.Popen(
        [interpreter, str(CONTENDERS / f"{name}.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | (ours if interpreter == sys.executable else {}),
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(spec))
    process.stdin.close()
    process.stdin = None
    return process


def figures(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for a contender and return what it reported. Raises RuntimeError if it failed."""
    out, error = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{process.args!r} ended with {process.returncode}:\n{error[-3000:]}")
    reports = [line for line in out.splitlines() if line.startswith("{")]  # peers print more
    return json.loads(reports[-1]) if reports else {}


def run(name: str, spec: Mapping[str, Any], interpreter: str = sys.executable) -> dict[str, Any]:
    """Run a contender to its end and return what it reported."""
    return figures(start(name, spec, interpreter))


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that has ended: its peak in MB (Linux), its seconds, and what it printed."""

    peak: float
    seconds: float
    cpu: float
    printed: bytes


def ran(*words: str | Path, statuses: Sequence[int] = (0,)) -> Ran:
    """Run a command of which nothing outlives this process. Raises RuntimeError where it failed."""
    with tempfile.TemporaryFile() as printed:
        started = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, words)), stdout=printed, stderr=subprocess.DEVNULL, cwd=ROOT
        )
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:  # as of an interrupt
            process.terminate()
            raise
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in statuses:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
        printed.seek(0)
        cpu = used.ru_utime + used.ru_stime
        return Ran(used.ru_maxrss / 1024, seconds, cpu, printed.read())


@dataclass(frozen=True, slots=True)
class Timing:
    """What calls returned, one after another, and the milliseconds that one took."""

    found: list[Any]
    p50: float
    p95: float
    cpu: float


def timed(ask: Callable[[Any], Any], queries: Sequence[Any]) -> Timing:
    """Time a call for each query, after one that warms up."""
    ask(queries[0])
    found, walls = [], []
    begun = time.process_time()
    for query in queries:
        start = time.perf_counter()
        found.append(ask(query))
        walls.append(1000 * (time.perf_counter() - start))
    cpu = 1000 * (time.process_time() - begun) / len(queries)
    walls.sort()
    return Timing(found, walls[len(walls) // 2], walls[int(len(walls) * 0.95)], cpu)
