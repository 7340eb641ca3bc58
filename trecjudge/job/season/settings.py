"""The section `season` of a workflow: what a shared task judges, publishes, and asks of people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from trecjudge.errors import InputError, WorkflowError
from trecjudge.findings import brief
from trecjudge.inputs.runs import find_runs
from trecjudge.job.workflow import Workflow, find_workflow, read_workflow
from trecjudge.settings.fields import check_ranges, ranged, typed_fields

Table = Literal["latex", "markdown", "html"]
NEEDED = ("submissions", "topics")
PLANNED = ("judging", "sample", "anonymous", "accept_unjudged", "tables")
NOT_PLANNED = ("path", "lines", "season", "dataset")
"""The fields of a workflow that are not of the plan."""
OF_THE_SEASON = (
    *("--rag-responses", "--rag-topics", "--documents", "--workflow"),
    *("--out-dir", "--name", "--cache-dir", "--plan", "--shard", "--json", "--labels", "--human"),
)
"""Flags of the judging that the season sets itself, or that would end it."""


@dataclass(frozen=True, slots=True)
class SeasonSettings:
    """What stands below `season`; paths count from the folder of the workflow.

    `submissions` are run files, or folders of them. `teams` is a file with a run and its team in
    each line, by default the records say it. `exclude` has a reason for each run that is left out.
    `words` are names that are replaced in texts too, though they may be words. `judging` are
    further flags of the judging, as they are typed. `labels` is the folder where labels of people
    come, and `sample` how many items they get; without a folder nobody is asked. `truth` is a
    leaderboard of people. `accept_unjudged` goes on where items are unjudged.
    """

    submissions: list[str] = field(default_factory=list)
    topics: str = ""
    documents: list[str] = field(default_factory=list)
    track: str = ""
    teams: str = ""
    exclude: dict[str, str] = field(default_factory=dict)
    anonymous: bool = True
    words: list[str] = field(default_factory=list)
    judging: str = ""
    accept_unjudged: bool = False
    labels: str = ""
    sample: int = ranged(100, 1)
    truth: str = ""
    tables: list[Table] = field(default_factory=lambda: ["latex", "markdown"])
    layout: str = "wide"

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True)
class Season:
    """A season: its settings, with paths as seen from here, and the folder of all that it makes."""

    settings: SeasonSettings
    workflow: Workflow
    folder: Path
    name: str

    @property
    def file(self) -> Path:
        """The workflow file."""
        assert self.workflow.path is not None
        return self.workflow.path

    @property
    def flags(self) -> list[str]:
        """The words of `judging`."""
        return shlex.split(self.settings.judging)

    @property
    def submitted(self) -> dict[str, Path]:
        """The run files by their names in the season's folder: those of a team stay together."""
        given = [Path(path) for path in self.settings.submissions]
        found: dict[str, Path] = {}
        for path in find_runs(given):
            above = next((one for one in given if one.is_dir() and path.is_relative_to(one)), None)
            name = str(path.relative_to(above) if above else path.name)
            if name in found:
                raise InputError(f"{path}: {found[name]} has the same name; give another name")
            found[name] = path
        return found

    @property
    def prompt_files(self) -> Iterator[Path]:
        """The files of prompts that the workflow names."""
        for prompt in self.workflow.prompts.values():
            path = Path(str(prompt))
            if "\n" not in str(prompt) and path.is_file():
                yield path


def read_season(path: Path, folder: Path, name: str) -> Season:
    """Return the season of a workflow file, checked. Raises WorkflowError with file and line."""
    workflow = read_workflow(*find_workflow(path))
    where = workflow.where("season")
    if not workflow.season:
        raise WorkflowError(f"{path}: has no section `season`, with {', '.join(NEEDED)}")
    settings = SeasonSettings(**typed_fields(SeasonSettings, workflow.season, where))
    for key in NEEDED:
        if not getattr(settings, key):
            raise WorkflowError(f"{where}: {key} is missing; needed are {', '.join(NEEDED)}")
    season = Season(_resolved(settings, path.parent), workflow, folder, name)
    try:
        words = season.flags
    except ValueError as error:  # an open quote
        raise WorkflowError(f"{workflow.where('season', 'judging')}: {error}") from None
    if taken := [flag for flag in OF_THE_SEASON if any(w.split("=")[0] == flag for w in words)]:
        message = f"{taken[0]} is set by the season itself"
        raise WorkflowError(f"{workflow.where('season', 'judging')}: {message}")
    return season


def _resolved(settings: SeasonSettings, beside: Path) -> SeasonSettings:
    """Return settings whose paths are absolute: from the workflow's folder, or from here."""

    def path(given: str) -> str:
        near = beside / given
        return str((near if near.exists() or not Path(given).exists() else Path(given)).absolute())

    found: dict[str, Any] = {
        name: [path(one) for one in getattr(settings, name)]
        for name in ("submissions", "documents")
    }
    for name in ("topics", "teams", "labels", "truth"):
        if given := getattr(settings, name):
            found[name] = path(given)
    return replace(settings, **found)


def plan_of(
    season: Season, inputs: Mapping[str, str], excluded: Mapping[str, str]
) -> dict[str, Any]:
    """Return what is fixed before anything is judged: settings, inputs by sha256, exclusions."""
    names = [f.name for f in fields(Workflow) if f.name not in NOT_PLANNED]
    content = {n: value for n in names if (value := getattr(season.workflow, n))}
    own = {name: getattr(season.settings, name) for name in PLANNED}
    return {"workflow": content, "season": own, "excluded": dict(excluded), "inputs": dict(inputs)}


def deviations(planned: Any, done: Any, where: str = "") -> Iterator[str]:
    """Yield a sentence for each value that is not as planned, with its place."""
    if isinstance(planned, Mapping) and isinstance(done, Mapping):
        for key in dict.fromkeys((*planned, *done)):
            place = f"{where}.{key}" if where else str(key)
            if key not in done:
                yield f"{place}: planned as {brief(planned[key])}, not there"
            elif key not in planned:
                yield f"{place}: {brief(done[key])}, not planned"
            else:
                yield from deviations(planned[key], done[key], place)
    elif planned != done:
        yield f"{where}: planned as {brief(planned)}, done as {brief(done)}"
