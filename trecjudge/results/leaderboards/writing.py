"""Writes leaderboard rows in any format of the field."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from trecjudge.errors import OutputError
from trecjudge.files import chosen, whole
from trecjudge.results.leaderboards.layouts import MEASURE, RUN, TOPIC, VALUE, Layout
from trecjudge.results.leaderboards.spreadsheet import csv_line
from trecjudge.results.trec import ALL, ENCODED_ALL, LeaderboardRow, encode, encode_topic

LONGEST_NAME = 200
"""Bytes of a file's name: file systems take 255, and a temporary name is longer than it."""


def write_rows(rows: Iterable[LeaderboardRow], target: Path, layout: Layout) -> list[Path]:
    """Write rows to `target`, for trec_eval a folder with one file a run; return the files.

    Raises OutputError if they cannot be written.
    """
    if not layout.by_file:
        with chosen(target) as file:
            file.writelines(line.encode() for line in texts(rows, layout))
        return [target]
    runs: dict[str, list[LeaderboardRow]] = defaultdict(list)
    for row in rows:
        runs[row.run_id].append(row)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{target}: no folder for one file a run: {error.strerror or error}"
        raise OutputError(message) from error
    paths = {run_id: target / _file_name(run_id) for run_id in runs}
    for run_id, path in paths.items():
        with whole(path) as file:
            file.writelines(line.encode() for line in texts(runs[run_id], layout))
    return list(paths.values())


def _file_name(run_id: str) -> str:
    """Return a run's id as the name of a file in the folder, which is read back as that id."""
    name = encode(run_id).replace("/", "%2F").replace("\\", "%5C")
    # A leading dot would hide the file, and `..` leave the folder.
    name = f"%2E{name[1:]}" if name.startswith(".") else name
    if len(name.encode()) > LONGEST_NAME:
        raise OutputError(f"run {run_id!r}: too long for the name of a file; give another format")
    return name


def texts(rows: Iterable[LeaderboardRow], layout: Layout) -> Iterator[str]:
    """Yield the lines of a layout; numbers with all their digits."""
    yield layout.header
    for row in rows:
        if layout.name == "jsonl":
            yield orjson.dumps(_record(row), option=orjson.OPT_APPEND_NEWLINE).decode()
            continue
        cells = [_cell(row, column) for column in layout.columns]
        yield csv_line(cells) if layout.separator == "," else "\t".join(cells) + "\n"


def _record(row: LeaderboardRow) -> dict[str, object]:
    """Return a row by name, ids as they are; a topic called `all` is not the mean."""
    topic_id = {None: ALL, ALL: ENCODED_ALL}.get(row.topic_id, row.topic_id)
    named = {"run_id": row.run_id, "topic_id": topic_id}
    return named | {"measure": row.measure, "value": row.value}


def _cell(row: LeaderboardRow, column: str) -> str:
    return {
        RUN: encode(row.run_id),
        TOPIC: ALL if row.topic_id is None else encode_topic(row.topic_id),
        MEASURE: encode(row.measure),
        # The shortest text that reads back as the same number.
        VALUE: repr(row.value),
    }[column]
