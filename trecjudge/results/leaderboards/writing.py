"""Writes leaderboard rows in any format of the field."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import orjson

from trecjudge.errors import OutputError
from trecjudge.files import open_target, whole
from trecjudge.results.leaderboards.layouts import MEASURE, RUN, TOPIC, VALUE, LeaderboardLayout
from trecjudge.results.leaderboards.spreadsheet import csv_line
from trecjudge.results.trec import LeaderboardRow, columns_of, encode, percent, topic_in_json

LONGEST_NAME = 200
"""Bytes of a file's name: file systems take 255, and a temporary name is longer than it."""
# A leading dot would hide a file, `..` leave the folder, and `.gz` pass for packed. The rest is
# nothing that every file system takes: signs, a dot at the end, and names of devices.
UNSAFE = re.compile(
    r'[/\\:*?"<>|]|^\.|\.$|\.(?=(?:gz|bz2|xz|zst)$)'
    r"|^(?:c(?=on\b|om\d\b)|p(?=rn\b)|a(?=ux\b)|n(?=ul\b)|l(?=pt\d\b))",
    re.IGNORECASE,
)


def write_rows(
    rows: Iterable[LeaderboardRow], target: Path, layout: LeaderboardLayout
) -> list[Path]:
    """Write rows to `target`, for trec_eval a folder with one file a run; return the files.

    Raises OutputError if they cannot be written.
    """
    if not layout.by_file:
        with open_target(target) as file:
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
    names: dict[str, str] = {}
    for run_id in runs:
        names[run_id] = _file_name(run_id, {_fold_name(name) for name in names.values()})
    for run_id, name in names.items():
        with whole(target / name) as file:
            file.writelines(line.encode() for line in texts(runs[run_id], layout))
    return [target / name for name in names.values()]


def _file_name(run_id: str, taken: Collection[str]) -> str:
    """Return a run's id as the name of a file in the folder, which is read back as that id.

    It is none of those `taken`, in any case and normal form of its letters.
    """
    name = UNSAFE.sub(percent, encode(run_id))
    name = name if _fold_name(name) not in taken else re.sub(r"(?s).", percent, run_id)
    if len(name.encode()) > LONGEST_NAME:
        raise OutputError(f"run {run_id!r}: too long for the name of a file; give another format")
    return name


def _fold_name(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def texts(rows: Iterable[LeaderboardRow], layout: LeaderboardLayout) -> Iterator[str]:
    """Yield the lines of a layout; numbers with all their digits."""
    yield layout.header
    for row in rows:
        if layout.name == "jsonl":
            yield orjson.dumps(_record(row), option=orjson.OPT_APPEND_NEWLINE).decode()
            continue
        run_id, topic, measure = columns_of(row)
        # The shortest text that reads back as the same number.
        named = {RUN: run_id, TOPIC: topic, MEASURE: measure, VALUE: repr(row.value)}
        cells = [named[column] for column in layout.columns]
        yield csv_line(cells) if layout.separator == "," else "\t".join(cells) + "\n"


def _record(row: LeaderboardRow) -> dict[str, object]:
    """Return a row by name, ids as they are; a topic called `all` is not the mean."""
    named = {"run_id": row.run_id, "topic_id": topic_in_json(row.topic_id)}
    return named | {"measure": row.measure, "value": row.value}
