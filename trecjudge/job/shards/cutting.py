"""A job cut into shards: all runs are read once, with all findings, and nothing is judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from sys import intern

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding
from trecjudge.inputs.run_records import Event, FileBegins, ReadRecords, RunRecord
from trecjudge.inputs.runs import RunReader
from trecjudge.job.job import JobInputs
from trecjudge.job.shards.shard import LEAST_ITEMS, Portion, Shard, seen_by_all
from trecjudge.records import Response

SHARDS_OF_A_WORKER = 4
"""Shards for each worker: the last ones end at about the same time, however long they take."""


@dataclass(slots=True)
class PlacedRecords:
    """Reads records for a run reader, and knows where the last one stands."""

    records: ReadRecords
    path: Path = field(default_factory=Path)
    ordinal: int = -1

    def read(self, report: OnFinding) -> Iterator[Event]:
        """Yield what `records` reads."""
        for event in self.records(report):
            if isinstance(event, FileBegins):
                self.path, self.ordinal = event.path, -1
            elif isinstance(event, RunRecord):
                self.ordinal += 1
            yield event


@dataclass(frozen=True, slots=True)
class Placed:
    """A response of the job: its place, how the job names it, and about how many items it has."""

    path: Path
    ordinal: int
    run_id: str
    items: int
    sample: str = ""
    topic_id: str = ""


def all_placed(inputs: JobInputs, reader: RunReader) -> list[Placed]:
    """Return the places of all responses; all runs are read, and findings reported.

    Raises InputError where there is nothing to judge.
    """
    records = PlacedRecords(reader.read)
    reader.read = records.read
    found = [
        Placed(records.path, records.ordinal, r.run_id, items_of(r), r.sample, intern(r.topic_id))
        for _, r in reader
    ]
    if not found:
        raise InputError(inputs.nothing_to_judge(reader))
    return found


@contextmanager
def unchanged(paths: Sequence[Path]) -> Iterator[None]:
    """Read files twice meanwhile; raise InputError at the end if one of them was changed."""
    before = list(map(_state, paths))
    yield
    for path, state in zip(paths, before, strict=True):
        if _state(path) != state:
            raise InputError(f"{path}: was changed while it was judged; begin again")


def _state(path: Path) -> tuple[int, int] | None:
    """Return the size and the time of a file's last change; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def items_of(response: Response) -> int:
    """Return about how many items a response has: its citations, or its sentences if more."""
    citations = sum(len(sentence.citations) for sentence in response.sentences)
    return max(1, citations, len(response.sentences))


def into_shards(found: Sequence[Placed], workers: int, least: int = LEAST_ITEMS) -> list[Shard]:
    """Return the responses as shards of at least so many items, in their order."""
    size = max(least, sum(one.items for one in found) // (workers * SHARDS_OF_A_WORKER))
    return [_shard(n, part) for n, part in enumerate(_cut(found, size))]


def into_parts(found: Sequence[Placed], count: int) -> list[Shard]:
    """Return the responses as exactly so many shards, of about equal size; some may be empty."""
    whole, done = sum(one.items for one in found), 0
    parts: list[list[Placed]] = [[] for _ in range(count)]
    for one in found:
        # By the middle of the response: so no part takes what lies mostly in the next one.
        parts[min(count - 1, (2 * done + one.items) * count // (2 * whole))].append(one)
        done += one.items
    return [_shard(n, part) for n, part in enumerate(parts)]


def _cut(found: Iterable[Placed], size: int) -> Iterator[list[Placed]]:
    part: list[Placed] = []
    held = 0
    for one in found:
        part.append(one)
        held += one.items
        if held >= size:
            yield part
            part, held = [], 0
    if part:
        yield part


def _shard(number: int, part: list[Placed]) -> Shard:
    portions = []
    for path, group in groupby(part, key=lambda one: one.path):
        rows = [(one.ordinal, one.run_id, one.sample) for one in group]
        ordinals, run_ids, samples = zip(*rows, strict=True)
        portions.append(Portion(seen_by_all(path), ordinals, run_ids, samples))
    ids = digest_of_ids((one.run_id, one.topic_id) for one in part)
    return Shard(number, tuple(portions), len(part), sum(one.items for one in part), ids)


def digest_of_ids(ids: Iterable[tuple[str, str]]) -> str:
    """Return a digest of the runs and topics of responses, in their order."""
    found = sha256()
    for run_id, topic_id in ids:
        found.update(f"{run_id}\0{topic_id}\0".encode(errors="backslashreplace"))
    return found.hexdigest()[:16]
