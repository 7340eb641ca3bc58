"""Standard output and error that go on working after their reader, or their disk, has gone."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from trecjudge.errors import why
from trecjudge.files import Patient

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Lasting(Patient):
    """Writes to a descriptor until that fails: from then on all is dropped."""

    error: OSError | None = None

    def write(self, data: ReadableBuffer) -> int:
        try:
            if self.error is None:
                return super().write(data)
        except OSError as error:
            self.error = error
        return memoryview(data).nbytes


def make_streams_last() -> None:
    """Let a process go on to its end where its output cannot be written, or is not read."""
    if sys.stdin is None:  # started with its input closed (`<&-`)
        os.open(os.devnull, os.O_RDONLY)  # else the next file would have its number
    # Of one that was closed, writing is an error for output, and none for messages.
    sys.stdout = _lasting(sys.stdout, os.O_RDONLY)
    sys.stderr = _lasting(sys.stderr, os.O_WRONLY)


def _lasting(stream: TextIO | None, closed: int) -> TextIO:
    if stream is not None and not isinstance(stream, io.TextIOWrapper):
        return stream
    if stream is not None:
        stream.flush()
    descriptor = stream.fileno() if stream else os.open(os.devnull, closed)
    return io.TextIOWrapper(
        io.BufferedWriter(_Lasting(descriptor, "wb", closefd=False)),
        encoding=stream.encoding if stream else "utf-8",
        # A name in a run may hold what the terminal cannot encode; it is shown escaped.
        errors="backslashreplace",
        line_buffering=stream.line_buffering if stream else True,
    )


def output_error() -> str:
    """Return why standard output could not be written, in plain words; empty where it could.

    A pipe without a reader is no error: who reads wants no more.
    """
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if not isinstance(raw, _Lasting):
        return ""
    sys.stdout.flush()
    try:
        os.close(os.dup(raw.fileno()))  # some file systems tell of a full disk only then
    except OSError as error:
        raw.error = raw.error or error
    return "" if raw.error is None or raw.error.errno == errno.EPIPE else why(raw.error)
