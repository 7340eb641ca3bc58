"""Rows of Parquet files, read by another process: it may take too much memory, or crash."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

import orjson

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding
from trecjudge.inputs.sources import parquet_rows
from trecjudge.inputs.sources.containers import PIECE, Opened, split_lines
from trecjudge.inputs.sources.values import too_large
from trecjudge.records import Place
from trecjudge.settings.limits import limits

PARQUET = b"PAR1"
"""The first bytes of a file."""


def parquet_rows_of(
    file: Opened, report: OnFinding, most: int | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number from 1, row) of Parquet.

    Raises InputError where pyarrow is missing, and where the file cannot be read to its end.
    """
    try:
        there = find_spec("pyarrow.parquet")
    except ImportError:
        there = None
    if there is None:
        message = "is Parquet; pip install 'trecjudge[parquet]', or export it as JSONL or CSV"
        raise InputError(f"{file.path}: {message}")
    process, wrong, row = _IDLE.pop() if _IDLE else _reader(), None, 1
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(orjson.dumps([os.path.abspath(file.path), most]) + b"\n")
        process.stdin.flush()
        pieces = iter(partial(os.read, process.stdout.fileno(), PIECE), b"")
        for row, end, line in split_lines(pieces, limits().record):
            if excess := limits().excess_of_unpacked(end, file.size):
                raise InputError(f"{file.path}: cannot be read beyond row {row - 1}: {excess}")
            if line and line[:1] == b"[":
                wrong = orjson.loads(line)
                break
            excess = limits().excess_of_text(line) if line else limits().too_long
            if line and not excess:
                yield row, orjson.loads(line)
            else:
                report(too_large(Place(str(file.path), row), excess))
        if wrong != []:
            why = wrong[0] if wrong else "it is damaged, or takes more memory than a file may"
            raise InputError(f"{file.path}: cannot be read beyond row {row - 1}: {why}")
    except BrokenPipeError as error:
        raise InputError(f"{file.path}: cannot be read: its reader did not start") from error
    finally:
        if wrong is not None:
            _IDLE.append(process)
        else:
            _end(process)


_IDLE: list[Popen[bytes]] = []
"""Readers of Parquet that wait for the next file: to start one takes as long as many files."""


def _reader() -> Popen[bytes]:
    # The usual pool of memory reserves more than the reader may take.
    environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    process = Popen(
        [sys.executable, "-P", parquet_rows.__file__],
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=environment,
    )
    atexit.register(_end, process)
    return process


def _end(process: Popen[bytes]) -> None:
    process.kill()
    process.communicate()
