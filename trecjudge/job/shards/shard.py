"""A shard: which responses of which run files are judged together; what was made of them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trecjudge.errors import WorkflowError
from trecjudge.inputs.sources.paths import as_file
from trecjudge.job.job import Job
from trecjudge.scores.scoring import PartScores
from trecjudge.settings.limits import Limits

SCHEMES = ("dask", "tcp")
"""What the address of a Dask scheduler begins with."""
LEAST_ITEMS = 2000
"""Items of a shard, at least: half a second of work, beside which its start does not count."""


@dataclass(frozen=True, slots=True)
class WorkersAsked:
    """How many processes of this machine judge, or the address of a cluster's scheduler."""

    count: int = 1
    cluster: str = ""


def workers_asked(text: str) -> WorkersAsked:
    """Return what `auto`, a number or `dask://HOST:PORT` asks for. Raises WorkflowError."""
    scheme, is_address, address = text.partition("://")
    if is_address:
        if scheme not in SCHEMES or not re.fullmatch(r"\S+:\d+", address):
            raise WorkflowError(f"--workers {text}: give a number, auto, or dask://HOST:PORT")
        return WorkersAsked(cluster=address)
    return WorkersAsked(_count(text))


def _count(text: str) -> int:
    if text == "auto":
        # Of those that this process may use: a batch system gives it a few of many.
        usable = getattr(os, "sched_getaffinity", None)
        return len(usable(0)) if usable else os.cpu_count() or 1
    if not text.isdecimal() or not int(text):
        raise WorkflowError(f"--workers {text}: give a number from 1 on, auto, or dask://HOST:PORT")
    return int(text)


def shard_asked(text: str) -> tuple[int, int]:
    """Return (number from 1, of how many) of `2/8`. Raises WorkflowError."""
    number, _, of = text.partition("/")
    if number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of):
        return int(number), int(of)
    raise WorkflowError(f"--shard {text}: give I/N, such as 2/8: the second of eight")


def seen_by_all(path: Path) -> Path:
    """Return a path by which other processes find a file, whatever folder they were started in."""
    # By its real path: standard input is kept in a file.
    return Path(os.path.abspath(as_file(path)))


@dataclass(frozen=True, slots=True)
class Portion:
    """Responses of one run file: the ordinals of their records, from 0, with runs and samples.

    Names are those that the whole job gives: a file by itself does not show that two runs of
    different teams are called alike, nor a part of it which sample is the second one.
    """

    path: Path
    ordinals: tuple[int, ...]
    run_ids: tuple[str, ...]
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shard:
    """Responses next to each other in the order of the job; `items` is about how many items.

    `ids` is a digest of their runs and topics, in this order.
    """

    number: int
    portions: tuple[Portion, ...]
    responses: int
    items: int
    ids: str = ""


@dataclass(frozen=True, slots=True)
class ShardSetup:
    """What all shards of a job share, to be sent to another process.

    `token` is new for each job: a process keeps what it read for one. `folder` is where parts are
    written; all processes see it.
    """

    token: str
    job: Job
    folder: Path
    limits: Limits
    record_keys: Mapping[str, str] = field(default_factory=dict)

    def part(self, number: int, kind: str) -> Path:
        """Return the path of a file of a shard: `judgments`, `log`, `review`, `qrels.0` …"""
        return self.folder / f"{number:06}.{kind}"


@dataclass(frozen=True, slots=True)
class ShardDone:
    """What judging a shard came to; its files are in the folder of the setup.

    `sha256` is the digest of its judgments. `stopped` is why judging stopped early, if it did, and
    `error` why a measure failed.
    """

    number: int
    responses: int
    judgments: int
    sha256: str
    spared: int
    scores: PartScores
    stopped: str = ""
    error: str = ""
