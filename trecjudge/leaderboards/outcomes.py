"""What a judging job left: its leaderboards and judgments, found by folder, file or name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trecjudge.errors import InputError
from trecjudge.sources.paths import files_below

PLAIN, STATISTICS, JUDGMENTS = ".leaderboard.txt", ".leaderboard.jsonl", ".judgments.jsonl"
KINDS = (PLAIN, STATISTICS, JUDGMENTS)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The files of one job, or the leaderboard files of another tool.

    `place` is what messages call it: `FOLDER/NAME` of a job, else the path as given.
    """

    place: Path
    leaderboard: Sequence[Path] = ()
    statistics: Path | None = None
    judgments: Path | None = None


def outcomes(path: Path) -> list[Outcome]:
    """Return what a path stands for.

    An output folder stands for every job in it; `FOLDER/NAME`, or a file of a job, for that one;
    any other file or folder for one leaderboard. Raises InputError if nothing is there.
    """
    if path.is_dir():
        found = list(_jobs(path))
        if found:
            return found
        files = files_below(path)
        if not files:
            raise InputError(f"{path}: no leaderboard in it")
        return [Outcome(path, files)]
    for kind in KINDS:
        if path.name.endswith(kind):
            job = _job(path.parent, path.name.removesuffix(kind))
            if job is not None:
                return [job]
    job = _job(path.parent, path.name)
    if job is not None:
        return [job]
    return [Outcome(path, files_below(path))]


def outcome(path: Path) -> Outcome:
    """Return the one job or leaderboard that a path stands for. Raises InputError for several."""
    found = outcomes(path)
    if len(found) > 1:
        names = ", ".join(str(one.place) for one in found)
        raise InputError(f"{path}: there are {len(found)} leaderboards in it; give one of {names}")
    return found[0]


def _jobs(folder: Path) -> Iterator[Outcome]:
    names = {
        file.name.removesuffix(kind)
        for file in folder.iterdir()
        for kind in (PLAIN, JUDGMENTS)
        if file.name.endswith(kind) and not file.name.startswith(".")
    }
    for name in sorted(names):
        job = _job(folder, name)
        if job is not None:
            yield job


def _job(folder: Path, name: str) -> Outcome | None:
    paths = {kind: folder / f"{name}{kind}" for kind in KINDS}
    there = {kind: path for kind, path in paths.items() if path.is_file()}
    if not there:
        return None
    plain = [there[PLAIN]] if PLAIN in there else []
    return Outcome(folder / name, plain, there.get(STATISTICS), there.get(JUDGMENTS))
