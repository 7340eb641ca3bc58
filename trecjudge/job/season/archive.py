"""The archive of a season: all that went in and came out, with checksums; and the season again."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import orjson

from trecjudge.errors import InputError
from trecjudge.files import open_regular, whole
from trecjudge.inputs.sources.packing import Checksums
from trecjudge.job.config import file_digest, versions
from trecjudge.job.season.running import STATE, SeasonRun, State
from trecjudge.job.season.settings import Season, SeasonSettings
from trecjudge.job.season.steps import CACHE, GIVEN, INPUTS, KEY, PACK, PACKED, PLAN, Steps
from trecjudge.job.workflow import read_workflow

MANIFEST = "manifest.json"
REPORT = ".report.html"
DAMAGED = (
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error),
    *(KeyError, TypeError, ValueError, NotImplementedError, RuntimeError),
)
"""What reading a damaged archive may raise."""
ENDING = ".season.zip"
FIRST: Final = (1980, 1, 1, 0, 0, 0)
"""The time of all files in an archive: two of one season are the same."""
BESIDE = (PLAN, KEY)
"""Files of the season's folder that no step counts as its own."""


def archive_path(season: Season) -> Path:
    """Return where the archive of a season is: beside its folder's other files."""
    return season.folder / f"{season.name}{ENDING}"


def write_archive(season: Season, otherwise: Sequence[str]) -> Path:
    """Write the archive of a season that is done; return its path. Raises OutputError.

    `otherwise` is what was not done as planned.
    """
    folder, state = season.folder, State.read(season.folder / STATE)
    beside = [name for name in BESIDE if (folder / name).is_file()]
    beside += sorted(str(p.relative_to(folder)) for p in (folder / CACHE).rglob("*") if p.is_file())
    digests = {name: file_digest(folder / name, Checksums()) for name in beside}
    for step in state.steps.values():
        digests |= step["files"]
    manifest = {
        "name": season.name,
        "versions": versions(),
        "started": state.started,
        "settings": asdict(season.settings),
        "steps": {name: sorted(step["files"]) for name, step in state.steps.items()},
        "not_as_planned": list(otherwise),
        "files": dict(sorted(digests.items())),
    }
    target = archive_path(season)
    with whole(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        _add(packed, MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        for name in sorted(digests):
            _add(packed, name, (folder / name).read_bytes())
    return target


def _add(packed: zipfile.ZipFile, name: str, content: bytes) -> None:
    packed.writestr(zipfile.ZipInfo(name, FIRST), content, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a season done again has shown: how many files are equal, and what is not."""

    files: int
    faults: Sequence[str]


def replay(path: Path, folder: Path, runner: Callable[[Steps], SeasonRun]) -> Replayed:
    """Do an archived season again in an empty folder, with no model, and compare every file.

    `runner` makes what runs the steps. What is damaged in the archive is named first: then nothing
    is done again. Raises InputError for what is no archive of a season, and what a step raises.
    """
    source, again = folder / "archive", folder / "again"
    manifest, faults = _unpacked(path, source)
    if faults:
        return Replayed(len(manifest["files"]) - len(faults), faults)
    season = _season_of(manifest, source, again)
    again.mkdir(parents=True)
    for name in (PLAN, KEY):
        if (source / name).is_file():
            shutil.copyfile(source / name, again / name)
    if (source / CACHE).is_dir():
        shutil.copytree(source / CACHE, again / CACHE)
    State(again / STATE, manifest["started"]).write()
    documents = [str((source / PACK).absolute())] if (source / PACK).is_file() else []
    runner(Steps(season, documents)).advance()
    # Documents are packed only once, and the report names the files that they were read from.
    steps = (files for step, files in manifest["steps"].items() if step != PACKED)
    names = [name for files in steps for name in files if not name.endswith(REPORT)]
    differing = [one for name in names if (one := _difference(name, source, again))]
    return Replayed(len(names) - len(differing), differing)


def _unpacked(path: Path, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Unpack an archive; return its manifest, and a sentence on each file that is damaged."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as packed:
            manifest = orjson.loads(packed.read(MANIFEST))
            files: Mapping[str, str] = manifest["files"]
            faults = list(_unpack(packed, files, folder))
            stray = sorted(set(packed.namelist()) - set(files) - {MANIFEST})
    except DAMAGED as error:
        raise InputError(f"{path}: is no archive of a season: {error}") from error
    return manifest, [*faults, *(f"{name}: is not in the manifest" for name in stray)]


def _unpack(packed: zipfile.ZipFile, files: Mapping[str, str], folder: Path) -> Iterator[str]:
    for name, sha256 in files.items():
        target = folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            yield f"{name}: leads out of the archive"
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            target.write_bytes(packed.read(name))
        except KeyError:
            yield f"{name}: is not in the archive"
            continue
        except DAMAGED:
            yield f"{name}: is damaged: its bytes are not those that were packed"
            continue
        if file_digest(target, Checksums()) != sha256:
            yield f"{name}: has been changed: its sha256 is not that of the manifest"


def _season_of(manifest: Mapping[str, Any], source: Path, again: Path) -> Season:
    """Return the season of an archive, whose inputs are those of the archive."""
    given = SeasonSettings(**manifest["settings"])
    inputs = source / INPUTS

    def found(name: str) -> str:
        return next((str(path.absolute()) for path in sorted(inputs.glob(f"{name}.*"))), "")

    settings = replace(
        given,
        submissions=[str((inputs / "runs").absolute())],
        documents=[],
        topics=found("topics"),
        teams=given.teams and found("teams"),
        truth=given.truth and found("truth"),
        labels=given.labels and str((source / GIVEN).absolute()),
        judging=f"{given.judging} --offline".strip()
        if "--use-env-llm" in given.judging
        else given.judging,
    )
    workflow = read_workflow(inputs / "workflow.yml")
    return Season(settings, workflow, again, manifest["name"])


def _difference(name: str, source: Path, again: Path) -> str:
    """Return where a file that was written again differs first; empty if it is the same."""
    old = (source / name).read_bytes()
    try:
        new = (again / name).read_bytes()
    except OSError:
        return f"{name}: was not written again"
    if old == new:
        return ""
    at = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
    at = min(len(old), len(new)) if at is None else at
    line = old.count(b"\n", 0, at) + 1
    return f"{name}:{line}: byte {at + 1} differs from what the season gives again"
