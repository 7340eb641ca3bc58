"""The files of a job copied: to another folder, or into a history, under a number and a date.

A history is a folder of jobs, so that every command reads its entries: `NAME.0007-2026-11-30`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from filecmp import cmp
from pathlib import Path

from trecjudge.errors import InputError, unknown
from trecjudge.files import fixed_time, whole
from trecjudge.results.jobs import JobFiles, jobs_in
from trecjudge.results.outputs import PACKABLE, SUFFIXES, Outputs
from trecjudge.results.packed import PACKED, remove_other_form

ENTRY = re.compile(r"(.+)\.(\d{4,})-\d{4}-\d\d-\d\d")
"""The name of an entry: that of the job, the number of the entry, the date in UTC."""


def copy_files(files: Mapping[str, Path], name: str, outputs: Outputs) -> dict[str, Path]:
    """Copy the files of the job `name` byte for byte; return the new ones by what is in them."""
    written = {}
    for what, source in files.items():
        target = outputs.folder / source.name.replace(name, outputs.name, 1)
        # Written to its own folder again: a file must not be replaced while it is read.
        if not (target.exists() and target.samefile(source)):
            with source.open("rb") as file, whole(target) as copy:
                shutil.copyfileobj(file, copy)
            if what in PACKABLE:
                remove_other_form(target)
        written[what] = target
    return written


def keep_job(
    job: JobFiles,
    folder: Path,
    notify: Callable[[str], None] = lambda message: None,
    with_report: bool = False,
) -> Path:
    """Copy leaderboard, statistics, judgments and config into a history; return the new entry.

    Its report is copied too where that is asked for.

    The date is that of SOURCE_DATE_EPOCH, else today. No entry is ever replaced: the number is one
    more than the highest. Raises InputError for a job without judgments, OutputError where the
    folder cannot be written.
    """
    if job.judgments is None:
        raise InputError(f"{job.place}: has no judgments beside it: only a judged job can be kept")
    name = name_of_job(job)
    config = job.judgments.with_name(f"{job.place.name}{SUFFIXES['config']}")
    files = {"statistics": job.statistics, "judgments": job.judgments, "config": config}
    files["leaderboard"] = next(iter(job.leaderboard), None)
    if with_report:
        files["report"] = config.with_name(f"{job.place.name}{SUFFIXES['report']}")
    there = {what: path for what, path in files.items() if path is not None and path.exists()}
    packed = job.judgments.suffix == PACKED
    with Outputs(folder, name).lock(notify):  # two jobs must not take the same number
        last = max((_number(one) for one in entries_in(folder).get(name, ())), default=0)
        date = fixed_time()[:10] or datetime.now(UTC).date().isoformat()
        outputs = Outputs(folder, f"{name}.{last + 1:04d}-{date}", packed)
        copy_files(there, job.place.name, outputs)
    return folder / outputs.name


def entries_in(folder: Path) -> dict[str, list[JobFiles]]:
    """Return the entries of a history by the name of their job, the oldest first."""
    found: dict[str, list[JobFiles]] = {}
    for job in jobs_in(folder):
        if is_entry(job):
            found.setdefault(name_of_job(job), []).append(job)
    return {name: sorted(entries, key=_number) for name, entries in found.items()}


def newest_entry(folder: Path, job: JobFiles) -> JobFiles | None:
    """Return the newest entry of a history that is not a job itself; None where it is no history.

    Where all are the same as the job, it is the newest one. Of several jobs in a history it is that
    of the same name. Raises InputError where there is none of that name.
    """
    found = entries_in(folder)
    name = name_of_job(job) if len(found) > 1 else "".join(found)
    if found and name not in found:
        raise InputError(f"{folder}: {unknown('job', name, found)}; or give one of its entries")
    entries = found.get(name, [])
    others = (one for one in reversed(entries) if not _is_same(one, job))
    return next(others, entries[-1] if entries else None)


def is_entry(job: JobFiles) -> bool:
    """Return whether a job has the name of an entry."""
    return ENTRY.fullmatch(job.place.name) is not None


def name_of_job(job: JobFiles) -> str:
    """Return the name of a job; of an entry that of the job which was kept."""
    found = ENTRY.fullmatch(job.place.name)
    return found[1] if found else job.place.name


def _number(entry: JobFiles) -> int:
    found = ENTRY.fullmatch(entry.place.name)
    return int(found[2]) if found else 0


def _is_same(one: JobFiles, other: JobFiles) -> bool:
    pair = one.judgments, other.judgments
    return pair[0] is not None and pair[1] is not None and cmp(pair[0], pair[1], shallow=False)
