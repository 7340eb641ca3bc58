"""The table of figures that a benchmark prints, and what they were measured with."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("dspy", "aiohttp", "orjson")
HEAD = ("part", "what", "figure", "against", "aim", "")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; `met` is None where there is no aim."""

    part: str
    what: str
    figure: str
    against: str = ""
    aim: str = ""
    met: bool | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return (self.part, self.what, self.figure, self.against, self.aim, verdict)


def lines_of(rows: list[Row]) -> list[str]:
    """Return the rows as aligned lines under a head."""
    cells = [HEAD, *(row.cells for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]


def versions(peers: str | None) -> str:
    """Return one line: Python, packages, minima-llm of the peers, cores."""
    found = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    found.append(f"minima-llm {_peer_version(peers) if peers else 'not given'}")
    return ", ".join([*found, f"{os.cpu_count()} cores, {platform.machine()}"])


def _peer_version(peers: str) -> str:
    code = "from importlib.metadata import version; print(version('minima-llm'))"
    done = subprocess.run([peers, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "not installed"
