"""Run files compared with the rules of their tracks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from trecjudge.check.checker import Checker
from trecjudge.check.outcome import CheckReport, Violation
from trecjudge.check.rules import track_named
from trecjudge.findings import Finding, OnFinding, ignore
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.run_records import ReadRecords
from trecjudge.inputs.runs import RunReader
from trecjudge.inputs.sources.containers import Opened
from trecjudge.records import Topic


def check_files(
    files: Sequence[Path | Opened],
    topics: Mapping[str, Topic] | None = None,
    *,
    track: str = "",
    dataset: str = "auto",
    store: DocumentStore | None = None,
    on_finding: OnFinding = ignore,
    on_violation: Callable[[Violation], None] = ignore,
    records: ReadRecords | None = None,
    flag_hostile: bool = False,
    all_places: bool = True,
) -> CheckReport:
    """Return a report on how run files keep the rules of their tracks.

    `topics` are all topics of the topic file. `track` names a track of `rules.yml`; without it the
    first record of each file decides. With documents (`store`) a citation of a missing document is
    a warning. `on_finding` gets the reader's findings as well, `on_violation` every violation.
    `records` shares one reading of the files; `flag_hostile` looks for hostile text too. Without
    `all_places` only the first of each broken rule of a run are kept. Raises InputError on an
    unknown track.
    """
    if track:
        track_named(track)
    checker = Checker(topics, track, dataset, on_violation, all_places)

    def both(finding: Finding) -> None:
        on_finding(finding)
        checker.add_finding(finding)

    # Checking happens in `observe`, while the reader runs; the responses are not needed.
    reader = RunReader(
        files,
        both,
        known=topics or {},
        store=store,
        dataset=dataset,
        flag_hostile=flag_hostile,
        records=records,
        observe=checker.observe,
    )
    for _ in reader:
        pass
    return checker.finish()
