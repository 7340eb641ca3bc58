"""Rows of Parquet as lines of JSON: a process of its own, whose memory is bounded.

A few kilobytes of Parquet can stand for gigabytes, and its reader has no limit. On each line of
standard input is the path of a file, and how many rows are wanted; its rows are followed by a list
with what went wrong, which is empty if nothing did. It imports nothing of this package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
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


def rows(path: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file. Raises MemoryError where one of them takes too much."""
    done = 0
    for size in BATCHES:
        try:
            for row in islice(_rows(path, size), done, None):
                done += 1
                yield row
            return
        except MemoryError:
            if size == BATCHES[-1]:
                raise


def _rows(path: str, size: int) -> Iterator[dict[str, Any]]:
    from pyarrow.parquet import ParquetFile  # heavy, and an extra

    with ParquetFile(path, pre_buffer=False, buffer_size=PAGE) as file:
        for batch in file.iter_batches(size, use_threads=False):
            yield from batch.to_pylist()


def as_json(value: object) -> str | None:
    """Return what JSON has for a value that it cannot hold, such as a decimal number."""
    return None if isinstance(value, bytes) else str(value)


def main() -> None:
    """Answer the lines of standard input."""
    import pyarrow.parquet  # noqa: F401 (before the memory is bounded)

    bound_memory()
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        path, most = orjson.loads(line)
        wrong = []
        try:
            for row in islice(rows(path), most):
                out.write(orjson.dumps(row, default=as_json) + b"\n")
        except MemoryError:
            wrong = ["takes more memory than a file may"]
        except (OSError, ValueError, TypeError) as error:  # pyarrow's own errors are these
            wrong = [f"{error}"]
        out.write(orjson.dumps(wrong) + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
