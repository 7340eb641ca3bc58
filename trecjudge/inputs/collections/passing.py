"""One pass over the files of a collection, in several processes: what is wanted is kept."""

from __future__ import annotations

import json
import os
import selectors
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.collections.kept import KeptDocuments, Pass
from trecjudge.inputs.collections.progress import Progress, tell
from trecjudge.inputs.collections.units import FoundDocument, Unit
from trecjudge.inputs.documents.collection import is_json_lines, nothing_in
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.sources.packing import is_packed
from trecjudge.records import Document, Place
from trecjudge.settings.limits import limits

RANGE = 256 << 20
"""Bytes of a plain file of lines that one process reads at a time."""
MOST_SAMPLES = 30
"""Ids of a collection that are kept as examples."""
COMMIT, TELL = 1.0, 0.25
"""Seconds after which what was found is written, and progress is told."""
TAKE = 1 << 16
MOST_DEATHS = 10
"""Processes that may end on their units, one after another, before the rest is left unread."""
START = (
    "import sys; sys.path[:] = sys.argv[1:];"
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
    with _Readers(wanted) as readers:
        try:
            run.read(readers, min(most, len(run.waiting)))
        finally:
            run.write()
    return run.failed


@dataclass(slots=True)
class _Reader:
    """A process that reads units, and what it has answered of a line that is not whole yet."""

    process: Popen[bytes]
    unit: int | None = None
    rest: list[bytes] = field(default_factory=list)

    def begin(self, number: int, unit: Unit) -> None:
        """Let it read a unit."""
        self.unit = number
        self.ask((os.fspath(unit.path), unit.start, unit.end, list(unit.places), unit.tables))

    def ask(self, value: object) -> None:
        """Write it a line."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended: its output ends too
            self.process.stdin.write(json.dumps(value).encode() + b"\n")
            self.process.stdin.flush()

    def answers(self) -> list[list[Any]] | None:
        """Return what it answered meanwhile, None if it has ended."""
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), TAKE)
        if not data:
            return None
        self.rest.append(data)
        if b"\n" not in data:
            return []
        *lines, rest = b"".join(self.rest).split(b"\n")
        self.rest = [rest]
        return [json.loads(line) for line in lines]


@dataclass(slots=True)
class _Readers:
    """Processes that read; they end with the context, whatever they do."""

    wanted: Sequence[str]
    started: list[_Reader] = field(default_factory=list)

    def start(self) -> _Reader:
        """Return a new one."""
        # The usual pool of memory of pyarrow reserves more than a reader may take.
        environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
        command = [sys.executable, "-c", START, *map(os.path.abspath, sys.path)]
        process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment)
        reader = _Reader(process)
        self.started.append(reader)
        reader.ask({"limits": asdict(limits()), "wanted": list(self.wanted)})
        return reader

    def __enter__(self) -> _Readers:
        return self

    def __exit__(self, *_: object) -> None:
        for reader in self.started:
            reader.process.kill()
        for reader in self.started:
            reader.process.wait()
            for pipe in (reader.process.stdin, reader.process.stdout):
                assert pipe is not None
                with suppress(BrokenPipeError):
                    pipe.close()


@dataclass(slots=True)
class _Run:
    """Hands units to processes in their order, and keeps what they answer."""

    units: Sequence[Unit]
    kept: KeptDocuments
    wanted: Sequence[str]
    report: OnFinding
    name: str
    current: Pass | None
    failed: list[InputError] = field(default_factory=list)
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
    _began: float = field(default_factory=time.monotonic)
    _written: float = field(default_factory=time.monotonic)
    _told: float = 0.0
    _unread: set[int] = field(default_factory=set)
    _deaths: int = 0
    _named: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        done = self.current.done if self.current else ()
        self._sizes = [_size_of(unit) for unit in self.units]
        for number, unit in reversed(list(enumerate(self.units))):
            if unit.name in done:
                self._positions[number] = self._sizes[number]
            else:
                self.waiting.append(number)
        # Texts that may be ids are no documents that anyone waits for.
        self._named = set(self.wanted).intersection(self.kept.wanted) or set(self.wanted)
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

    def read(self, readers: _Readers, count: int) -> None:
        """Read all units that can still change something, with so many processes."""
        with selectors.DefaultSelector() as selector:

            def start() -> None:
                reader = readers.start()
                assert reader.process.stdout is not None
                selector.register(reader.process.stdout, selectors.EVENT_READ, reader)
                self._next(reader)

            for _ in range(count):
                start()
            while any(r.unit is not None and self._needs(r.unit) for r in readers.started):
                for key, _ in selector.select(TELL):
                    answers = key.data.answers()
                    for answer, *values in answers or ():
                        self._take(key.data, answer, values)
                    if answers is None:
                        selector.unregister(key.fileobj)
                        self._end_of(key.data)
                        if self.waiting:
                            start()
                self._tell()
                if time.monotonic() - self._written > COMMIT:
                    self.write()
        self._tell(ended=True)

    def _needs(self, number: int) -> bool:
        """Return whether a unit can still change something: not if all was found before it."""
        if self.current is None or len(self.holders) < len(self.wanted):
            return True
        return number < max(self.holders.values())

    def _next(self, reader: _Reader) -> None:
        reader.unit = None
        if self.waiting and self._needs(self.waiting[-1]):
            number = self.waiting.pop()
            reader.begin(number, self.units[number])

    def _take(self, reader: _Reader, answer: str, values: list[Any]) -> None:
        number = reader.unit
        assert number is not None
        path = str(self.units[number].path)
        match answer:
            case "document":
                place, source, *fields = values
                document = Document(*fields)
                self._documents.append(FoundDocument(document, path, place, source))
                held = self.holders.get(document.doc_id, number)
                self.holders[document.doc_id] = min(held, number)
            case "finding":
                kind, where, line, message, value = values
                # What standard input gave is shown by another name than that of the file with it.
                where = where.replace(os.fspath(self.units[number].path), path, 1)
                self._findings.append(Finding(kind, Place(where, line), message, value))
            case "sample":
                self._samples += values
            case "at":
                self._positions[number] = min(values[0], self._sizes[number])
            case "failed":
                self._fail(number, values[0])
            case "end":
                if self.current is not None and number not in self._unread:
                    self._read.append(self.units[number].name)
                self._positions[number] = self._sizes[number]
                self._next(reader)

    def _fail(self, number: int, message: str) -> None:
        """Report that a unit could not be read this time."""
        path = str(self.units[number].path)
        self.report(Finding("collection_unreadable", Place(path), message))
        self.failed.append(InputError(f"{path}: {message}"))
        self._unread.add(number)

    def _end_of(self, reader: _Reader) -> None:
        """Report the unit whose process has ended."""
        status = reader.process.wait()
        how = f"was killed (signal {-status})" if status < 0 else f"ended with status {status}"
        if reader.unit is not None:
            self._fail(reader.unit, f"was not read to its end: the process that read it {how}")
            reader.unit = None
            self._deaths += 1
        if self._deaths > MOST_DEATHS:
            for number in self.waiting:
                self._fail(number, "was not read: processes that read collections end too early")
            self.waiting.clear()

    def _tell(self, ended: bool = False) -> None:
        now = time.monotonic()
        if ended or now - self._told > TELL:
            self._told = now
            done = sum(self._positions.values())
            named = self._named
            found = sum(doc_id in named for doc_id in self.holders)
            counts = (done, sum(self._sizes), found, len(named))
            tell(Progress(self.name, *counts, now - self._began, ended=ended))

    def write(self) -> None:
        """Keep what was found and read since the last time, all of it or nothing."""
        self._written = time.monotonic()
        if self._documents or self._findings or self._samples or self._read:
            with self.kept.change():
                self.kept.add(self._documents, self._findings)
                room = MOST_SAMPLES - len(self.kept.some_ids(MOST_SAMPLES))
                self.kept.sample(self._samples[:room])
                for name in self._read:
                    assert self.current is not None
                    self.current.unit_read(name)
            for held in (self._documents, self._findings, self._samples, self._read):
                held.clear()


def _size_of(unit: Unit) -> int:
    if unit.end is not None:
        return unit.end - unit.start
    try:
        return unit.path.stat().st_size
    except OSError:
        return 0
