"""Wanted documents looked up in the files of a collection: where they lie, else in one pass."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any

from trecjudge.errors import InputError
from trecjudge.files import open_regular
from trecjudge.findings import Finding, OnFinding, ignore
from trecjudge.inputs.collections.kept import KeptDocuments, Pass
from trecjudge.inputs.collections.progress import CollectionProgress, report_progress
from trecjudge.inputs.collections.schemes import Address
from trecjudge.inputs.collections.schemes.registry import address_of, scheme_of, scheme_of_file
from trecjudge.inputs.collections.seeking import differs, file_name, stands_at
from trecjudge.inputs.collections.units import Unit
from trecjudge.inputs.documents.collection import BESIDE, documents_of, layout_of, nothing_in
from trecjudge.inputs.documents.parquet import is_parquet
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
MOST_LOOKED_AT = 5
"""Files that are opened to see whether they are what their names say; the others are like them."""
MOST_NAMED = 3
"""Files that a message names."""
MOST_DEATHS = 10
"""Processes that may end on their units, one after another, before the rest is left unread."""
START = (
    "import sys; sys.path[:] = sys.argv[2:];"
    "from trecjudge.inputs.collections.reading import main; main()"
)


class CollectionLookup:
    """Finds wanted documents in the files of a collection, and keeps them.

    `name` is what the user gave. What was found stays kept where it is interrupted. Findings on
    what files hold are kept, and not reported; reported is why a file could not be read this time.
    """

    def __init__(
        self,
        files: Sequence[Path],
        kept: KeptDocuments,
        report: OnFinding,
        name: str,
        processes: int | None = None,
    ) -> None:
        self.files = sorted(files, key=str)
        self.kept, self.report, self.name = kept, report, name
        usable = getattr(os, "sched_getaffinity", None)  # not on every system
        self.processes = processes or (len(usable(0)) if usable else os.cpu_count() or 1)

    def find_in_pass(self, wanted: Sequence[str]) -> None:
        """Read the files for wanted ids; what is nowhere is kept as missing.

        Of two documents with one id the one in the first file by name counts, and in it the first.
        A pass that is interrupted goes on where it was. A file that could not be read is read again
        the next time, and until then ids that were not found are unknown. Raises InputError if no
        file has a document.
        """
        if not wanted:
            return
        current = self.kept.begin_pass(wanted)
        units = [unit for file in self.files for unit in units_of(file)]
        failed = self._run_units(units, current.wanted, current)
        missing = self.kept.select_unsettled(current.wanted)
        if not (len(missing) < len(current.wanted) or self.kept.some_ids(1)):
            raise failed[0] if len(failed) == len(units) == 1 else nothing_in(Path(self.name))
        if failed:
            self.kept.not_known(missing)
        else:
            current.end(missing)

    def find_by_address(self, wanted: Iterable[str]) -> list[str]:
        """Read the wanted documents whose ids say where in these files they lie.

        Returns the ids for which the files must be read through: they say no place, or the files
        are not those that they speak of. Where all files are of collections whose ids say a place,
        other ids are surely not there, and those of a file that is not given are not known, which
        is one finding. Raises InputError, OutputError.
        """
        kept = self.kept
        left = kept.select_unsettled(dict.fromkeys(wanted))
        paths: dict[str, list[Path]] = {}
        for file in self.files:
            paths.setdefault(file_name(file), []).append(file)
        asked: dict[str, dict[str, Address]] = {}
        for doc_id in left:
            address = address_of(doc_id)
            if address is not None and address.file in paths:
                asked.setdefault(address.file, {})[doc_id] = address
        back, unread = self._find_at_places(paths, asked)
        kept.not_known(kept.select_unsettled(unread))
        left = [doc_id for doc_id in kept.select_unsettled(left) if doc_id not in unread]
        if not left or not self._is_all_of_schemes():
            return left
        rest = [doc_id for doc_id in left if doc_id not in back]
        given = {scheme_of_file(file) for file in paths}
        at_places = {doc_id for addresses in asked.values() for doc_id in addresses}
        lacking = [
            i for i in rest if i not in at_places and address_of(i) and scheme_of(i) in given
        ]
        self._report_files_not_given(lacking)
        kept.not_there(set(rest).difference(lacking))
        return [doc_id for doc_id in left if doc_id in back]

    def _find_at_places(
        self, paths: Mapping[str, Sequence[Path]], asked: Mapping[str, Mapping[str, Address]]
    ) -> tuple[set[str], set[str]]:
        """Keep what lies at its place.

        Returns the ids for which the files must be read through, and those that may be in a part
        of these that could not be read.
        """
        kept = self.kept
        back, unread = set[str](), set[str]()
        for turn in range(max((len(paths[file]) for file in asked), default=0)):
            # Of files of one name the first one that has a document counts, as in a pass.
            units: list[Unit] = []
            ids: dict[Path, list[str]] = {}
            for file, addresses in asked.items():
                left = kept.select_unsettled(addresses) if turn < len(paths[file]) else []
                if not left:
                    continue
                path = paths[file][turn]
                in_rows = _is_parquet_file(path)
                back.update(i for i in left if addresses[i].row != in_rows)
                ids[path] = [i for i in left if addresses[i].row == in_rows]
                places = () if in_rows else [(addresses[i].place, i) for i in ids[path]]
                if ids[path]:
                    units.append(Unit(path, places=places, tables=str(kept.path.parent)))
            if not units:
                continue
            every = [doc_id for left in ids.values() for doc_id in left]
            failed = self._run_units(units, every)
            if len(failed) == len(units) and len(kept.select_unsettled(every)) == len(every):
                raise failed[0]
            for path, wanted in ids.items():
                left = kept.select_unsettled(wanted)
                if any(str(error).startswith(f"{path}: ") for error in failed):
                    unread.update(left)
                elif left:
                    kinds, named = self._doubts_on(path, left[0])
                    back.update(left if "address_differs" in kinds else ())
                    is_cut = "collection_unreadable" in kinds
                    unread.update(i for i in left if is_cut or i in named)
        return back, unread

    def _doubts_on(self, path: Path, doc_id: str) -> tuple[set[str], set[str]]:
        """Return the kinds of the findings on a file, and the ids that could not be read there."""
        first = _first_id(path) if _is_parquet_file(path) else None
        if first is not None and not stands_at(path, 0, first):
            with self.kept.change():
                self.kept.add((), [differs(path, doc_id, 0, first)])
        findings = [f for f in self.kept.findings() if f.place.path == Place(str(path)).path]
        kinds = {finding.kind for finding in findings}
        return kinds, {f.value for f in findings if f.kind != "address_differs"}

    def _is_all_of_schemes(self) -> bool:
        """Return whether all files are of collections whose ids say places.

        Their names and a few first records show it; ids of these are kept, for messages.
        """
        data = [file for file in self.files if not BESIDE.fullmatch(file.name)]
        if not data or not all(scheme_of_file(file_name(file)) for file in data):
            return False
        first = {file: _first_id(file) for file in data[:: -(-len(data) // MOST_LOOKED_AT)]}
        with self.kept.change():
            self.kept.sample(doc_id for doc_id in first.values() if doc_id)
        return all(stands_at(file, 0, doc_id) for file, doc_id in first.items())

    def _report_files_not_given(self, ids: Sequence[str]) -> None:
        """Note and report documents that lie in files which are not given."""
        self.kept.not_known(ids)
        # What a text has in brackets may be an id, and only looks like a citation.
        named = [doc_id for doc_id in ids if doc_id in self.kept.wanted]
        counts = Counter(address.file for doc_id in named if (address := address_of(doc_id)))
        if counts:
            most = ", ".join(f"{file} ({count})" for file, count in counts.most_common(MOST_NAMED))
            more = f" and {len(counts) - MOST_NAMED} more" if len(counts) > MOST_NAMED else ""
            what = f"{len(named)} of the documents asked for lie in files that are not there"
            self.report(Finding("files_not_given", Place(self.name), f"{what}: {most}{more}"))

    def _run_units(
        self, units: Sequence[Unit], wanted: Sequence[str], current: Pass | None = None
    ) -> list[InputError]:
        """Read units in processes of their own, and keep the wanted documents that they have.

        Units of a pass that were read before are left out, and those that can change nothing more.
        Returns why units could not be read, which is reported too. Raises OutputError.
        """
        pool = _UnitPool(self, units, wanted, current)
        with ExitStack() as readers:
            try:
                pool.read(readers)
            finally:
                pool.write()
        return list(pool.failed.values())


def units_of(file: Path) -> Iterator[Unit]:
    """Yield the parts of a file that can be read at the same time: ranges of plain lines."""
    opened = Opened(file)
    try:
        has_lines = opened.size > RANGE and layout_of(opened) == "lines"
        is_cut = has_lines and not is_packed(opened.on_disk)
    except InputError:  # reported where it is read
        is_cut = False
    finally:
        opened.close()
    if not is_cut:
        yield Unit(file)
        return
    for start in range(0, opened.size, RANGE):
        yield Unit(file, start, min(opened.size, start + RANGE))


def _first_id(path: Path) -> str | None:
    with suppress(InputError):
        for _, _, document, _ in islice(documents_of([path], ignore), 1):
            return document.doc_id
    return None


def _is_parquet_file(path: Path) -> bool:
    with suppress(OSError), open_regular(path) as file:  # reported where it is read
        return is_parquet(file.read(8))
    return False


class _UnitReader:
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


class _UnitPool:
    """Hands units to processes in their order, and keeps what they answer."""

    def __init__(
        self,
        lookup: CollectionLookup,
        units: Sequence[Unit],
        wanted: Sequence[str],
        current: Pass | None,
    ) -> None:
        self.lookup, self.units, self.wanted, self.current = lookup, units, wanted, current
        self.failed: dict[int, InputError] = {}
        """Why units could not be read this time, by their numbers."""
        self.waiting: list[int] = []
        """The numbers of the units that are still to be read, the first one last."""
        self.holders: dict[str, int] = {}
        """The number of the first unit in which each document was found."""
        self._answers: defaultdict[str, list[Any]] = defaultdict(list)
        """What came since it was written last, by its kind; `end` has the names of units."""
        self._deaths = 0
        self._began = self._written = time.monotonic()
        self._told = 0.0
        done = current.done if current else ()
        self._at_places = any(unit.places for unit in units)
        self._sizes = [len(u.places) if self._at_places else u.size for u in units]
        self._positions: dict[int, int] = {}
        for number, unit in reversed(list(enumerate(units))):
            if unit.name in done:
                self._positions[number] = self._sizes[number]
            else:
                self.waiting.append(number)
        # Texts that may be ids are no documents that anyone waits for.
        self._named = set(wanted).intersection(lookup.kept.wanted) or set(wanted)
        self._read_before = sum(self._positions.values())
        if done:
            self._find_holders()

    def _find_holders(self) -> None:
        numbers: dict[str, list[int]] = {}
        for number, unit in enumerate(self.units):
            numbers.setdefault(Place(str(unit.path)).path, []).append(number)
        for doc_id, path, place in self.lookup.kept.places(self.wanted):
            for number in numbers.get(path, ()):
                unit = self.units[number]
                if unit.end is None or unit.start <= place < unit.end:
                    self.holders[doc_id] = number

    def read(self, readers: ExitStack) -> None:
        """Read all units that can still change something."""
        reading: dict[Connection, _UnitReader] = {}
        while True:
            while len(reading) < self.lookup.processes and self._has_more():
                reader = _UnitReader(self.wanted)
                readers.callback(reader.end)
                reading[reader.answers] = reader
                self._begin_next(reader)
            if not any(r.unit is not None and self._needs(r.unit) for r in reading.values()):
                break
            for connection in wait(list(reading), TELL):
                assert isinstance(connection, Connection)
                try:
                    for kind, value in connection.recv():
                        self._take(reading[connection], kind, value)
                except (EOFError, ConnectionError):
                    self._note_end(reading.pop(connection))
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

    def _begin_next(self, reader: _UnitReader) -> None:
        reader.unit = self.waiting.pop() if self._has_more() else None
        if reader.unit is not None:
            reader.send(self.units[reader.unit])

    def _take(self, reader: _UnitReader, kind: str, value: Any) -> None:
        """Take an answer of a process on its unit; see `reading.Answer`."""
        number = reader.unit
        assert number is not None
        match kind:
            case "at":
                self._positions[number] = min(value, self._sizes[number])
            case "failed":
                self._fail(number, value)
            case "end":
                if self.current is not None and number not in self.failed:
                    self._answers[kind].append(self.units[number].name)
                self._positions[number] = self._sizes[number]
                self._begin_next(reader)
            case _:
                self._answers[kind].append(value)
                if kind == "document":
                    doc_id = value.document.doc_id
                    self.holders[doc_id] = min(self.holders.get(doc_id, number), number)

    def _fail(self, number: int, message: str) -> None:
        path = str(self.units[number].path)
        self.lookup.report(Finding("collection_unreadable", Place(path), message))
        self.failed[number] = InputError(f"{path}: {message}")

    def _note_end(self, reader: _UnitReader) -> None:
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
            found = sum(doc_id in self._named for doc_id in self.holders)
            # What was read before took no time now.
            read = sum(self._positions.values()) - self._read_before
            counts = (read, sum(self._sizes) - self._read_before, found, len(self._named))
            report_progress(
                CollectionProgress(
                    self.lookup.name, *counts, now - self._began, not self._at_places, ended
                )
            )

    def write(self) -> None:
        """Keep what was found and read since the last time, all of it or nothing."""
        self._written = time.monotonic()
        if not self._answers:
            return
        with self.lookup.kept.change():
            self.lookup.kept.add(self._answers["document"], self._answers["finding"])
            room = MOST_SAMPLES - len(self.lookup.kept.some_ids(MOST_SAMPLES))
            self.lookup.kept.sample(self._answers["sample"][:room])
            for name in self._answers["end"]:
                assert self.current is not None
                self.current.unit_read(name)
        self._answers.clear()
