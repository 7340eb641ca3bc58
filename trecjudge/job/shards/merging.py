"""The files of shards put together, byte for byte what one process would have written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from trecjudge.errors import InputError
from trecjudge.files import open_regular
from trecjudge.inputs.sources.containers import ENDINGS, chunks
from trecjudge.inputs.sources.packing import CHUNK
from trecjudge.job.shards.shard import ShardDone, ShardSetup
from trecjudge.judging.panel import Panel
from trecjudge.results.judgments import Header, JudgmentsWriter
from trecjudge.results.outputs import Outputs
from trecjudge.scores.scoring import Scored, Scoring


def merge_judgments(file: BinaryIO, parts: Sequence[tuple[Path, int, int]]) -> None:
    """Write a judgments file of the judgments of parts, in this order.

    Each is a judgments file, with the numbers of its responses and judgments. Raises InputError
    where one has other numbers, or is cut.
    """
    writer = JudgmentsWriter(file)
    for number, (path, responses, judgments) in enumerate(parts):
        pieces = _pieces(path)
        if number:  # the header, which all parts have, was copied from the first
            pieces = _behind_first_line(pieces)
        _copy_without(writer.end_line(responses, judgments), pieces, path, file)
        writer.responses += responses
        writer.judgments += judgments
    writer.end()


def _pieces(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file of a part, unpacked."""
    if path.suffix in ENDINGS:
        yield from chunks(path)
        return
    with open_regular(path) as part:
        yield from iter(partial(part.read, CHUNK), b"")


def _behind_first_line(pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        _, newline, rest = piece.partition(b"\n")
        if newline:
            yield rest
            yield from pieces


def _copy_without(end: bytes, pieces: Iterator[bytes], path: Path, target: BinaryIO) -> None:
    """Copy the pieces of a judgments file without its last line, which must be `end`."""
    held = b""
    for piece in pieces:
        held += piece
        target.write(held[: -len(end)])
        held = held[-len(end) :]
    if held != end:
        raise InputError(f"{path}: is cut or was changed: its last line is not {end.decode()!r}")


def append(paths: Iterable[Path], target: BinaryIO) -> None:
    """Append files, unpacked, to an open one."""
    for piece in (piece for path in paths for piece in _pieces(path)):
        target.write(piece)
    target.flush()


def scored_by_shards(
    header: Header, panel: Panel, outputs: Outputs, setup: ShardSetup, done: Sequence[ShardDone]
) -> Scored:
    """Write the numbers of a job whose shards are scored, in the order of its responses."""
    scoring = Scoring(header, panel, outputs.judgments)
    with scoring.files(outputs) as files:
        for shard in done:
            scoring.take(shard.scores)
            for place, qrels in enumerate(files.qrels):
                append([setup.part(shard.number, f"qrels.{place}")], qrels)
            if files.review is not None:
                append([setup.part(shard.number, "review")], files.review)
        standings = scoring.finish(files)
    return Scored(scoring.summary(outputs, standings), scoring.board, standings)
