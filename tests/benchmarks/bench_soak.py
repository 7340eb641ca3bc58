"""Soak the judge: jobs that share one cache, an endpoint that misbehaves, a kill every minute.

    python tests/benchmarks/bench_soak.py [--minutes 30] [--jobs 4] [--items 2400] [--kill-every 60]

Round after round the jobs ask for the same pairs. Each round must end with equal files in every
job, equal to those of a job at an endpoint without faults. README.md tells what is measured.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from invented import pairs, write_run
from processes import ROOT
from rude import RudeEndpoint, serving
from table import Row, lines_of, versions

COMPARED = ("leaderboard.txt", "qrels", "judgments.jsonl")
IN_FLIGHT = 16
SEED = 16
UNJUDGED = 3
"""Exit status of a job that left items unjudged."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for; times in seconds."""

    seconds: float
    jobs: int
    items: int
    kill_every: float


@dataclass(slots=True)
class Soak:
    """What was seen over all rounds."""

    rounds: int = 0
    kills: int = 0
    distinct: int = 0
    calls: int = 0
    unequal: list[str] = field(default_factory=list)
    statuses: set[int] = field(default_factory=set)
    peaks: list[list[float]] = field(default_factory=list)


@dataclass(slots=True)
class RunningJob:
    """A job of the command line, started again after each kill."""

    command: list[str]
    environment: dict[str, str]
    errors: Path
    peak: float = 0.0
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it."""
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdout=subprocess.DEVNULL, stderr=errors
            )

    def kill(self) -> None:
        """Kill it at once and start it again."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.start()

    def status(self) -> int | None:
        """Return how it ended, None while it runs; keeps the most memory that it held (MB)."""
        assert self.process is not None
        self.peak = max(self.peak, resident(self.process.pid))
        return self.process.poll()


def resident(pid: int) -> float:
    """Return the resident memory of a process in MB, 0 if it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def job(folder: Path, name: str, url: str, cache: str) -> RunningJob:
    """Return a job on the runs of a round, whose files go to a folder of its name."""
    words = [sys.executable, str(ROOT / "run_judge.py"), "--judge", "citation", "--use-env-llm"]
    words += ["--rag-responses", str(folder / "runs"), "--out-dir", str(folder / name)]
    words += ["--cache-dir", str(folder.parent / cache), "--no-check", "--no-debug-log"]
    words += ["--set", f"llm.in_flight={IN_FLIGHT}", "--set", "llm.timeout=3"]
    variables = {"OPENAI_BASE_URL": url, "OPENAI_MODEL": "rude", "OPENAI_API_KEY": "none"}
    return RunningJob(words, os.environ | variables, folder / f"{name}.err")


def files(folder: Path) -> dict[str, bytes]:
    """Return what a job wrote, by the end of the file's name."""
    return {
        kind: path.read_bytes()
        for kind in COMPARED
        for path in folder.glob(f"*{kind}")
        if path.is_file()
    }


def one_round(folder: Path, given: Options, rude: RudeEndpoint, polite: RudeEndpoint) -> Soak:
    """Run all jobs of a round to their end and return what was seen."""
    write_run(folder / "runs", "r", pairs(given.items, seed=int(folder.name)))
    calls_before, distinct_before = rude.calls, len(rude.seen)
    jobs = [job(folder, f"job{n}", rude.url, "cache") for n in range(given.jobs)]
    found = Soak(rounds=1, kills=_until_all_end(jobs, given))
    found.calls = rude.calls - calls_before - rude.take_faults()
    found.distinct = len(rude.seen) - distinct_before
    found.peaks.append([each.peak for each in jobs])
    found.statuses = {each.status() or 0 for each in jobs}
    reference = job(folder, "reference", polite.url, "cache-polite")
    _until_all_end([reference], given, killing=False)
    want = files(folder / "reference")
    if set(want) != set(COMPARED):
        found.unequal.append(f"{folder.name}: the reference wrote only {sorted(want)}")
    for number in range(given.jobs):
        have = files(folder / f"job{number}")
        found.unequal += [
            f"round {folder.name}, job{number}: {kind}"
            for kind in want
            if have.get(kind) != want[kind]
        ]
    return found


def _until_all_end(jobs: list[RunningJob], given: Options, killing: bool = True) -> int:
    """Run jobs until all have ended, with a kill now and then; return the kills."""
    chance, kills = random.Random(SEED), 0
    for each in jobs:
        each.start()
    due = time.monotonic() + given.kill_every
    while left := [each for each in jobs if each.status() is None]:
        if killing and time.monotonic() > due:
            chance.choice(left).kill()
            kills += 1
            due = time.monotonic() + given.kill_every
        time.sleep(0.1)
    return kills


def soak(folder: Path, given: Options) -> Iterator[Soak]:
    """Yield what each round saw, until the time is over."""
    until, number = time.monotonic() + given.seconds, 0
    with serving(faults=True) as rude, serving(faults=False) as polite:
        while time.monotonic() < until:
            number += 1
            (folder / str(number)).mkdir()
            found = one_round(folder / str(number), given, rude, polite)
            memory = ", ".join(f"{peak:.0f}" for peak in found.peaks[0])
            print(
                f"round {number}: {found.calls:,} calls for {found.distinct:,} pairs,"
                f" {found.kills} kills, unequal {found.unequal or 'none'},"
                f" statuses {sorted(found.statuses)}, peaks {memory} MB",
                file=sys.stderr,
                flush=True,
            )
            yield found


def rows(rounds: list[Soak], jobs: int) -> Iterator[Row]:
    """Yield the table of a soak."""
    kills = sum(found.kills for found in rounds)
    calls, distinct = sum(f.calls for f in rounds), sum(f.distinct for f in rounds)
    unequal = [name for found in rounds for name in found.unequal]
    yield Row("soak", "rounds", str(len(rounds)), f"{jobs} jobs each, {kills} kill -9")
    against = f"{distinct:,} distinct pairs, faulty calls not counted"
    most = distinct + kills * IN_FLIGHT
    yield Row("soak", "calls", f"{calls:,}", against, f"at most {most:,}", calls <= most)
    yield Row("soak", "files unlike the reference", str(len(unequal)), "", "0", not unequal)
    statuses = set().union(*(found.statuses for found in rounds))
    yield Row("soak", "exit statuses", str(sorted(statuses)), "", "[0]", statuses == {0})
    first, last = max(rounds[0].peaks[0]), max(rounds[-1].peaks[0])
    yield Row("soak", "most memory of a job", f"{last:.0f} MB", f"{first:.0f} MB in round 1")


def options() -> Options:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--items", type=int, default=2_400, help="pairs of a round")
    parser.add_argument("--kill-every", type=float, default=60, help="seconds")
    given = parser.parse_args()
    return Options(given.minutes * 60, given.jobs, given.items, given.kill_every)


def main() -> None:
    """Soak and print the table."""
    given = options()
    print(f"{time.strftime('%Y-%m-%d')}: {versions(None)}")
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        rounds = list(soak(Path(folder), given))
    print("\n".join(lines_of(list(rows(rounds, given.jobs)))))


if __name__ == "__main__":
    main()
