"""What every part of the benchmark is given: a folder, the tools, and jobs of our judge."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from invented import pairs, write_run
from processes import run

NOWHERE = "http://127.0.0.1:9/v1"
"""An address that nothing answers at: whoever asks it fails."""

IN_FLIGHT = 64
OUTPUTS = ("leaderboard.txt", "qrels", "judgments.jsonl")


class Missing(Exception):
    """A tool that a part needs was not given."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A folder of its own for one part, and the tools of the command line."""

    folder: Path
    stub: Path | None
    peers: str | None
    rounds: int
    profile: Path | None

    @property
    def stub_script(self) -> Path:
        """The stub server. Raises Missing."""
        if self.stub is None:
            raise Missing("it needs --stub")
        return self.stub

    def runs(self, items: int, name: str = "runs") -> Path:
        """Write one run of so many distinct pairs and return its folder."""
        write_run(self.folder / name, "r", pairs(items))
        return self.folder / name

    def job(
        self, url: str, runs: Path, name: str, cache: str, profile: str = "", **llm: Any
    ) -> dict[str, Any]:
        """Describe a job of our judge; its files are named `name`, its cache is `cache`."""
        return {
            "url": url,
            "runs": str(runs),
            "out": str(self.folder / "out"),
            "name": name,
            "cache": str(self.folder / cache),
            "llm": {"in_flight": IN_FLIGHT} | llm,
            "debug_log": False,
            "profile": profile,
        }

    def profiled(self, part: str, job: dict[str, Any]) -> None:
        """Run a job once more under a profiler, if that was asked for."""
        if self.profile is not None:
            self.profile.mkdir(parents=True, exist_ok=True)
            run("judge", job | {"profile": str(self.profile / f"{part}.prof")})

    def bodies(self, url: str, items: int) -> Path:
        """Write the request bodies that our judge would post and return the file."""
        path = self.folder / "bodies.jsonl"
        run("prepare", {"url": url, "items": items, "seed": 0, "bodies": str(path)})
        return path

    def warm_cache(self, items: int, name: str) -> None:
        """Fill a cache with the replies to everything that a run of so many pairs asks."""
        cache = str(self.folder / name)
        run("prepare", {"url": NOWHERE, "items": items, "seed": 0, "bodies": "", "cache": cache})

    def files(self, name: str) -> dict[str, bytes]:
        """Return the scores, grades and judgments that a job wrote, by kind."""
        return {kind: (self.folder / "out" / f"{name}.{kind}").read_bytes() for kind in OUTPUTS}


def median(figures: Sequence[dict[str, Any]], name: str) -> float:
    """Return the median of one figure."""
    return statistics.median(float(found[name]) for found in figures)
