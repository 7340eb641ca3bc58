"""Files of a job that may be packed: written in frames of whole lines, and found in any form.

A frame ends at the first line end behind a megabyte of text. So the bytes depend on the text only,
however it came together, and every finished frame of a file that breaks off can be read.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from trecjudge.errors import OutputError, why
from trecjudge.files import whole
from trecjudge.inputs.sources.containers import ENDINGS

PACKED = ".zst"
"""What follows the name of a file that this program packs."""
FRAME = 1 << 20
"""Bytes of text in a frame, at least, but for the last one."""
LEVEL = 3
"""The level of zstd: its default."""


class FramePacker:
    """Packs what is written to it, and writes it to an open file frame by frame."""

    def __init__(self, file: BinaryIO) -> None:
        import zstandard  # only where a file is packed

        self._file = file
        self._packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self._held = bytearray()

    def write(self, data: bytes) -> int:
        """Take some bytes; write the frames that they complete."""
        held = self._held
        start = max(FRAME - 1, len(held))
        held += data
        while end := held.find(b"\n", start) + 1:
            self._pack(end)
            start = FRAME - 1
        return len(data)

    def flush(self) -> None:
        """Do nothing: a frame is written when it is full, whoever wants its lines before."""

    def end(self) -> None:
        """Write the last frame."""
        if self._held:
            self._pack(len(self._held))

    def _pack(self, end: int) -> None:
        # At once, not as a stream: its bytes would depend on the sizes of the pieces given.
        self._file.write(self._packer.compress(bytes(self._held[:end])))
        del self._held[:end]


@contextmanager
def packing(file: BinaryIO, ending: str) -> Iterator[BinaryIO]:
    """Yield what packs the bytes written to an open file, as the ending of its name says."""
    if ending == PACKED:
        frames = FramePacker(file)
        try:
            yield cast(BinaryIO, frames)
        finally:  # of a log that breaks off, all is kept
            frames.end()
    elif ending == ".gz":
        # Without name and time: the bytes depend on the text only.
        with gzip.GzipFile("", "wb", 6, file, 0) as packed:
            yield cast(BinaryIO, packed)
    else:
        yield file


class DigestingFile:
    """Passes bytes on to an open file, and takes the digest of their content, packed or not."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._sum = file, hashlib.sha256()
        self.flush = file.flush

    def write(self, data: bytes) -> int:
        """Take some bytes, and write them."""
        self._sum.update(data)
        return self._file.write(data)

    @property
    def sha256(self) -> str:
        """The digest of all that was written until now, in hexadecimal digits."""
        return self._sum.hexdigest()


class LenientFile:
    """Writes to an open file until that fails: `refused` is told once, and the rest is dropped."""

    error: OSError | None = None

    def __init__(self, file: BinaryIO, refused: Callable[[str], None]) -> None:
        self._file, self._refused = file, refused

    def write(self, data: bytes) -> int:
        """Write some bytes; return how many."""
        self._try(lambda: self._file.write(data))
        return len(data)

    def flush(self) -> None:
        """Write what is held back."""
        self._try(self._file.flush)

    def _try(self, work: Callable[[], object]) -> None:
        try:
            if self.error is None:
                work()
        except OSError as error:
            self.error = error
            with suppress(OSError):  # it holds what cannot be written, and would try again
                self._file.close()
            self._refused(why(error))


@contextmanager
def open_output(
    path: Path, keep_partial: bool = False, refused: Callable[[str], None] | None = None
) -> Iterator[BinaryIO]:
    """Open a file of a job as `whole` does, packed where its name ends so.

    When it has its name, the same file in the other form, which an earlier job left, is removed.
    With `refused`, a write that fails ends only the file, and that is told why.
    """
    lenient: LenientFile | None = None
    is_complete = False
    try:
        with whole(path, keep_partial) as file:
            lenient = LenientFile(file, refused) if refused else None
            with packing(cast(BinaryIO, lenient or file), path.suffix) as packed:
                yield packed
            is_complete = True
            if lenient is not None:
                lenient.flush()
                if lenient.error is not None:  # then it does not take its name
                    raise lenient.error
    except OutputError:
        if not is_complete or lenient is None or lenient.error is None:
            raise
    else:
        remove_other_form(path)


def remove_other_form(path: Path) -> None:
    """Remove the packed form of a plain file, or the plain one of a packed file, if it is there."""
    plain = path.with_name(path.name.removesuffix(PACKED))
    other = path.with_name(f"{path.name}{PACKED}") if path == plain else plain
    for left in (other, other.with_name(f"{other.name}.part")):
        with suppress(OSError):  # it does no harm: the newest form counts
            left.unlink()


def newest_form(path: Path) -> Path | None:
    """Return the file at a path or its packed form; None where there is neither.

    Of several the newest counts: a job that is killed may leave the form of an earlier one.
    """
    plain = path.with_name(path.name.removesuffix(PACKED))
    forms = (plain, *(plain.with_name(f"{plain.name}{ending}") for ending in ENDINGS))
    found = {form: time for form in forms if (time := _time_of(form)) is not None}
    return max(found, key=lambda form: found[form], default=None)  # the plain one of two alike


def _time_of(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns if path.is_file() else None
    except OSError:
        return None
