"""Files by path, folder, pattern or standard input; originals before their backups."""

from __future__ import annotations

import glob
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from trecjudge.errors import InputError
from trecjudge.inputs.sources.containers import ENDINGS, Opened, bare_name
from trecjudge.inputs.sources.values import first_objects
from trecjudge.settings.limits import limits, shown_bytes

STANDARD_INPUT = "-"
DESCRIPTOR = re.compile(r"/dev/(?:stdin|fd/(\d+))")
"""What names a file or pipe that this process was started with."""
PIECE = 1 << 20
_copies: dict[int, Path] = {}
"""Files with what streams of this process have given, by their numbers."""
_kept: list[tempfile.TemporaryDirectory[str]] = []
"""Folders to be deleted when the process ends."""


def files_below(path: Path) -> list[Path]:
    """Return `path` itself, or every file of a folder at any depth, or those that a pattern fits.

    `-` is standard input; a pipe that a shell makes, `<(zcat x)`, is read like it. Sorted by name;
    hidden files and folders are passed over. Raises InputError if `path` is not there.
    """
    path = as_file(path)
    if os.path.isdir(path):
        return sorted(_walk(path, set()))
    if os.path.exists(path):  # unlike Path.exists, False for a name too long
        return [path]
    fitting = glob.glob(str(path), recursive=True) if glob.has_magic(str(path)) else []
    if not fitting:
        raise InputError(f"{path}: no such file or folder")
    files = (_walk(Path(f), set()) if os.path.isdir(f) else [Path(f)] for f in fitting)
    return sorted({file for found in files for file in found})


def as_file(path: Path) -> Path:
    """Return a path as it is, or a file with what standard input or a shell's pipe gives."""
    number = _stream(path)
    if number is None:
        return path
    if number not in _copies:  # once, since inputs are read more than once
        if number:
            with os.fdopen(os.dup(number), "rb") as pipe:
                _copies[number] = _copy_stream(pipe, f"fd-{number}", f"/dev/fd/{number}")
        elif sys.stdin is None:
            raise InputError("standard input is closed")
        else:
            _copies[0] = _copy_stream(sys.stdin.buffer, "stdin", "standard input")
    return _copies[number]


def was_given_elsewhere(path: Path) -> bool:
    """Return whether a path that an earlier process noted names a stream: its own, not ours."""
    named = str(path) == STANDARD_INPUT or DESCRIPTOR.fullmatch(str(path))
    return bool(named) and _stream(path) not in _copies


def _stream(path: Path) -> int | None:
    """Return the number of the stream of this process that a path names, None for a file."""
    if str(path) == STANDARD_INPUT:
        return 0
    found = DESCRIPTOR.fullmatch(str(path))
    if found is None or os.path.isfile(path) or not os.path.exists(path):
        return None
    return int(found[1] or 0)


def _copy_stream(pipe: BinaryIO, name: str, shown: str) -> Path:
    folder = tempfile.TemporaryDirectory(prefix="trecjudge-")
    _kept.append(folder)
    path: Path = _Copy(folder.name) / name
    with path.open("wb") as file:
        most = limits().stdin
        for piece in iter(lambda: pipe.read(PIECE), b""):
            if file.tell() + len(piece) > most:
                message = f"is longer than {shown_bytes(most)} (--limit stdin): give it as a file"
                raise InputError(f"{shown} {message}")
            file.write(piece)
    return path


class _Copy(type(Path())):  # type: ignore[misc]
    """A path that is shown as `<stdin>`: its real name differs each time, outputs must not."""

    def __str__(self) -> str:
        return f"<{self.name}>" if self.name.startswith("fd-") else "<stdin>"

    def __fspath__(self) -> str:
        return str(super().__str__())


def _walk(folder: Path, seen: set[str]) -> Iterator[Path]:
    """Yield the files below a folder; linked folders too, each folder once."""
    # By its real path: links between folders could lead round in a circle.
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    for entry in sorted(folder.iterdir()):
        # Left by systems and editors: `.DS_Store`, `._run.jsonl`, `.run.jsonl.swp`.
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walk(entry, seen)
        else:  # a link to nowhere, or a pipe, is found when it is read
            yield entry


# Backups and copies of files, recognised by name, so that originals can come first.
BACKUP = re.compile(
    r"(~|\.~\d+~|\.(bak|backup|bck|orig|old|save?|sw[a-p]|tmp|rej)[-_.]?\d*)$", re.IGNORECASE
)
"""What editors, `patch`, `cp --backup` and people put after a name."""
COPY = re.compile(r"^copy of | - copy( ?\(\d+\))?$| copy( ?\d+)?$| ?\((copy|\d+)\)$", re.IGNORECASE)
"""What desktops and browsers put around a name."""


def backup_of(path: Path) -> str | None:
    """Return the bare name of the file that this is a backup of, by its name; None if it is none.

    `run.jsonl.bak`, `run.bak`, `run.jsonl~`, `#run.jsonl#`, `run.bak.gz`: `run`.
    """
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    if len(name) > 2 and name[0] == name[-1] == "#":
        return bare_name(Path(name[1:-1]))
    for candidate in (name, bare_name(Path(name))):
        found = BACKUP.search(candidate)
        # A name that is only the ending (`.bak`) is the backup of nothing.
        if found and found.start():
            return bare_name(Path(candidate[: found.start()]))
    return None


def copy_of(path: Path) -> str | None:
    """Return the bare name of the file that this is a copy of, by its name; None if it is none.

    `run (1).jsonl`, `run (copy).jsonl`, `Copy of run.jsonl`: `run`.
    """
    name = bare_name(path)
    original = COPY.sub("", name)
    return original if original and original != name else None


def backups_among(files: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield (backup, original) of the files whose original is among them, in the same folder."""
    files = list(files)
    # Reversed, so that of several files with one bare name the first is the original.
    originals = {(f.parent, bare_name(f)): f for f in reversed(files) if backup_of(f) is None}
    for file in files:
        name = backup_of(file)
        original = originals.get((file.parent, name)) if name is not None else None
        if original is not None:
            yield file, original


def originals_first(files: Iterable[Path]) -> list[Path]:
    """Return the files in their order, but backups and copies after their originals."""
    files = list(files)
    names = {(file.parent, bare_name(file)) for file in files}

    def later(file: Path) -> bool:
        return any((file.parent, name) in names for name in (backup_of(file), copy_of(file)))

    return sorted(files, key=later)


# Files that this program wrote, recognised by their content, not by their names.

TEXTS = {
    re.compile(rb"[^\t]+\t[^\t]+\t[^\t]+\t-?\d+\.\d{6}"): "a leaderboard",
    re.compile(rb"\S+ \S+ \S+ -?\d+\s*(?:\n|\Z)"): "a qrels file",
    re.compile(rb"written: '\d{4}-"): "the config of a job",
    re.compile(rb'trecjudge\("'): "a part of a report",
}
"""The first lines of our files that are not JSON."""

EVENT = re.compile(
    r"session_(start|end)|FINDING|MODEL_CALL|RETRIEVAL|FAILURE|BUG|\w+_(INPUT|OUTPUT)", re.ASCII
)
RECORDS = ("header", "response", "judgment", "end")
OF_RECORDS = {"format", "run_id", "responses"}
"""Keys of a judgments file's records, each of which has one at least."""

KEYS: Mapping[str, tuple[set[str], ...]] = {
    "the statistics of a leaderboard": ({"run_id", "measure", "mean", "judged", "expected"},),
    "a review file": ({"run_id", "topic_id", "status", "rules", "look_at"},),
    "a file of labels": ({"run_id", "topic_id", "sentence_index", "doc_id", "label"},),
    "the trail of a bank": ({"nugget_id", "passages", "said", "also"},),
    "the provenance of a run": ({"run_id", "topic_id", "doc_id", "quote", "retriever"},),
    "what a run retrieved": ({"run_id", "topic_id", "question", "passages", "retriever"},),
    "a judge's card": ({"record", "about", "figures", "fixed"},),
    "a calibration": ({"format", "intercept", "features"},),
    "the output of a command": (
        {"measure", "truth_measure", "correlations"},
        {"pairs", "findings"},
        {"differences", "verdicts"},
        {"truth", "predicted", "figures"},
        {"passed", "checks"},
        {"items", "findings"},
        {"runs", "totals", "changes"},
        {"ranked_by", "measures", "runs"},
        {"sources", "others", "runs"},
        {"pack", "documents", "lacks"},
    ),
}
"""Keys of our files' records, by kind: a record has all keys of one of the sets."""
LONGEST = 10_000
"""Bytes of a first line that are looked at."""
ROW = {"run_id", "topic_id", "measure", "value"}
JOBS = {"jobs"}


def own_output(file: Path | Opened) -> str:
    """Return what a file is that this program wrote: `a judgments file`; empty if it is none.

    Its content counts, not its name: it may be renamed, packed or reformatted. Empty also where it
    cannot be read.
    """
    opened = Opened.of(file)
    records = first_objects(opened, 1)
    if records:
        return own_record(records[0])
    first = next(iter(opened.first(1)), b"")[:LONGEST]
    return next((what for form, what in TEXTS.items() if form.match(first)), "")


def own_record(record: Mapping[str, Any]) -> str:
    """Return which of our files a record comes from; empty if it comes from none."""
    keys = set(record)
    if record.get("record") in RECORDS and keys & OF_RECORDS:
        return "a judgments file"
    if {"event", "timestamp"} <= keys and EVENT.fullmatch(str(record["event"])):
        return "a debug log"
    if keys == ROW:
        return "a leaderboard"
    if keys == JOBS:
        return "the output of a command"
    fitting = (what for what, sets in KEYS.items() if any(wanted <= keys for wanted in sets))
    return next(fitting, "")
