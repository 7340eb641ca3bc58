"""Rows of Parquet as lines of JSON: a process of its own, whose memory is bounded.

A few kilobytes of Parquet can stand for gigabytes, and its reader has no limit. On each line of
standard input is the path of a file, how many rows are wanted, which columns, and the numbers of
rows in ascending order; each of the last three is null for all. The rows are followed by a list
with what went wrong, which is empty if nothing did. It imports nothing of this package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import orjson

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


Columns = Sequence[str] | None
Places = Sequence[int] | None


def rows(path: str, columns: Columns = None, places: Places = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file. Raises MemoryError where one of them takes too much."""
    done = 0
    for size in BATCHES:
        try:
            for row in islice(_rows(path, size, columns, places), done, None):
                done += 1
                yield row
            return
        except MemoryError:
            if size == BATCHES[-1]:
                raise


def _rows(path: str, size: int, columns: Columns, places: Places) -> Iterator[dict[str, Any]]:
    from pyarrow.parquet import ParquetFile  # heavy, and an extra

    with ParquetFile(path, pre_buffer=False, buffer_size=PAGE) as file:
        if places is None:
            for batch in file.iter_batches(size, columns=columns, use_threads=False):
                yield from batch.to_pylist()
            return
        end = 0
        for group in range(file.num_row_groups):
            begin, end = end, end + file.metadata.row_group(group).num_rows
            if here := [place for place in places if begin <= place < end]:
                batches = file.iter_batches(size, [group], columns, use_threads=False)
                yield from _at(batches, begin, here)


def _at(batches: Iterator[Any], begin: int, places: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the rows at these places of the batches of a row group, and read no further."""
    for batch in batches:
        end = begin + batch.num_rows
        for place in places:
            if begin <= place < end:
                yield from batch.slice(place - begin, 1).to_pylist()
        if end > places[-1]:
            return
        begin = end


def _plain(value: object) -> str | None:
    return None if isinstance(value, bytes) else str(value)


def main() -> None:
    """Answer the lines of standard input."""
    import pyarrow.parquet  # noqa: F401 (before the memory is bounded)

    bound_memory()
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        path, most, columns, places = orjson.loads(line)
        wrong = []
        try:
            for row in islice(rows(path, columns, places), most):
                out.write(orjson.dumps(row, default=_plain) + b"\n")
        except MemoryError:
            wrong = ["takes more memory than a file may"]
        except (OSError, ValueError, TypeError) as error:  # pyarrow's own errors are these
            wrong = [f"{error}"]
        out.write(orjson.dumps(wrong) + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
