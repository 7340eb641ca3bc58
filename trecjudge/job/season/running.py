"""A season goes on: what is due is done, what is done stays, whenever it was stopped."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from trecjudge.files import FIXED, fixed_time, whole
from trecjudge.inputs.sources.packing import Checksums
from trecjudge.job.config import file_digest
from trecjudge.job.season.steps import PLAN, Run, Step, Steps, Waiting
from trecjudge.results.outputs import hold_lock

STATE = "state.json"
COLUMNS = "100"
"""How wide tables of letters are."""
UNREPEATED = (".log", ".log.zst", ".config.yml")
"""Ends of files that tell when and how often something was done: they need not be the same."""


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a step: done now, in so many seconds, or before."""

    step: str
    does: str
    seconds: float | None = None


@dataclass(slots=True)
class State:
    """What is done: of each step the key that it was done by, and the files it wrote by sha256.

    `started` is the time that files name, in seconds since 1970: all of a season name one.
    """

    path: Path
    started: int = 0
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> State:
        """Return the state of a season's folder; a new one where there is none."""
        if not path.is_file():
            now = fixed_time()
            moment = datetime.fromisoformat(now) if now else datetime.now(UTC)
            return cls(path, int(moment.timestamp()))
        found = orjson.loads(path.read_bytes())
        return cls(path, found["started"], found["steps"])

    def write(self) -> None:
        """Write the state, whole or not at all."""
        content = {"started": self.started, "steps": self.steps}
        with whole(self.path) as file:
            file.write(orjson.dumps(content, option=orjson.OPT_INDENT_2))


@dataclass(frozen=True)
class SeasonRun:
    """A season in its folder: `run` runs a command line there, `told` hears of each step."""

    steps: Steps
    run: Run
    told: Callable[[Done], None]

    @property
    def folder(self) -> Path:
        """The folder of the season."""
        return self.steps.folder

    def advance(self) -> Waiting | None:
        """Do every step that is due; return what people must do first, None if all is done.

        Raises StepFailed where a command fails, and the errors of the settings.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        state = State.read(self.folder / STATE)
        state.write()
        what = f"{self.folder}/*"
        with (
            hold_lock(self.folder / ".season.lock", what, lambda message: None),
            _same_surroundings(state.started),
        ):
            for step in self.steps:
                if isinstance(step, Waiting):
                    return step
                self._settle(step, state)
        return None

    def _settle(self, step: Step, state: State) -> None:
        key = self._key(step, state)
        before = state.steps.get(step.name)
        if before and before["key"] == key and self._is_whole(before["files"]):
            self.told(Done(step.name, step.does))
            return
        begun = time.perf_counter()
        own = self.folder / step.name
        if step.name != PLAN:
            if not step.resumes:
                shutil.rmtree(own, ignore_errors=True)
            own.mkdir(exist_ok=True)
        step.work(self.run)
        state.steps[step.name] = {"key": key, "files": dict(self._written(own))}
        state.write()
        self.told(Done(step.name, step.does, time.perf_counter() - begun))

    def _key(self, step: Step, state: State) -> str:
        """Return the sha256 of what a step reads and of what it is to do."""
        read: list[Any] = []
        for one in step.reads:
            if isinstance(one, Path):
                read.append(file_digest(one, Checksums()))
            else:
                read.append(state.steps[one]["files"])
        return hashlib.sha256(orjson.dumps([step.name, step.asks, read])).hexdigest()

    def _is_whole(self, files: Mapping[str, str]) -> bool:
        paths = {self.folder / name: sha for name, sha in files.items()}
        return all(p.is_file() and file_digest(p, Checksums()) == s for p, s in paths.items())

    def _written(self, own: Path) -> Iterator[tuple[str, str]]:
        """Yield the files of a step that any repetition writes alike, by sha256."""
        files = [own] if own.is_file() else sorted(p for p in own.rglob("*") if p.is_file())
        for path in files:
            if not path.name.endswith(UNREPEATED) and not path.name.startswith("."):
                yield str(path.relative_to(self.folder)), file_digest(path, Checksums())


@contextmanager
def _same_surroundings(seconds: int) -> Iterator[None]:
    """Have all files name one time, and tables one width: a step done again writes the same."""
    meanwhile = {FIXED: str(seconds), "COLUMNS": COLUMNS}
    before = {name: os.environ.pop(name, None) for name in meanwhile}
    os.environ.update(meanwhile)
    try:
        yield
    finally:
        for name, value in before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value
