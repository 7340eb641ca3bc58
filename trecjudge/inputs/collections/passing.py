"""One pass over the files of a collection, in several processes: what is wanted is kept."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.collections.kept import KeptDocuments, Pass
from trecjudge.inputs.collections.progress import Progress, tell
from trecjudge.inputs.collections.units import FoundDocument, Unit
from trecjudge.inputs.documents.collection import is_json_lines, nothing_in
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.packing import is_packed
from trecjudge.records import Place
from trecjudge.settings.limits import limits

RANGE = 256 << 20
"""Bytes of a plain file of lines that one process reads at a time."""
MOST_SAMPLES = 30
"""Ids of a collection that are kept as examples."""
COMMIT, TELL = 1.0, 0.25
"""Seconds after which what was found is written, and progress is told."""
MOST_DEATHS = 10
"""Processes that may end on their units, one after another, before the rest is left unread."""
START = (
    "import sys; sys.path[:] = sys.argv[2:];"
    "from trecjudge.inputs.collections.reading import main; main()"
)


def pass_over(
    files: Sequence[Path],
    kept: KeptDocuments,
    wanted: Sequence[str],
    report: OnFinding,
    name: str,
    processes: int | None = None,
) -> None:
    """Read files for the wanted ids, and keep what is found; what is nowhere is kept as missing.

    Of two documents with one id the one in the first file by name counts, and in it the first. A
    pass that is interrupted goes on where it was. `name` is what the user gave. Findings on what
    files hold go to `kept`, and are not reported. Reported is why a file could not be read this
    time: it is read again the next time, and until then ids that were not found are unknown. Raises
    InputError if no file has a document.
    """
    if not wanted:
        return
    current = kept.begin_pass(wanted)
    units = [unit for file in sorted(files, key=str) for unit in units_of(file)]
    failed = run_units(units, kept, current.wanted, report, name, current, processes)
    missing = kept.left(current.wanted)
    if not (len(missing) < len(current.wanted) or kept.some_ids(1)):
        raise failed[0] if len(failed) == len(units) == 1 else nothing_in(Path(name))
    if failed:
        kept.not_known(missing)
    else:
        current.end(missing)


def units_of(file: Path) -> Iterator[Unit]:
    """Yield the parts of a file that can be read at the same time."""
    try:
        size = file.stat().st_size
        cut = size > RANGE and _is_cut(file)
    except (OSError, InputError):  # reported where it is read
        cut = False
    if not cut:
        yield Unit(file)
        return
    for start in range(0, size, RANGE):
        yield Unit(file, start, min(size, start + RANGE))


def _is_cut(file: Path) -> bool:
    """Return whether lines of a file can be read from any place on."""
    opened = Opened(file)
    try:
        return is_json_lines(opened) and not is_packed(opened.on_disk)
    finally:
        opened.close()


def run_units(
    units: Sequence[Unit],
    kept: KeptDocuments,
    wanted: Sequence[str],
    report: OnFinding,
    name: str,
    pass_: Pass | None = None,
    processes: int | None = None,
) -> list[InputError]:
    """Read units in processes of their own, and keep the wanted documents that they have.

    Units of a pass that were read before are left out, and those that can change nothing any more.
    Returns why units could not be read, which is reported too. Raises OutputError.
    """
    run = _Run(units, kept, wanted, report, name, pass_)
    usable = getattr(os, "sched_getaffinity", None)  # not on every system
    most = processes or (len(usable(0)) if usable else os.cpu_count() or 1)
    with ExitStack() as readers:
        try:
            run.read(readers, most)
        finally:
            run.write()
    return list(run.failed.values())


class _Reader:
    """A process that reads units, one at a time."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self.unit: int | None = None
        """The number of the unit that it reads."""
        # The usual pool of memory of pyarrow reserves more than a reader may take.
        environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
        self.answers, its = Pipe()
        number = its.fileno()
        paths = map(os.path.abspath, sys.path)
        self.process = Popen(
            [sys.executable, "-c", START, str(number), *paths],
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            env=environment,
            pass_fds=[number],
        )
        its.close()
        self.send((limits(), list(wanted)))

    def send(self, value: object) -> None:
        """Send it a unit, or at first what is wanted."""
        with suppress(ConnectionError):  # it has ended, and answers no more
            self.answers.send(value)

    def end(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.wait()
        self.answers.close()


@dataclass(slots=True)
class _Run:
    """Hands units to processes in their order, and keeps what they answer."""

    units: Sequence[Unit]
    kept: KeptDocuments
    wanted: Sequence[str]
    report: OnFinding
    name: str
    current: Pass | None
    failed: dict[int, InputError] = field(default_factory=dict)
    """Why units could not be read this time, by their numbers."""
    waiting: list[int] = field(default_factory=list)
    """The numbers of the units that are still to be read, the first one last."""
    holders: dict[str, int] = field(default_factory=dict)
    """The number of the first unit in which each document was found."""
    _sizes: list[int] = field(default_factory=list)
    _positions: dict[int, int] = field(default_factory=dict)
    _documents: list[FoundDocument] = field(default_factory=list)
    _findings: list[Finding] = field(default_factory=list)
    _samples: list[str] = field(default_factory=list)
    _read: list[str] = field(default_factory=list)
    """The names of the units that were read since what was found was written."""
    _began: float = field(default_factory=time.monotonic)
    _written: float = field(default_factory=time.monotonic)
    _told: float = 0.0
    _read_before: int = 0
    _at_places: bool = False
    _deaths: int = 0
    _named: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        done = self.current.done if self.current else ()
        self._at_places = any(unit.places for unit in self.units)
        self._sizes = [len(u.places) if self._at_places else u.size for u in self.units]
        for number, unit in reversed(list(enumerate(self.units))):
            if unit.name in done:
                self._positions[number] = self._sizes[number]
            else:
                self.waiting.append(number)
        # Texts that may be ids are no documents that anyone waits for.
        self._named = set(self.wanted).intersection(self.kept.wanted) or set(self.wanted)
        self._read_before = sum(self._positions.values())
        if done:
            self._find_holders()

    def _find_holders(self) -> None:
        """Find in which units the documents are that were found before."""
        numbers: dict[str, list[int]] = {}
        for number, unit in enumerate(self.units):
            numbers.setdefault(Place(str(unit.path)).path, []).append(number)
        for doc_id, path, place in self.kept.places(self.wanted):
            for number in numbers.get(path, ()):
                unit = self.units[number]
                if unit.end is None or unit.start <= place < unit.end:
                    self.holders[doc_id] = number

    def read(self, readers: ExitStack, most: int) -> None:
        """Read all units that can still change something, with so many processes at most."""
        reading: dict[Connection, _Reader] = {}
        while True:
            while len(reading) < most and self._has_more():
                reader = _Reader(self.wanted)
                readers.callback(reader.end)
                reading[reader.answers] = reader
                self._next(reader)
            if not any(r.unit is not None and self._needs(r.unit) for r in reading.values()):
                break
            for connection in wait(list(reading), TELL):
                assert isinstance(connection, Connection)
                try:
                    for kind, value in connection.recv():
                        self._take(reading[connection], kind, value)
                except (EOFError, ConnectionError):
                    self._end_of(reading.pop(connection))
            self._tell()
            if time.monotonic() - self._written > COMMIT:
                self.write()
        self._tell(ended=True)

    def _needs(self, number: int) -> bool:
        """Return whether a unit can still change something: not if all was found before it."""
        if self.current is None or len(self.holders) < len(self.wanted):
            return True
        return number < max(self.holders.values())

    def _has_more(self) -> bool:
        return bool(self.waiting) and self._needs(self.waiting[-1])

    def _next(self, reader: _Reader) -> None:
        """Let a process read the next unit, if there is one."""
        reader.unit = self.waiting.pop() if self._has_more() else None
        if reader.unit is not None:
            reader.send(self.units[reader.unit])

    def _take(self, reader: _Reader, kind: str, value: Any) -> None:
        """Take an answer of a process on its unit; see `reading.Answer`."""
        number = reader.unit
        assert number is not None
        match kind:
            case "document":
                self._documents.append(value)
                doc_id = value.document.doc_id
                self.holders[doc_id] = min(self.holders.get(doc_id, number), number)
            case "finding":
                self._findings.append(value)
            case "sample":
                self._samples.append(value)
            case "at":
                self._positions[number] = min(value, self._sizes[number])
            case "failed":
                self._fail(number, value)
            case "end":
                if self.current is not None and number not in self.failed:
                    self._read.append(self.units[number].name)
                self._positions[number] = self._sizes[number]
                self._next(reader)

    def _fail(self, number: int, message: str) -> None:
        """Report that a unit could not be read this time."""
        path = str(self.units[number].path)
        self.report(Finding("collection_unreadable", Place(path), message))
        self.failed[number] = InputError(f"{path}: {message}")

    def _end_of(self, reader: _Reader) -> None:
        """Report the unit whose process has ended."""
        status = reader.process.wait()
        how = f"was killed (signal {-status})" if status < 0 else f"ended with status {status}"
        if reader.unit is not None:
            self._fail(reader.unit, f"was not read to its end: the process that read it {how}")
            self._deaths += 1
        if self._deaths > MOST_DEATHS:
            for number in self.waiting:
                self._fail(number, "was not read: processes that read collections end too early")
            self.waiting.clear()

    def _tell(self, ended: bool = False) -> None:
        now = time.monotonic()
        if ended or now - self._told > TELL:
            self._told = now
            named = self._named
            found = sum(doc_id in named for doc_id in self.holders)
            # What was read before took no time now.
            read, size = sum(self._positions.values()), sum(self._sizes)
            counts = (read - self._read_before, size - self._read_before, found, len(named))
            seconds, in_bytes = now - self._began, not self._at_places
            tell(Progress(self.name, *counts, seconds, in_bytes, ended))

    def write(self) -> None:
        """Keep what was found and read since the last time, all of it or nothing."""
        self._written = time.monotonic()
        held = (self._documents, self._findings, self._samples, self._read)
        if any(held):
            with self.kept.change():
                self.kept.add(self._documents, self._findings)
                room = MOST_SAMPLES - len(self.kept.some_ids(MOST_SAMPLES))
                self.kept.sample(self._samples[:room])
                for name in self._read:
                    assert self.current is not None
                    self.current.unit_read(name)
            for answers in held:
                answers.clear()
