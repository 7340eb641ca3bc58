"""The files of shards put together, byte for byte what one process would have written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from trecjudge.errors import InputError
from trecjudge.job.shards.shard import ShardDone, ShardSetup
from trecjudge.judging.panel import Panel
from trecjudge.results.judgments import Header, JudgmentsWriter
from trecjudge.results.outputs import Outputs
from trecjudge.scores.scoring import Scored, Scoring

LONGEST_END = 4096
"""Bytes at the end of a judgments file that hold its last line."""


def merge_judgments(file: BinaryIO, parts: Sequence[tuple[Path, int, int]]) -> None:
    """Write a judgments file of the judgments of parts, in this order.

    Each is a judgments file, with the numbers of its responses and judgments. Raises InputError
    where one has other numbers, or is cut.
    """
    first = parts[0][0]
    with first.open("rb") as part:
        file.write(part.readline())  # the header, which all parts have
    writer = JudgmentsWriter(file)
    for path, responses, judgments in parts:
        _copy_between(path, file, {"responses": responses, "judgments": judgments})
        writer.responses += responses
        writer.judgments += judgments
    writer.end()


def _copy_between(path: Path, target: BinaryIO, counts: dict[str, int]) -> None:
    """Copy a judgments file without its first and its last line."""
    with path.open("rb") as part:
        size = part.seek(0, os.SEEK_END)
        part.seek(max(0, size - LONGEST_END))
        last = part.read().rpartition(b"\n")[0].rpartition(b"\n")[2]
        if last + b"\n" != JudgmentsWriter.end_line(**counts):
            raise InputError(f"{path}: is cut or was changed: its end does not count {counts}")
        part.seek(0)
        part.readline()
        left = size - len(last) - 1 - part.tell()
        while left > 0:
            chunk = part.read(min(left, 1 << 20))
            target.write(chunk)
            left -= len(chunk)


def append(paths: Iterable[Path], target: BinaryIO) -> None:
    """Append files to an open one."""
    for path in paths:
        with path.open("rb") as part:
            shutil.copyfileobj(part, target, 1 << 20)
    target.flush()


def scored_by_shards(
    header: Header, panel: Panel, outputs: Outputs, setup: ShardSetup, done: Sequence[ShardDone]
) -> Scored:
    """Write the numbers of a job whose shards are scored, in the order of its responses."""
    scoring = Scoring(header, panel, outputs.judgments)
    with scoring.files(outputs) as files:
        for shard in done:
            scoring.take(shard.scores)
            append([setup.part(shard.number, "qrels")], files.qrels)
            if files.review is not None:
                append([setup.part(shard.number, "review")], files.review)
        standings = scoring.finish(files)
    return Scored(scoring.summary(outputs, standings), scoring.board, standings)
