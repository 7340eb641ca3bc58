"""Files as lines or bytes, unpacked, each opened once; and file names without endings."""

from __future__ import annotations

import io
import sys
import tarfile
import tempfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, BinaryIO

import orjson

from trecjudge.errors import InputError, why
from trecjudge.files import open_regular
from trecjudge.findings import Finding, OnFinding, ignore
from trecjudge.inputs.sources.packing import (
    BEGINNING,
    CHUNK,
    UNREADABLE,
    Readable,
    Refused,
    error_of,
    is_packed,
    is_tar,
    open_summed,
    refuse_archive,
    unpacking,
)
from trecjudge.records import Place
from trecjudge.settings.limits import limits

# Lines of bytes that come in pieces: blank ones cost nothing, too long ones are never held.
Line = tuple[int, int, bytes | None]
"""Its number from 1, the place where it ends, and its text; None for one that is too long."""
Piece = tuple[int, bytes | None]
"""The place where whole lines begin, and their text; where one ends that is too long, and None."""


def split_lines(pieces: Iterable[bytes], most: int, cut: bool = False) -> Iterator[Line]:
    """Yield every line that is not blank, with its line end.

    With `cut`, the beginning of the first line that is longer than `most` bytes is the last.
    """
    number, place, size, blank = 1, 0, 0, True
    rest: list[bytes] = []
    for piece in pieces:
        begin = piece.rfind(b"\n") + 1 if blank and piece.isspace() else 0
        if begin:  # gigabytes may be blank
            number, place, size = number + piece.count(b"\n"), place + begin, 0
            rest.clear()
        for text in io.BytesIO(piece[begin:]):
            place += len(text)
            ends = text.endswith(b"\n")
            if size or not ends or len(text) > most:
                size += len(text)
                blank = blank and text.isspace()
                if size - ends <= most:
                    rest.append(text)
                elif cut and not blank:
                    yield number, place, (b"".join(rest) + text)[: most + 1]
                    return
                else:
                    rest.clear()
                if not ends:
                    continue
                if not blank:
                    yield number, place, b"".join(rest) or None
                rest.clear()
                size, blank = 0, True
            elif not text.isspace():
                yield number, place, text
            number += 1
    if not blank:
        yield number, place, b"".join(rest) or None


def whole_lines(pieces: Iterable[bytes], most: int, place: int = 0) -> Iterator[Piece]:
    """Yield the lines of pieces, the first of which begins at a place, many at once.

    A line that is longer than `most` bytes may be among others only if it came in one piece.
    """
    size, blank = 0, True
    held: list[bytes] = []
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            begin = 0
            if size > most:
                begin = piece.find(b"\n") + 1
                place += size + begin
                is_blank = blank and piece[:begin].isspace()
                yield place, b"\n" if is_blank else None
            lines = b"".join((*held, memoryview(piece)[begin:end]))
            if lines:
                yield place, lines
            place += len(lines)
            held, size, blank = [], 0, True
        rest = piece[end:]
        held.append(rest)
        size += len(rest)
        blank = blank and (not rest or rest.isspace())
        if size > most:
            held.clear()
    if held and size:
        yield place, b"".join(held)
    elif not blank:
        yield place + size, None


BOM = b"\xef\xbb\xbf"
ENDINGS = (".gz", ".bz2", ".xz", ".zst")
LOOK, PIECE = 1 << 15, 1 << 18
"""Bytes taken at a time of a file whose beginning is looked at, and of one that is read."""


class Opened:
    """A file that is opened once, though its beginning is looked at before all of it is read.

    What was looked at is held until then. To be read a second time, it is opened again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read_bytes = 0
        """How many bytes were read, unpacked."""
        self.on_disk = b""
        """Its first bytes as they lie on disk, once it is open."""
        self._position = 0
        self._number = 0
        self._held: list[bytes] = []
        self._first: list[bytes] = []
        self._sought = 0
        self._files = ExitStack()
        self._packed: io.BufferedReader | None = None
        self._unpacked: IO[bytes] | None = None

    @classmethod
    def of(cls, file: Path | Opened) -> Opened:
        """Return a file as one that is opened once."""
        return file if isinstance(file, Opened) else cls(file)

    @property
    def held_bytes(self) -> int:
        """How many bytes that were looked at are held."""
        return sum(map(len, self._held))

    @property
    def size(self) -> int:
        """How large it is, in bytes on disk; 0 where that is not known."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    @property
    def position(self) -> int:
        """How far it is read, in bytes as they lie on disk."""
        if self._packed is not None and not self._packed.closed:
            self._position = self._packed.tell()
            if not is_packed(self.on_disk):  # a whole piece is taken at once
                self._position = min(self._position, self.read_bytes + io.DEFAULT_BUFFER_SIZE)
        return self._position

    def first(self, count: int) -> list[bytes]:
        """Return the first few lines that are not blank, as far as the file can be read.

        A line that is too long is the last of them, and only its beginning.
        """
        if self._sought < count:
            self._first = []
            with suppress(*UNREADABLE):  # reported where the file is read
                found = self._texts(split_lines(self._look(), limits().record, cut=True), ignore)
                self._first.extend(text for _, text in islice(found, count))
            self._sought = count if len(self._first) == count else sys.maxsize
        return self._first[:count]

    def look(self) -> Iterator[bytes]:
        """Yield the bytes from the beginning on; what was taken is held. Raises as `lines`."""
        try:
            yield from self._look()
        except UNREADABLE as error:
            raise _unreadable(self.path, 0, error) from error

    def beginning(self) -> bytes:
        """Return its first bytes, about `CHUNK` or all, which are held. Raises as `lines`."""
        found, size = [], 0
        for piece in self.look():
            found.append(piece)
            size += len(piece)
            if size >= CHUNK:
                break
        return (b"".join(found) or next(self.chunks(), b"")).removeprefix(BOM)

    def lines(self, report: OnFinding | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield (number from 1, text) of every line that is not blank.

        Lines end at LF only, so U+2028 inside a string splits none; a byte order mark is dropped.
        A line that is too long is reported and passed over, and never held. Raises InputError if
        the file cannot be read. Where packed data break off, it is raised after the lines before
        that. Without `report` it is also raised for a line that is too long.
        """
        try:
            with self._reading(PIECE) as pieces:
                yield from self._texts(split_lines(pieces, limits().record), report)
        except UNREADABLE as error:
            raise _unreadable(self.path, self._number, error) from error

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        """Yield the unpacked bytes. Raises InputError as `lines`."""
        number = 0
        try:
            with self._reading(size) as pieces:
                for chunk in pieces:
                    number += chunk.count(b"\n")
                    self.read_bytes += len(chunk)
                    yield chunk
        except UNREADABLE as error:
            raise _unreadable(self.path, number, error) from error

    def close(self) -> None:
        """Close the file and forget what was looked at; it can still be read."""
        self._held, self._first, self._sought = [], [], 0
        self._unpacked = None
        with suppress(*UNREADABLE):
            self._files.close()

    def _open(self) -> IO[bytes]:
        if self._unpacked is None:
            with ExitStack() as files:  # closed where the data are not what they begin as
                self._packed = files.enter_context(self._file())
                beginning = self._packed.peek(BEGINNING)
                self.on_disk = beginning[:8]
                refuse_archive(self.path, beginning)
                self._unpacked = files.enter_context(unpacking(self._packed))
                self._files = files.pop_all()
        return self._unpacked

    def _file(self) -> io.BufferedReader:
        return open_summed(self.path)

    @contextmanager
    def _reading(self, size: int) -> Iterator[Iterator[bytes]]:
        """Yield what is held, and pieces of the file from there on, which is closed afterwards."""
        self.read_bytes = self._number = 0
        file = self._open()
        held, self._held = deque(self._held), []
        try:
            with self._files:
                try:
                    yield chain(_replay(held), iter(lambda: file.read(size), b""))
                finally:
                    self._position = self.position
        finally:
            self._unpacked = None

    def _look(self) -> Iterator[bytes]:
        """Yield what is held, and pieces of the file from there on, which are held too."""
        yield from map(_whole, tuple(self._held))
        for piece in iter(lambda: self._open().read(LOOK), b""):
            # Blank ones are packed: gigabytes of them may stand before the first line.
            self._held.append(_Packed(zlib.compress(piece, 1)) if piece.isspace() else piece)
            yield piece

    def _texts(self, raw: Iterable[Line], report: OnFinding | None) -> Iterator[tuple[int, bytes]]:
        for number, end, line in raw:
            if line is None:
                place, message = Place(str(self.path), number), limits().too_long
                if report is None:
                    raise InputError(f"{place}: {message}")
                report(Finding("record_too_large", place, f"{message}; passed over"))
                continue
            # Where packed data break off, the last line is half a record, unless it is JSON.
            if line[-1:] != b"\n" and error_of(self._unpacked) and not is_json(line):
                return
            self._number = number
            self.read_bytes = end
            if number == 1 and not (line := line.removeprefix(BOM)).strip():
                continue
            yield number, line.strip(b" \r\n")  # a tab may stand for an empty column


def is_json(text: bytes) -> bool:
    """Return whether a line without a line end is complete."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


class _Packed(bytes):
    """A blank piece, packed."""


def _replay(held: deque[bytes]) -> Iterator[bytes]:
    """Yield the pieces that are held, and free each as it is yielded."""
    while held:
        yield _whole(held.popleft())


def _whole(piece: bytes) -> bytes:
    return zlib.decompress(piece) if isinstance(piece, _Packed) else piece


def lines(path: Path, report: OnFinding | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, text) of every line that is not blank; as `Opened.lines`."""
    return Opened(path).lines(report)


def first_line(path: Path) -> bytes:
    """Return the first line that is neither blank nor too long, nothing if there is none.

    Raises InputError as `lines`.
    """
    return next(lines(path, ignore), (0, b""))[1]


def chunks(path: Path) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file. Raises InputError as `lines`."""
    return Opened(path).chunks()


def seekable(path: Path) -> BinaryIO:
    """Return a file, opened and unpacked, to read at any place of it.

    A packed one is unpacked into a temporary file without a name. Raises OSError, or as `lines`.
    """
    file = open_regular(path)
    if not is_packed(file.read(8)):
        return file
    file.close()
    unpacked: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 (closed by who reads it)
    for chunk in chunks(path):
        unpacked.write(chunk)
    return unpacked


def _unreadable(path: Path, number: int, error: Exception) -> InputError:
    where = f" beyond line {number}" if number else ""
    if isinstance(error, Refused):
        return InputError(f"{path}: {f'cannot be read{where}: ' * bool(number)}{error}")
    # The unpackers' own errors have no number: the file is there, but not as it was packed.
    hint = "" if getattr(error, "errno", None) else "; it is cut or damaged: copy or make it again"
    return InputError(f"{path}: cannot be read{where}: {why(error)}{hint}")


def bare_name(path: Path) -> str:
    """Return a file's name without the endings of what holds it: `a.jsonl.gz` -> `a`."""
    name = path.name
    for ending in (*ENDINGS, ".jsonl", ".json", ".csv", ".tsv", ".parquet", ".eval", ".yaml"):
        name = name.removesuffix(ending)
    return name


# The files in a tar archive, read one after another where they lie: none is ever extracted.

LONGEST_HEAD = 1 << 20
"""Bytes that describe a member, at most: they are held."""
AT_ONCE = 1 << 14
"""Bytes that are read of a member at a time: where an archive breaks off, they are lost."""
DESCRIBE = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
"""Kinds of members that only describe the next one, and are read into memory."""


class _MemberBytes:
    """The bytes of a member, a few at a time: what `Readable` needs of a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read1(self, size: int) -> bytes:
        """Return some bytes, none at the end. Raises EOFError where the archive breaks off."""
        try:
            return self._file.read(min(size, AT_ONCE))
        except tarfile.TarError as error:
            raise EOFError(str(error)) from error


class Member(Opened):
    """A file in an archive, called `x.tar!name`, which is read before the next one."""

    def __init__(self, path: Path, file: IO[bytes], archive: io.BufferedReader) -> None:
        super().__init__(path)
        self._member = io.BufferedReader(Readable(_MemberBytes(file), archive), CHUNK)
        self._archive = archive

    @property
    def position(self) -> int:
        """How far the archive is read, in bytes as they lie on disk."""
        return self._archive.tell()

    def _file(self) -> io.BufferedReader[Any]:
        return self._member


class _Head(tarfile.TarInfo):
    """What describes a member; a description that fills memory is refused."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in DESCRIBE and self.size > LONGEST_HEAD:
            raise tarfile.ReadError("what describes a member is too long")
        found: tarfile.TarInfo = super()._proc_member(tar)  # type: ignore[misc]
        return found


def tar_members(path: Path) -> Iterator[Member] | None:
    """Return the files of an archive, in their order; None for what is no tar archive.

    Raises InputError where the archive cannot be read, after the members before that.
    """
    with ExitStack() as files:
        try:
            packed = files.enter_context(open_regular(path))
            unpacked = files.enter_context(unpacking(packed, archive=True))
            beginning = unpacked.peek(BEGINNING) if hasattr(unpacked, "peek") else b""
        except UNREADABLE:  # reported where it is read
            return None
        if is_tar(beginning):
            return _members(path, packed, unpacked, files.pop_all())
        try:
            files.close()
        except UNREADABLE:
            return None
    return None


def _members(
    path: Path, packed: io.BufferedReader, unpacked: object, files: ExitStack
) -> Iterator[Member]:
    name = ""
    try:
        with files, tarfile.open(fileobj=unpacked, mode="r|", tarinfo=_Head) as tar:  # type: ignore[call-overload]
            for head in tar:
                tar.members = []  # all heads would be held
                name = f"!{head.name}"
                hidden = any(part.startswith(".") for part in Path(head.name).parts)
                if head.isreg() and not hidden and (file := tar.extractfile(head)):
                    yield Member(Path(f"{path}{name}"), file, packed)
    except (*UNREADABLE, tarfile.TarError) as error:
        if isinstance(error, Refused):
            raise InputError(f"{path}: {error}") from error
        where = f" beyond {name[1:]!r}" if name else ""
        hint = "" if getattr(error, "errno", None) else "; it is cut or damaged: copy it again"
        raise InputError(f"{path}: cannot be read{where}: {why(error)}{hint}") from error
