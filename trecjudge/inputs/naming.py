"""Which records belong to one run, and its name: one name for every system.

A run keeps its run_id, unless an earlier run (in the order of files and lines) has that name. Then
it is called `X/run_id`, where X is its team, file or folder. No filter changes a name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from trecjudge.inputs.sources.containers import bare_name

DigestsByTopic = Mapping[str, str]
"""A digest of each response of a run, by topic."""
ReadDigests = Callable[[str, str | None], Mapping[str, DigestsByTopic]]
"""(file, run_id as written or None) -> digests of this run's responses in the file, by team."""
Complain = Callable[[str, str, str], None]
"""(kind of finding, message, name of the run): reports a problem with a name."""
OF_NAMES = frozenset({"run_id_conflict", "run_id_alike", "run_repeated"})
"""The kinds of findings on names."""
UNSEEN = re.compile("[\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f\U000e0000-\U000e0fff]")
"""Invisible letters and marks: fillers, joiners, variation selectors, tags."""


@dataclass(slots=True)
class NamedRun:
    """A system: its name and files. `answers` are kept only where another file may continue it."""

    name: str
    team: str
    run_id: str
    written: bool
    """Whether the records give the run_id; else it is the file's name."""
    files: list[str]
    answers: dict[str, str] | None = None


@dataclass(slots=True)
class RunNames:
    """Assigns each record, file after file, to its run.

    `read` reads a file ahead of its turn, or once more: only where two files share a run_id.
    """

    read: ReadDigests
    runs: dict[str, NamedRun] = field(default_factory=dict)
    """Every run seen, by name."""
    repeated: set[tuple[str, str]] = field(default_factory=set)
    """(file, run's name) of files that only repeat responses of the run in another file."""
    _by_id: dict[str, list[NamedRun]] = field(default_factory=dict)
    _alike: dict[str, str] = field(default_factory=dict)
    _path: str = ""
    _here: dict[tuple[str, str], NamedRun] = field(default_factory=dict)
    """The runs of the file at hand by (team, run_id)."""
    _mates: dict[str, dict[str, NamedRun]] = field(default_factory=dict)
    """The same by run_id, and by name."""

    def of(self, path: str, team: str, written: str | None, complain: Complain) -> NamedRun:
        """Return the run of a record; `written` is its run_id, None where it has none."""
        if path != self._path:
            self._path, self._here, self._mates = path, {}, {}
        run_id = bare_name(Path(path)) if written is None else written
        found = self._here.get((team, run_id))
        if found is None:
            found = self._mate(team, run_id)
            found = found or self._begin(path, team, run_id, written, complain)
            self._here[team, run_id] = found
            self._mates.setdefault(run_id, {})[found.name] = found
        return found

    def _mate(self, team: str, run_id: str) -> NamedRun | None:
        """Return the run of this file with the same run_id, where not both of them name a team."""
        mates = self._mates.get(run_id, {})
        if len(mates) != 1:
            return None
        (mate,) = mates.values()
        if team and mate.team and team != mate.team:
            return None
        mate.team = mate.team or team
        return mate

    def _begin(
        self, path: str, team: str, run_id: str, written: str | None, complain: Complain
    ) -> NamedRun:
        """Return the run of a file's first record of this team and run_id."""
        # A run_id that is only a file's name means nothing outside its folder: every folder has a
        # `run.jsonl`.
        key = run_id if written is not None else f"{Path(path).parent}/{run_id}"
        rivals = self._by_id.setdefault(f"{written is not None} {key}", [])
        answers: dict[str, str] | None = None
        if rivals:
            digests = self.read(path, written)
            teams = [name for name in digests if name]
            team = team or (teams[0] if len(teams) == 1 else "")
            answers = dict(digests.get(team, {}))
            # With one team at most, records without a team are that team's too.
            if len(teams) < 2:
                answers = {**digests.get("", {}), **answers}
            for rival in (rival for rival in rivals if rival.team == team):
                if self._joins(path, answers, rival, complain):
                    return rival
        run = NamedRun("", team, run_id, written is not None, [path], answers)
        # A rival of the same team is another version of the run, not another system.
        run.name = self._name(run, any(r.team == team for r in rivals), complain)
        rivals.append(run)
        self.runs[run.name] = run
        self._check_alike(run, complain)
        return run

    def _joins(self, path: str, answers: DigestsByTopic, run: NamedRun, complain: Complain) -> bool:
        """Return whether a file continues a run: it does unless both answer a topic differently."""
        if run.answers is None:
            digests = self.read(run.files[0], run.run_id if run.written else None)
            run.answers = {**digests.get("", {}), **digests.get(run.team, {})}
        if any(run.answers.get(topic, digest) != digest for topic, digest in answers.items()):
            return False
        if answers and answers.keys() <= run.answers.keys():
            self.repeated.add((path, run.name))
            message = f"repeats run {run.name!r} of {run.files[0]}; passed over"
            complain("run_repeated", message, run.name)
        run.files.append(path)
        run.answers.update(answers)
        return True

    def _name(self, run: NamedRun, is_version: bool, complain: Complain) -> str:
        """Return a name that no run has yet; report it where it is not the run_id."""
        if run.run_id not in self.runs:
            return run.run_id
        holder = self.runs[run.run_id]
        name = next(name for name in _names(run, holder) if name not in self.runs)
        message = f"run_id {run.run_id!r} is also used by {_whose(holder, run)}"
        if is_version:
            message = f"run_id {run.run_id!r} has other responses in {holder.files[0]}"
        complain("run_id_conflict", f"{message}; named {name!r}", name)
        return name

    def _check_alike(self, run: NamedRun, complain: Complain) -> None:
        """Report a name that looks like that of another run."""
        other = self._alike.setdefault(visible_form(run.name), run.name)
        if other != run.name:
            message = f"run {run.name!a} looks like run {other!a}; they count as two"
            complain("run_id_alike", message, run.name)


def _names(run: NamedRun, holder: NamedRun) -> Iterator[str]:
    """Yield names for a run whose run_id is taken, the plainest first."""
    path = Path(run.files[0])
    file = bare_name(path)
    others = {bare_name(Path(other)) for other in holder.files}
    places = [run.team if run.team != holder.team else ""]
    places += ["" if file in (run.run_id, *others) else file, path.absolute().parent.name]
    plain = [f"{place}/{run.run_id}" for place in places if place] or [run.run_id]
    yield from plain
    yield from (f"{plain[0]}-{number}" for number in count(2))


def _whose(holder: NamedRun, run: NamedRun) -> str:
    if holder.team and holder.team != run.team:
        return f"team {holder.team!r}"
    return f"file {holder.files[0]}"


def visible_form(name: str) -> str:
    """Return a name as the eye sees it: case, normal form and invisible characters removed."""
    seen = UNSEEN.sub("", unicodedata.normalize("NFKC", name))
    shown = (c for c in seen if unicodedata.category(c) not in ("Cc", "Cf"))
    return unicodedata.normalize("NFKC", " ".join("".join(shown).casefold().split()))
