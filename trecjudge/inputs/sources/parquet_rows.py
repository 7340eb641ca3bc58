"""Rows of Parquet as lines of JSON: a process of its own, whose memory is bounded.

A few kilobytes of Parquet can stand for gigabytes, and its reader has no limit. On each line of
standard input is the path of a file, and how many rows are wanted; its rows are followed by a list
with what went wrong, which is empty if nothing did. It imports nothing of this package.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyarrow.parquet import ParquetFile


ROOM = 400 << 20
"""Bytes that reading may take."""
BATCHES = (256, 16, 1)
"""Rows that are held at a time; fewer where they take too much memory."""
PAGE = 1 << 20
"""Bytes of a column that are read at a time."""


def bound_memory() -> None:
    """Let this process take no more than ROOM from here on, where the system can do that."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # not on every system

        with open("/proc/self/statm") as file:
            taken = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, taken + ROOM))


def rows_of(
    file: ParquetFile, chosen: Sequence[int] | None = None, **part: Any
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number from 0, row) of a file, or of `part` of it, as `iter_batches` takes it.

    Of these only the `chosen` numbers, which ascend. Raises MemoryError where a row takes too much.
    """
    done = 0
    for size in BATCHES:
        try:
            first = 0
            for batch in file.iter_batches(size, use_threads=False, **part):
                for number, row in _rows_in(batch, first, chosen):
                    if number >= done:
                        done = number + 1
                        yield number, row
                first += len(batch)
                if chosen is not None and first > chosen[-1]:
                    return
            return
        except MemoryError:
            if size == BATCHES[-1]:
                raise


def _rows_in(
    batch: RecordBatch, first: int, chosen: Sequence[int] | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    if chosen is None:
        yield from enumerate(batch.to_pylist(), first)
        return
    begin, end = (bisect_left(chosen, place) for place in (first, first + len(batch)))
    for number in chosen[begin:end]:
        yield number, batch.slice(number - first, 1).to_pylist()[0]


def as_json(value: object) -> str | None:
    """Return what JSON has for a value that it cannot hold, such as a decimal number."""
    return None if isinstance(value, bytes) else str(value)


def main() -> None:
    """Answer the lines of standard input."""
    from pyarrow.parquet import ParquetFile  # heavy, an extra, and before the memory is bounded

    bound_memory()
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        path, most = orjson.loads(line)
        wrong = []
        try:
            with ParquetFile(path, pre_buffer=False, buffer_size=PAGE) as file:
                for _, row in islice(rows_of(file), most):
                    out.write(orjson.dumps(row, default=as_json) + b"\n")
        except MemoryError:
            wrong = ["takes more memory than a file may"]
        except (OSError, ValueError, TypeError) as error:  # pyarrow's own errors are these
            wrong = [f"{error}"]
        out.write(orjson.dumps(wrong) + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
