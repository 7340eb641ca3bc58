"""The steps of a season: command lines of this program, what they read and where they write."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError, OutputError, unknown
from trecjudge.evaluation.teams import teams_in
from trecjudge.files import open_regular, whole
from trecjudge.findings import ignore
from trecjudge.inputs.runs import RunReader
from trecjudge.inputs.sources.packing import Checksums
from trecjudge.job.config import file_digest
from trecjudge.job.season.settings import Season, deviations, plan_of
from trecjudge.results.outputs import replace_unsafe

INPUTS, CHECKED, ANONYMOUS = "inputs", "checked", "anonymous"
JUDGED, SAMPLE, REVEALED = "judged", "sample", "revealed"
LABELS, PUBLISHED = "labels", "published"
GIVEN, NAMED = f"{LABELS}/given", f"{LABELS}/named"
"""Labels as people gave them, and with the names of runs."""
PLAN = "plan.json"
PACKED = "documents"
PACK = f"{PACKED}/documents.jsonl.zst"
CACHE = "cache"
KEY = "anonymous.key"
UNJUDGED, REJECTED = 3, 4
"""Exit statuses of the judging: items are unjudged; the workflow's own gate rejects."""

Run = Callable[..., str]
"""Runs a command line in the season's folder; returns what it prints. Raises StepFailed."""


class StepFailed(OutputError):
    """A command of a step ended with an exit status that it must not have."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Step:
    """A step: its folder, what it is for, what it reads, and how it is done.

    It reads files, and what other steps have written. `asks` are JSON values which, beside what it
    reads, decide whether it must be done again.
    `resumes`: its folder is not emptied before, since its commands go on where they were.
    """

    name: str
    does: str
    work: Callable[[Run], None]
    reads: Sequence[Path | str] = ()
    asks: Any = None
    resumes: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """The season stands still until people have done something."""

    what: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, the file that gets what it prints, and exit statuses that are good."""

    words: Sequence[str]
    prints: str = ""
    good: Sequence[int] = (0,)


@dataclass(frozen=True)
class Steps:
    """The steps of a season, each known only when those before it are done."""

    season: Season
    documents: Sequence[str] = ()
    """Where documents are read from, in the place of those of the settings."""
    done_otherwise: list[str] = field(default_factory=list)
    """What is not as planned, known when the plan's step is reached."""

    def __iter__(self) -> Iterator[Step | Waiting]:
        settings = self.season.settings
        yield self._take()
        yield self._check()
        yield self._plan()
        if settings.anonymous:
            yield self._anonymise()
        yield self._judge()
        if settings.anonymous:
            yield self._reveal()
        if settings.labels:
            yield self._sample()
            if not (given := _files(Path(settings.labels))):
                page, there = shown(self.folder / SAMPLE / "label.html"), Path(settings.labels)
                what = f"people label on {page}, or fill in items.jsonl beside it"
                yield Waiting(f"{what}; put their files into {shown(there)}")
                return
            yield self._take_labels(given)
        yield self._publish()
        if settings.documents:
            yield self._pack()

    @property
    def folder(self) -> Path:
        """The folder of the season."""
        return self.season.folder

    def _commands(
        self,
        name: str,
        does: str,
        commands: Sequence[Command],
        reads: Sequence[str] = (),
        resumes: bool = False,
        copies: Sequence[str] = (),
        also: Sequence[Any] = (),
    ) -> Step:
        def work(run: Run) -> None:
            for one in copies:
                shutil.copy(self.folder / one, self.folder / name)
            for command in commands:
                printed = run(command.words, command.good)
                if command.prints and not printed:  # an error has the status of a refused run
                    raise StepFailed(f"{' '.join(command.words[:2])}: has no result", 1)
                if command.prints:
                    with whole(self.folder / command.prints) as file:
                        file.write(printed.encode())

        asks = [*copies, *also, *([command.words, command.prints] for command in commands)]
        return Step(name, does, work, reads, asks, resumes)

    # Step by step.
    def _take(self) -> Step:
        season, settings = self.season, self.season.settings
        copies = {f"runs/{name}": path for name, path in season.submitted.items()}
        copies |= {"workflow.yml": season.file}
        copies |= {_named("topics", settings.topics): Path(settings.topics)}
        for name in ("teams", "truth"):
            if given := getattr(settings, name):
                copies[_named(name, given)] = Path(given)
        copies |= {path.name: path for path in season.prompt_files}

        def work(_: Run) -> None:
            for name, path in copies.items():
                _copy(path, self.folder / INPUTS / name)

        return Step(INPUTS, "take the inputs", work, list(copies.values()), sorted(copies))

    def _check(self) -> Step:
        reading = ["--rag-topics", self._input("topics")]
        reading += ["--track", self.season.settings.track] if self.season.settings.track else []
        runs = [
            str(path.relative_to(self.folder)) for path in _files(self.folder / INPUTS / "runs")
        ]
        whole_check = Command(["check", *runs, *reading, "--json"], f"{CHECKED}/all.json", (0, 1))
        letters = [
            Command(["check", *files, *reading, "--all", "--wide"], f"{CHECKED}/{name}.txt", (0, 1))
            for name, files in self._by_team(runs).items()
        ]
        return self._commands(CHECKED, "check the runs", [whole_check, *letters], [INPUTS])

    def _plan(self) -> Step:
        """Write the plan before anything is judged; later on say what is not as planned."""
        path = self.folder / PLAN
        runs = self._accepted()
        given = (*runs, self._input("topics"))
        inputs = {name: file_digest(self.folder / name, Checksums()) for name in given}
        plan = orjson.loads(orjson.dumps(plan_of(self.season, inputs, self._excluded())))
        if path.is_file():
            self.done_otherwise[:] = deviations(orjson.loads(path.read_bytes()), plan)

        def work(_: Run) -> None:
            if not path.is_file():
                with whole(path) as file:
                    file.write(
                        orjson.dumps(plan, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
                    )

        return Step(PLAN, "fix the plan", work, (), "once")

    def _anonymise(self) -> Step:
        words = [
            "job",
            "anonymise",
            *self._accepted(),
            "--out-dir",
            f"{ANONYMOUS}/runs",
            "--key",
            KEY,
            *(word for name in self.season.settings.words for word in ("--word", name)),
        ]
        return self._commands(
            ANONYMOUS, "give runs and teams codes", [Command(words)], [CHECKED, INPUTS]
        )

    def _judge(self) -> Step:
        settings = self.season.settings
        source = ANONYMOUS if settings.anonymous else CHECKED
        runs = [f"{ANONYMOUS}/runs"] if settings.anonymous else self._accepted()
        words = [*self._reading(runs), "--workflow", f"{INPUTS}/workflow.yml", "--cache-dir", CACHE]
        words += ["--out-dir", JUDGED, "--name", self.season.name, *self.season.flags]
        good = (0, REJECTED, *((UNJUDGED,) if settings.accept_unjudged else ()))
        return self._commands(
            *(JUDGED, "judge", [Command(words, "", good)], [source, INPUTS]),
            resumes=True,
            also=list(map(_state_of, self.documents)),
        )

    def _reveal(self) -> Step:
        words = ["job", "anonymise", JUDGED, "--back", "--out-dir", REVEALED, "--key", KEY]
        return self._commands(REVEALED, "put the names back", [Command(words)], [JUDGED])

    def _sample(self) -> Step:
        words = ["labels", "next", f"{JUDGED}/{self.season.name}"]
        words += ["--top", str(self.season.settings.sample)]
        words += ["--output", f"{SAMPLE}/items.jsonl", "--page", f"{SAMPLE}/label.html", "-q"]
        return self._commands(SAMPLE, "choose items for people", [Command(words)], [JUDGED])

    def _take_labels(self, given: Sequence[Path]) -> Step:
        names = {path: str(path.relative_to(self.season.settings.labels)) for path in given}

        def work(run: Run) -> None:
            for path, name in names.items():
                _copy(path, self.folder / GIVEN / name)
            if self.season.settings.anonymous:
                words = ["job", "anonymise", GIVEN, "--back", "--out-dir", NAMED]
                run([*words, "--key", KEY], (0,))

        return Step(LABELS, "take the labels", work, given, [*names.values()])

    def _publish(self) -> Step:
        settings, job = self.season.settings, f"{PUBLISHED}/{self.season.name}"
        human = ["--labels", self._labels] if settings.labels else []
        copies = [f"{self._job}.judgments.jsonl", f"{self._job}.config.yml"]
        commands = [["job", "rescore", job, *human, "-q"]]
        for form in settings.tables:
            layout = ["--layout", settings.layout] if form == "latex" else []
            commands.append(["table", job, f"{job}.{_ENDING[form]}", "--to", form, *layout])
        reading = self._reading(self._accepted())
        commands += [
            ["report", job, *reading, *self._told(), "-q"],
            ["report", job, *reading, "--each-run", f"{PUBLISHED}/sheets", "-q"],
            ["job", "convert", job, f"{PUBLISHED}/without-text", "--text", "none"],
        ]
        figures = []
        if settings.labels:
            asked = ["labels", "agree", self._job, "--labels", self._labels, "--json"]
            figures.append(Command(asked, f"{PUBLISHED}/agreement.json"))
        if settings.truth:
            asked = ["judges", "meta", job, "--truth", self._input("truth"), "--json"]
            figures.append(
                Command([*asked, "--on-missing", "common"], f"{PUBLISHED}/correlations.json")
            )
        reads = [self._source, INPUTS, *((LABELS,) if settings.labels else ())]
        return self._commands(
            *(PUBLISHED, "write what is published"),
            *([*map(Command, commands), *figures], reads),
            copies=copies,
        )

    def _reading(self, runs: Sequence[str]) -> list[str]:
        """Return flags for what is judged: runs, topics and documents."""
        documents = [word for path in self.documents for word in ("--documents", path)]
        return ["--rag-responses", *runs, "--rag-topics", self._input("topics"), *documents]

    def _told(self) -> list[str]:
        """Return flags for what the report says of the plan."""
        sha256 = file_digest(self.folder / PLAN, Checksums())
        told = [f"The plan was fixed before judging: {PLAN}, sha256 {sha256}."]
        told += [f"Not as planned: {one}." for one in self.done_otherwise]
        return [word for sentence in told for word in ("--note", sentence)]

    def _pack(self) -> Step:
        words = ["job", "documents", "pack", f"{JUDGED}/{self.season.name}", "--cache-dir", CACHE]
        return self._commands(
            PACKED, "keep the documents", [Command([*words, "--output", PACK])], [JUDGED]
        )

    # What the steps before have left.
    @property
    def _source(self) -> str:
        """The folder of the judged job with the names of runs."""
        return REVEALED if self.season.settings.anonymous else JUDGED

    @property
    def _job(self) -> str:
        return f"{self._source}/{self.season.name}"

    @property
    def _labels(self) -> str:
        return NAMED if self.season.settings.anonymous else GIVEN

    def _input(self, name: str) -> str:
        return f"{INPUTS}/{_named(name, getattr(self.season.settings, name))}"

    def _by_team(self, runs: Sequence[str]) -> dict[str, list[str]]:
        """Return the files of each team by a name for its letter, no two of which are the same."""
        given = self.season.settings.teams
        named = teams_in(self.folder / self._input("teams")) if given else {}
        found: dict[str, list[str]] = {}
        for path in runs:
            reader = RunReader([self.folder / path], ignore)
            for _ in reader:
                pass
            teams = {named.get(run, team or run) for run, team in reader.runs.items()}
            for team in teams or {"unknown"}:
                found.setdefault(team, []).append(path)
        names: dict[str, list[str]] = {}
        for team in sorted(found):
            name = replace_unsafe(team).lstrip(".") or "team"
            while name.casefold() in map(str.casefold, names):
                name += "_"
            names[name] = found[team]
        return names

    def _verdicts(self) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]]
        found = orjson.loads((self.folder / CHECKED / "all.json").read_bytes())["runs"]
        known = {run["run_id"]: None for run in found}
        for run in self.season.settings.exclude:
            if run not in known:
                where = self.season.workflow.where("season", "exclude")
                raise InputError(f"{where}: {unknown('run', run, known)}")
        return found

    def _accepted(self) -> list[str]:
        """Return the files of the runs that are judged, as seen from the season's folder."""
        out, verdicts = self._excluded(), self._verdicts()
        found = dict.fromkeys(run["path"] for run in verdicts if run["run_id"] not in out)
        if not found:
            raise InputError(f"{self.folder / CHECKED}: no run is accepted")
        for run in verdicts:
            if run["run_id"] in out and run["path"] in found:
                message = f"holds the run {run['run_id']!r}, which is left out, and others"
                raise InputError(f"{run['path']}: {message}; give each run a file of its own")
        return list(found)

    def _excluded(self) -> dict[str, str]:
        """Return why runs are left out: by the rules of their track, or by the organiser."""
        refused = {
            run["run_id"]: f"refused by the rules of {run['track']}"
            for run in self._verdicts()
            if run["verdict"] == "refused"
        }
        return refused | self.season.settings.exclude


_ENDING = {"latex": "tex", "markdown": "md", "html": "table.html"}


def _named(name: str, given: str) -> str:
    """Return a name for a copy that ends as the file does, so that it is read in the same way."""
    return name + "".join(Path(given).suffixes)


def _copy(source: Path, target: Path) -> None:
    """Copy a file. Raises OSError for what is none, such as a device without an end."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_regular(source) as given, whole(target) as file:
        shutil.copyfileobj(given, file)


def _state_of(path: str) -> list[Any]:
    """Return what tells whether documents have changed: of a file its size and time."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):  # the address of a service, or a collection by its name
        return [path]
    return [path, found.st_size, found.st_mtime_ns]


def shown(path: Path) -> Path:
    """Return a path as seen from here, where it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
