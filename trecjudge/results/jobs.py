"""The files of a job, found by its folder, by FOLDER/NAME or by any one of its files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from trecjudge.errors import InputError, unknown
from trecjudge.inputs.sources.containers import ENDINGS
from trecjudge.inputs.sources.paths import files_below, own_output
from trecjudge.results.outputs import BESIDE, SUFFIXES, Outputs
from trecjudge.results.packed import PACKED, newest_form

KINDS = ("leaderboard", "statistics", "judgments")
"""The files by which a job is recognised: it has at least one of them."""
MOST_NAMED = 30
WANTED = "give the --out-dir of a job, FOLDER/NAME, or any file of it"


@dataclass(frozen=True, slots=True)
class JobFiles:
    """The files of one job, or the leaderboard files of another tool.

    `place` is what messages call it: `FOLDER/NAME` of a job, else the path as given.
    """

    place: Path
    leaderboard: Sequence[Path] = ()
    statistics: Path | None = None
    judgments: Path | None = None


def files_of(outputs: Outputs) -> JobFiles:
    """Return the files of a job that was judged, by where it writes."""
    place = outputs.folder / outputs.name
    return JobFiles(place, [outputs.leaderboard], outputs.statistics, outputs.judgments)


@dataclass(frozen=True, slots=True)
class JudgedJob:
    """A job whose judgments are there; `place` is its `FOLDER/NAME`."""

    place: Path
    judgments: Path

    @property
    def outputs(self) -> Outputs:
        """The files of the job by their names. Raises InputError if its judgments have another."""
        packed = self.judgments.suffix == PACKED
        outputs = Outputs(self.place.parent, self.place.name, packed)
        if outputs.judgments != self.judgments:
            raise InputError(
                f"{self.judgments}: is packed or renamed; it must be {outputs.judgments}"
            )
        return outputs


AnyJob = TypeVar("AnyJob", JobFiles, JudgedJob)


def outcomes(path: Path) -> list[JobFiles]:
    """Return what a path stands for.

    An output folder stands for every job in it; `FOLDER/NAME`, or any file of a job, for that one;
    any other file or folder for one leaderboard. Raises InputError if nothing is there.
    """
    found = jobs_at(path)
    if found:
        return found
    try:
        files = files_below(path)
    except InputError as error:
        there = list(jobs_in(path.parent))
        raise (
            InputError(f"{error}; jobs there: {_list_places(there)}") if there else error
        ) from None
    if not files:
        raise InputError(f"{path}: no leaderboard in it")
    return [JobFiles(path, files)]


def outcome(path: Path) -> JobFiles:
    """Return the one job or leaderboard that a path stands for. Raises InputError for several."""
    return only_one(path, outcomes(path), "leaderboards")


def judged_job(path: Path, name: str | None = None) -> JudgedJob:
    """Return the one job with judgments that a path stands for.

    `name` says which, where a folder holds several. Raises InputError for several and no `name`,
    and where there is none.
    """
    every = [(job, job.judgments) for job in jobs_at(path)]
    jobs = [JudgedJob(job.place, judgments) for job, judgments in every if judgments]
    if not jobs:
        raise InputError(f"{path}: {_why_none(path, [job for job, _ in every])}")
    if name is not None:
        names = [job.place.name for job in jobs]
        jobs = [job for job in jobs if job.place.name == name]
        if not jobs:
            raise InputError(f"{path}: {unknown('name', name, names)}")
    return only_one(path, jobs, "jobs")


def kind_of(path: Path) -> str:
    """Return which file of a job a path is, as a key of SUFFIXES; empty where it is none."""
    found = ((kind, _job(path.parent, stem)) for kind, stem in _stems(path.name))
    return next((kind for kind, job in found if job is not None), "")


def _why_none(path: Path, without_judgments: Sequence[JobFiles]) -> str:
    """Return why a path stands for no job with judgments."""
    if without_judgments:
        missing = ", ".join(f"{job.place}{SUFFIXES['judgments']}" for job in without_judgments)
        return f"no {missing} beside the leaderboard; {WANTED}"
    if os.path.isdir(path):
        return f"no NAME{SUFFIXES['judgments']} in it; {WANTED}"
    if os.path.exists(path):
        return f"is not a judgments file, nor another file of a job; {WANTED}"
    there = list(jobs_in(path.parent))
    choices = f"jobs there: {_list_places(there)}" if there else WANTED
    return f"no such judgments file, and no job of this name; {choices}"


def only_one(path: object, found: Sequence[AnyJob], what: str) -> AnyJob:
    """Return the only one of what is found. Raises InputError for several."""
    if len(found) > 1:
        choices = f"give one of {_list_places(found)}"
        raise InputError(f"{path}: there are {len(found)} {what} in it; {choices}")
    return found[0]


def _list_places(jobs: Sequence[JobFiles | JudgedJob]) -> str:
    more = ", …" if len(jobs) > MOST_NAMED else ""
    return ", ".join(str(job.place) for job in jobs[:MOST_NAMED]) + more


def jobs_at(path: Path) -> list[JobFiles]:
    """Return the jobs that a path stands for; none where it is no folder and no job's file."""
    jobs = list(jobs_in(path))
    if jobs:
        return jobs
    stems = [stem for _, stem in _stems(path.name)]
    # A job may have the name of another job's file, such as `x.log`: what exists decides.
    names = [*stems, path.name] if os.path.lexists(path) else [path.name, *stems]
    for name in names:
        job = _job(path.parent, name)
        if job is not None:
            return [job]
    if os.path.isfile(path) and own_output(path) == "a judgments file":
        name = _plain_name(path.name)
        name = name.removesuffix(".jsonl").removesuffix(".judgments")
        return [JobFiles(path.with_name(name), judgments=path)]
    return []


def jobs_in(folder: Path) -> Iterator[JobFiles]:
    """Yield the jobs in a folder, by name; none where it is no folder."""
    if not os.path.isdir(folder):
        return
    names = {
        stem
        for file in folder.iterdir()
        for kind, stem in _stems(file.name)
        # Hidden files are of no job: macOS leaves `._x.judgments.jsonl` beside the real one.
        if kind in ("leaderboard", "judgments") and not file.name.startswith(".")
    }
    for name in sorted(names):
        job = _job(folder, name)
        if job is not None:
            yield job


def _stems(name: str) -> Iterator[tuple[str, str]]:
    """Yield (kind of file, name of the job) for each way to read a file's name as a job's."""
    plain = _plain_name(name)
    for kind, suffix in (*SUFFIXES.items(), *BESIDE):
        if plain.endswith(suffix) and plain != suffix:
            yield kind, (stem := plain.removesuffix(suffix))
            if kind == "qrels" and "." in stem:  # of one of several judges
                yield kind, stem.rpartition(".")[0]


def _plain_name(name: str) -> str:
    return name.removesuffix(next((end for end in ENDINGS if name.endswith(end)), ""))


def _job(folder: Path, name: str) -> JobFiles | None:
    """Return the job of a name in a folder, its files packed or not; None where there is none."""
    there = (
        {kind: newest_form(folder / f"{name}{SUFFIXES[kind]}") for kind in KINDS} if name else {}
    )
    if not any(there.values()):
        return None
    leaderboard = there["leaderboard"]
    plain = [leaderboard] if leaderboard is not None else []
    return JobFiles(folder / name, plain, there["statistics"], there["judgments"])
