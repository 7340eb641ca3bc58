"""Shards: which responses are judged together, how a job is cut into them, what is made of them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from sys import intern

from trecjudge.errors import InputError, OutputError, WorkflowError
from trecjudge.files import part_of
from trecjudge.findings import OnFinding
from trecjudge.inputs.run_records import Event, FileBegins, RunRecord, RunRecords
from trecjudge.inputs.runs import RunReader
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.paths import as_file
from trecjudge.job.inputs import JobInputs
from trecjudge.job.request import Job
from trecjudge.judging.judge import PreparingJudge, prepares_alike
from trecjudge.judging.panel import Panel
from trecjudge.models.shared_work import Allowance, SpendReport
from trecjudge.records import Response
from trecjudge.results.outputs import Outputs
from trecjudge.scores.scoring import PartScores
from trecjudge.settings.limits import InputLimits

SCHEMES = ("dask", "tcp")
"""What the address of a Dask scheduler begins with."""
LEAST_ITEMS = 2000
"""Items of a shard, at least: half a second of work, beside which its start does not count."""


@dataclass(frozen=True, slots=True)
class WorkersRequest:
    """How many processes of this machine judge, or the address of a cluster's scheduler."""

    count: int = 1
    cluster: str = ""


def parse_workers(text: str) -> WorkersRequest:
    """Return what `auto`, a number or `dask://HOST:PORT` asks for. Raises WorkflowError."""
    scheme, is_address, address = text.partition("://")
    if is_address:
        if scheme not in SCHEMES or not re.fullmatch(r"\S+:\d+", address):
            raise WorkflowError(f"--workers {text}: give a number, auto, or dask://HOST:PORT")
        return WorkersRequest(cluster=address)
    return WorkersRequest(_count(text))


def _count(text: str) -> int:
    if text == "auto":
        # Of those that this process may use: a batch system gives it a few of many.
        usable = getattr(os, "sched_getaffinity", None)
        return len(usable(0)) if usable else os.cpu_count() or 1
    if not text.isdecimal() or not int(text):
        raise WorkflowError(f"--workers {text}: give a number from 1 on, auto, or dask://HOST:PORT")
    return int(text)


def parse_shard(text: str) -> tuple[int, int]:
    """Return (number from 1, of how many) of `2/8`. Raises WorkflowError."""
    number, _, of = text.partition("/")
    if number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of):
        return int(number), int(of)
    raise WorkflowError(f"--shard {text}: give I/N, such as 2/8: the second of eight")


def absolute_file(path: Path) -> Path:
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
class DocumentShard:
    """The items on some of a job's documents, for a model to be asked about; one of `of`.

    `allowance` is what may be spent on it, `attempt` counts all that were ever begun. `before` is
    what was asked by earlier attempts at it, and by the job itself.
    """

    number: int
    of: int
    allowance: Allowance = field(default_factory=Allowance)
    attempt: int = 0
    before: SpendReport | None = None


@dataclass(frozen=True, slots=True)
class ShardSetup:
    """What all shards of a job share, to be sent to another process.

    `token` is new for each job: a process keeps what it read for one. `folder` is where parts are
    written; all processes see it. Where a model is asked, `origins` are its addresses and name,
    which a worker must have too, and `known` is a folder with the replies that the job has
    already; None where workers use the cache of the job itself.
    """

    token: str
    job: Job
    folder: Path
    limits: InputLimits
    record_keys: Mapping[str, str] = field(default_factory=dict)
    origins: tuple[tuple[str, str], ...] = ()
    known: Path | None = None

    def part(self, number: int, kind: str) -> Path:
        """Return the path of a file of a shard: `judgments`, `log`, `review`, `qrels.0` …

        Where a model is asked, `number` is that of the attempt: it is `begun`, a worker has
        `notices` for the user, a message a line, and `replies` where its cache is its own.
        """
        return self.folder / f"{number:06}.{kind}"

    @property
    def stop(self) -> Path:
        """The file by which all workers are told to end."""
        return self.folder / "stop"


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


@dataclass(frozen=True, slots=True)
class ShardAsked:
    """What asking about a shard came to; `unpaid` items had no budget left.

    `asked` is None where the attempt had begun before, by a worker that is gone: the shard is then
    still to be done.
    """

    unpaid: int = 0
    asked: SpendReport | None = None


SHARDS_OF_A_WORKER = 4
"""Shards for each worker: the last ones end at about the same time, however long they take."""


@dataclass(frozen=True, slots=True)
class ResponsePlace:
    """A response of the job: its place, how the job names it, and about how many items it has."""

    path: Path
    ordinal: int
    run_id: str
    items: int
    sample: str = ""
    topic_id: str = ""


def locate_responses(inputs: JobInputs, reader: RunReader) -> list[ResponsePlace]:
    """Return the places of all responses; all runs are read, and findings reported.

    Raises InputError where there is nothing to judge.
    """
    path, ordinal, read = Path(), -1, reader.read

    def read_and_count(report: OnFinding) -> Iterator[Event]:
        nonlocal path, ordinal
        for event in read(report):
            if isinstance(event, FileBegins):
                path, ordinal = event.path, -1
            elif isinstance(event, RunRecord):
                ordinal += 1
            yield event

    # Beneath the reader, which passes over duplicates: a shard counts all records of a file.
    reader.read = read_and_count
    found = [
        ResponsePlace(path, ordinal, r.run_id, count_items(r), r.sample, intern(r.topic_id))
        for _, r in reader
    ]
    if not found:
        raise InputError(inputs.nothing_to_judge(reader))
    return found


@contextmanager
def check_unchanged(paths: Sequence[Path]) -> Iterator[None]:
    """Read files twice meanwhile; raise InputError at the end if one of them was changed."""
    before = list(map(_state, paths))
    yield
    for path, state in zip(paths, before, strict=True):
        if _state(path) != state:
            raise InputError(f"{path}: was changed while it was judged; begin again")


def _state(path: Path) -> tuple[int, int] | None:
    # Not by a digest: that would read all runs once more, only to find what hardly ever happens.
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def check_all_there(shard: Shard, responses: int) -> None:
    """Raise InputError where not all responses of a shard were found again."""
    if responses != shard.responses:
        files = ", ".join(str(portion.path) for portion in shard.portions)
        raise InputError(
            f"{files}: {responses} of {shard.responses} responses were found again: the file was"
            " changed while it was judged; begin again"
        )


def count_items(response: Response) -> int:
    """Return about how many items a response has: its citations, or its sentences if more."""
    citations = sum(len(sentence.citations) for sentence in response.sentences)
    return max(1, citations, len(response.sentences))


def into_shards(
    found: Sequence[ResponsePlace], workers: int, least: int = LEAST_ITEMS
) -> list[Shard]:
    """Return the responses as shards of at least so many items, in their order."""
    size = max(least, sum(one.items for one in found) // (workers * SHARDS_OF_A_WORKER))
    return [_shard(n, part) for n, part in enumerate(_cut(found, size))]


def into_parts(found: Sequence[ResponsePlace], count: int) -> list[Shard]:
    """Return the responses as exactly so many shards, of about equal size; some may be empty."""
    whole, done = sum(one.items for one in found), 0
    parts: list[list[ResponsePlace]] = [[] for _ in range(count)]
    for one in found:
        # By the middle of the response: so no part takes what lies mostly in the next one.
        parts[min(count - 1, (2 * done + one.items) * count // (2 * whole))].append(one)
        done += one.items
    return [_shard(n, part) for n, part in enumerate(parts)]


def _cut(found: Iterable[ResponsePlace], size: int) -> Iterator[list[ResponsePlace]]:
    part: list[ResponsePlace] = []
    held = 0
    for one in found:
        part.append(one)
        held += one.items
        if held >= size:
            yield part
            part, held = [], 0
    if part:
        yield part


def _shard(number: int, part: list[ResponsePlace]) -> Shard:
    portions = []
    for path, group in groupby(part, key=lambda one: one.path):
        rows = [(one.ordinal, one.run_id, one.sample) for one in group]
        ordinals, run_ids, samples = zip(*rows, strict=True)
        portions.append(Portion(absolute_file(path), ordinals, run_ids, samples))
    ids = digest_of_ids((one.run_id, one.topic_id) for one in part)
    return Shard(number, tuple(portions), len(part), sum(one.items for one in part), ids)


def digest_of_ids(ids: Iterable[tuple[str, str]]) -> str:
    """Return a digest of the runs and topics of responses, in their order."""
    found = sha256()
    for run_id, topic_id in ids:
        found.update(f"{run_id}\0{topic_id}\0".encode(errors="backslashreplace"))
    return found.hexdigest()[:16]


def check_in_parts(job: Job, panel: Panel) -> None:
    """Raise WorkflowError where a job cannot be judged in parts."""
    for named in panel:
        alike = prepares_alike(named.judge) and (job.model.use or job.shard is not None)
        if isinstance(named.judge, PreparingJudge) and not alike:
            raise WorkflowError(
                f"judge {named.name} is shown all responses before the first is judged: it cannot"
                " judge in parts; leave out --workers and --shard"
            )
    if job.workers_ask and job.workflow.llm.get("batch"):
        raise WorkflowError("llm.batch: one process sends a batch; leave out --workers")
    if job.workers_ask and job.workflow.voters:
        raise WorkflowError("voters: one process asks all their models; leave out --workers")
    if job.made:
        # By name a worker makes its own; an object may hold what only this process has.
        raise WorkflowError("judges given as objects cannot be sent to other processes")


@contextmanager
def parts_folder(outputs: Outputs) -> Iterator[Path]:
    """Yield a new folder for the parts of a job, beside its files; it is removed at the end."""
    # Named as partial files are, so that those of a killed job are found and removed.
    folder = part_of(outputs.folder.absolute() / outputs.name)
    try:
        folder.mkdir(0o700)
        yield folder
    except OSError as error:
        if error.filename is None or Path(error.filename) != folder:
            raise
        raise OutputError(f"{folder}: cannot be made: {error.strerror}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class ShardRecords:
    """Reads the records of a shard's responses, each with the name that the whole job gives it."""

    records: RunRecords
    portions: tuple[Portion, ...]

    def read(self, report: OnFinding) -> Iterator[Event]:
        """Yield the shard's records, file by file."""
        for portion in self.portions:
            yield FileBegins(portion.path)
            yield from self._of(portion)

    def _of(self, portion: Portion) -> Iterator[Event]:
        names = zip(portion.run_ids, portion.samples, strict=True)
        wanted = dict(zip(portion.ordinals, names, strict=True))
        self.records.forget_names()  # they are given; a file seen before would be read whole again
        ordinal, last = -1, portion.ordinals[-1]
        for event in self.records.of_file(Opened(portion.path)):
            if not isinstance(event, RunRecord):
                continue
            ordinal += 1
            if ordinal in wanted and event.response is not None:
                run_id, sample = wanted[ordinal]
                response = replace(event.response.as_sample(sample), run_id=run_id)
                yield replace(event, response=response, repeated=False, digest="")
            if ordinal == last:  # the rest of the file is of other shards
                return


def choose_part(
    asked: tuple[int, int], inputs: JobInputs, reader: RunReader
) -> tuple[list[Shard], RunReader]:
    """Return all parts of the responses, and the reader of one; `reader` reads all of them."""
    number, of = asked
    parts = into_parts(locate_responses(inputs, reader), of)
    own = ShardRecords(inputs.run_records(), parts[number - 1].portions)
    return parts, inputs.reader_of(own.read)
