"""Runs commands on spoiled files, each in a process of its own, and looks at how they end."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.fuzz.recipes import Recipe, recipes
from tests.fuzz.spoiling import spoil

STATUSES = (0, 1, 2, 3)
"""How a command may end; see docs/cli.md."""
PATIENCE = 30.0
"""Seconds that a command may take on these small files."""
MOST_MEMORY = 600 << 20
"""Bytes that a command may take beyond what it takes at its start."""
NEVER_PRINTED = ("Traceback", "a bug:", "Exception ignored", "MemoryError", "RecursionError")


@dataclass
class Ended:
    """How one command ended."""

    status: int
    seconds: float
    memory: int
    out: str
    err: str

    def faults(self, arguments: list[str]) -> list[str]:
        """Return what is wrong about it."""
        printed = self.out + self.err
        found = [f"prints {text!r}" for text in NEVER_PRINTED if text in printed]
        if self.status not in STATUSES:
            found.append(f"ends with {self.status}")
        if self.seconds > PATIENCE:
            found.append("does not end")
        if self.memory > MOST_MEMORY:
            found.append(f"takes {self.memory >> 20} MB")
        if self.status in (1, 2) and not printed.strip():
            found.append("says nothing")
        if self.err.count("\nerror: ") > 1:
            found.append("says more than one error")
        if (
            "--json" in arguments
            and self.out.strip()
            and self.status in (0, 3)
            and not _is_json(self.out)
        ):
            found.append("prints no JSON")
        return found


def _is_json(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


@dataclass
class Campaign:
    """Cases over the recipes, the same for the same seed; what it found is in `faults`."""

    kit: Path
    folder: Path
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0
    largest: int = 0

    def run(
        self, seconds: float, command: str = "", first: int = 0, cases: int | None = None
    ) -> None:
        """Run cases in turn over the recipes until the time is over, or so many are run."""
        until, number = time.monotonic() + seconds, first
        chosen = recipes(command)
        while time.monotonic() < until and (cases is None or number < first + cases):
            self.case(chosen[number % len(chosen)], number)
            number += 1

    def case(self, recipe: Recipe, number: int) -> None:
        """Run one case; its folder is kept where something is wrong."""
        dice = random.Random(f"{self.seed} {number} {recipe.line}")
        folder = self.folder / f"case-{number}"
        folder.mkdir(parents=True)
        for name in dict.fromkeys(recipe.needed):
            _copy(self.kit / name, folder / name)
        wanted = recipe.spoilable
        how = spoil(folder / dice.choice(wanted), dice) if wanted else "as it is"
        ended = run(recipe.arguments, folder)
        self.counts[recipe.command] += 1
        self.statuses[ended.status] += 1
        self.slowest = max(self.slowest, ended.seconds)
        self.largest = max(self.largest, ended.memory)
        if wrong := ended.faults(recipe.arguments):
            said = (ended.err.strip().splitlines() or [""])[-1][:300]
            self.faults.append(
                f"case {number}: {recipe.line}\n  {how}\n  {'; '.join(wrong)}: {said}"
            )
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.is_file() and not target.exists():
        shutil.copy(source, target)


def run(arguments: list[str], folder: Path) -> Ended:
    """Run `run_judge.py` in a copy of this process, which has imported it."""
    out, err = folder / ".out", folder / ".err"
    began = time.monotonic()
    child = os.fork()
    if not child:
        _become(arguments, folder, out, err)
    status, used = _waited(child, began)
    said = [path.read_text(errors="replace") if path.exists() else "" for path in (out, err)]
    memory = (used.ru_maxrss << 10) - _memory_of_a_copy()
    return Ended(status, time.monotonic() - began, memory, *said)


@cache
def _memory_of_a_copy() -> int:
    """Return the bytes that a copy of this process takes when it does nothing."""
    child = os.fork()
    if not child:
        os._exit(0)
    return os.wait4(child, 0)[2].ru_maxrss << 10


def _waited(child: int, began: float) -> tuple[int, resource.struct_rusage]:
    """Return how the child ended; it is killed where it takes too long."""
    while True:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), used
        if time.monotonic() - began > PATIENCE:
            os.killpg(child, signal.SIGKILL)
            _, status, used = os.wait4(child, 0)
            return os.waitstatus_to_exitcode(status), used
        time.sleep(0.002)


def _become(arguments: list[str], folder: Path, out: Path, err: Path) -> None:
    """Run the command line in this process, which ends with it."""
    status = 70
    try:
        os.setsid()
        os.chdir(folder)
        for number, path in ((0, os.devnull), (1, out), (2, err)):
            opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            os.dup2(opened, number)
        sys.stdin = os.fdopen(0, closefd=False)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
        os.environ["TRECJUDGE_CACHE"] = str(folder / ".cache")
        sys.argv = ["run_judge.py", *arguments]
        from run_judge import cli

        cli()
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)
