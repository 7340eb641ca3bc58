"""Standard output and error that go on working after their reader has gone."""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

from trecjudge.text.credentials import learn, public, without_typed

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

GONE = frozenset({errno.EPIPE, errno.EIO})
"""The errors of a pipe without a reader, and of a terminal that was closed."""
ANY = frozenset(errno.errorcode)


class _Lasting(io.FileIO):
    """Writes to a descriptor; what nobody can read any more is dropped."""

    def __init__(self, descriptor: int, dropped: Collection[int]) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._dropped = dropped

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in self._dropped:
                raise
            return memoryview(data).nbytes


def make_streams_last() -> None:
    """Let a command go on to its end, and its own exit status, where its output is not read.

    A full disk stays an error for standard output; messages never end a command.
    """
    sys.stdout = _lasting(sys.stdout, GONE)
    sys.stderr = _lasting(sys.stderr, ANY)


def _lasting(stream: TextIO, dropped: Collection[int]) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):  # None where it is closed
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Lasting(stream.fileno(), dropped)),
        encoding=stream.encoding,
        # A name in a run may hold what the terminal cannot encode; it is shown escaped.
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
    )


class _Hiding:
    """A stream that gives its texts to another one, without secrets."""

    def __init__(self, stream: TextIO, hide: Callable[[str], str]) -> None:
        self._stream, self._hide = stream, hide

    def write(self, text: str) -> int:
        """Write a text without its secrets; return the length of the text."""
        self._stream.write(self._hide(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def hiding(words: Sequence[str], environment: Mapping[str, str]) -> Iterator[None]:
    """Print no secret meanwhile: on standard error none at all, on standard output none of these.

    They are the secrets in the words of a command line and in the environment. What runs and
    documents say is printed on standard output as it is.
    """
    learn(words, environment)
    out, err = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, out and _Hiding(out, without_typed))
    sys.stderr = cast(TextIO, err and _Hiding(err, public))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err
