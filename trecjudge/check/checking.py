"""Run files held against the rules of their tracks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from trecjudge.check.checker import Checker
from trecjudge.check.report import CheckReport, Violation
from trecjudge.check.rules import track_named
from trecjudge.documents.store import DocumentStore
from trecjudge.findings import Finding, Report
from trecjudge.records import Topic
from trecjudge.runs import RunReader


def ignore(_: Finding | Violation) -> None:
    """Do nothing with what was found."""


def check(
    files: Sequence[Path],
    topics: Mapping[str, Topic] | None = None,
    *,
    track: str = "",
    dataset: str = "auto",
    store: DocumentStore | None = None,
    report: Report = ignore,
    heard: Callable[[Violation], None] = ignore,
    texts: bool = True,
) -> CheckReport:
    """Return what the validators of the tracks would say of these run files.

    `topics` are all topics of the topic file. `track` names a track of `rules.yml`; without it each
    file's first record tells. With documents (`store`) what is cited and not there is warned of;
    with `texts` what runs carry as the text of a document is held against what else is known of it.
    `report` hears the reader's findings as well, `heard` every violation. Raises InputError on an
    unknown track.
    """
    if track:
        track_named(track)
    checker = Checker(topics, track, dataset, heard)

    def both(finding: Finding) -> None:
        report(finding)
        checker.report(finding)

    reader = RunReader(
        files, both, store=store, compare_texts=texts, dataset=dataset, observe=checker.observe
    )
    for _ in reader:
        pass
    return checker.finish()
