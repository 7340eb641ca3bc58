"""Run files held against the rules of their tracks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from trecjudge.check.checker import Checker
from trecjudge.check.outcome import CheckReport, Violation
from trecjudge.check.rules import track_named
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.run_records import ReadRecords
from trecjudge.inputs.runs import RunReader
from trecjudge.inputs.sources.containers import Opened
from trecjudge.records import Topic


def ignore(_: Finding | Violation) -> None:
    """Do nothing with what was found."""


def check(
    files: Sequence[Path | Opened],
    topics: Mapping[str, Topic] | None = None,
    *,
    track: str = "",
    dataset: str = "auto",
    store: DocumentStore | None = None,
    report: OnFinding = ignore,
    heard: Callable[[Violation], None] = ignore,
    records: ReadRecords | None = None,
) -> CheckReport:
    """Return what the validators of the tracks would say of these run files.

    `topics` are all topics of the topic file. `track` names a track of `rules.yml`; without it each
    file's first record tells. With documents (`store`) what is cited and not there is warned of.
    `report` hears the reader's findings as well, `heard` every violation. `records` reads the files
    where others read them too. Raises InputError on an unknown track.
    """
    if track:
        track_named(track)
    checker = Checker(topics, track, dataset, heard)

    def both(finding: Finding) -> None:
        report(finding)
        checker.report(finding)

    observe = checker.observe
    for _ in RunReader(files, both, store=store, dataset=dataset, records=records, observe=observe):
        pass
    return checker.finish()
