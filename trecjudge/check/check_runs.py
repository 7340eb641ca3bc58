"""The `check` command: validate run files, optionally write repaired copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trecjudge.check.checker import check_files
from trecjudge.check.outcome import CheckReport, JsonLines, PackedList
from trecjudge.check.repair import RecordChange, fix
from trecjudge.errors import InputError
from trecjudge.findings import Finding, FindingLog, ignore, plural
from trecjudge.inputs.documents.store import DocumentStore
from trecjudge.inputs.formats.registry import check_dataset
from trecjudge.inputs.hostile import OF_HOSTILE_TEXT
from trecjudge.inputs.naming import OF_NAMES
from trecjudge.inputs.nuggets.bank import Bank
from trecjudge.inputs.nuggets.bank_files import read_banks, report_unmatched
from trecjudge.inputs.run_records import NOT_A_RUN
from trecjudge.inputs.runs import RunReader, find_runs, open_runs
from trecjudge.inputs.sources.containers import Opened
from trecjudge.inputs.topics import read_topics
from trecjudge.models.documents.opening import open_cited


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check. `beside` are findings on topics, banks, documents and file names.

    `mended` is the report on the repaired copies in `folder`, where there are any. `banks` are
    those that were looked over, by topic; `only_banks` says that no runs were given.
    """

    report: CheckReport
    changes: PackedList[RecordChange]
    beside: Sequence[Finding]
    topics_given: bool
    documents_given: bool
    folder: Path | None = None
    mended: CheckReport | None = None
    banks: Mapping[str, Bank] = field(default_factory=dict)
    only_banks: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether a track would refuse a run; of banks only, whether anything is wrong."""
        if self.only_banks:
            return any(finding.severity != "note" for finding in self.beside)
        return self.report.is_refused

    @property
    def closing(self) -> list[str]:
        """Lines for the end: banks, what was not checked, how many changes the copies have."""
        lines = []
        if self.banks:
            nuggets = sum(len(bank.nuggets) for bank in self.banks.values())
            topics = plural(len(self.banks), "topic")
            lines.append(f"checked: banks of {topics}, {plural(nuggets, 'nugget')}")
        if not self.topics_given and not self.only_banks:
            lines.append("without --rag-topics, limits, texts and missing topics are not checked")
        if "citation_index_as_text" in self.report.counts and not self.documents_given:
            lines.append(
                "without --documents, a number as text is an index unless a reference has it"
            )
        if self.mended is not None:
            refused = self.mended.standings["refused"]
            lines.append(
                f"mended: {plural(len(self.changes), 'change')} in {self.folder};"
                f" of the copies {refused} would still be refused"
                + ("" if self.mended.counts else "; nothing is left to do by hand")
            )
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values; `left` is what repairs leave to be done by hand."""
        mended = self.mended.as_dict() if self.mended else {"totals": None, "runs": []}
        return self.report.as_dict() | {
            "changes": JsonLines(self.changes, str),
            "beside": [str(finding) for finding in self.beside],
            "mended": mended["totals"],
            "left": mended["runs"],
        }


def _no_runs(runs: Sequence[Path], beside: Sequence[Finding]) -> list[Path]:
    """Return what was given by name and is no run, nor another file by what it holds or is called.

    A run must not pass by not being recognised: those that end in .jsonl never do.
    """
    unknown = {f.place.path for f in beside if f.message.startswith("is not a run")}
    return [path for path in runs if str(path) in unknown and not NOT_A_RUN.search(path.name)]


def check_command(
    runs: Sequence[Path],
    topics_path: Path | None = None,
    dataset: str = "auto",
    track: str = "",
    documents: Sequence[Path] = (),
    fix_into: Path | None = None,
    nuggets: Sequence[Path] = (),
) -> CheckResult:
    """Check run files, and banks of `nuggets`; with `fix_into` write repaired copies of runs there.

    Raises InputError for inputs that cannot be used, OutputError for a folder that cannot.
    """
    check_dataset(dataset)
    only_banks = bool(nuggets) and not runs
    if only_banks and fix_into is not None:
        raise InputError("--fix repairs runs, and none are given")
    if not (runs or nuggets):
        raise InputError("nothing to check: give run files, or banks by --nuggets")
    beside: list[Finding] = []
    log = FindingLog([beside.append])
    topics = read_topics(topics_path, log) if topics_path else None
    banks = read_banks(nuggets, log) if nuggets else {}
    if banks and topics:
        report_unmatched(banks, topics, topics, log)
    found = [] if only_banks else find_runs(runs, log)

    def read(store: DocumentStore) -> RunReader:
        return RunReader(found, ignore, store=store, dataset=dataset)

    # An id written as a number is an id only if a document has it: citations need the store.
    store = open_cited(documents, read, log)
    given = {"topics": [topics_path] if topics_path else [], "documents": documents}
    files: list[Path | Opened] = []
    if not only_banks:
        files += open_runs(found, log, given)
        files += (lost := _no_runs(runs, beside))
        beside[:] = [finding for finding in beside if Path(finding.place.path) not in lost]

    def names(finding: Finding) -> None:
        # The checker finds all else itself: these are seen only while all runs are read.
        if finding.kind in OF_NAMES | OF_HOSTILE_TEXT:
            log(finding)

    report = check_files(
        files,
        topics,
        track=track,
        dataset=dataset,
        store=store,
        on_finding=names,
        flag_hostile=True,
    )
    done = CheckResult(
        report,
        PackedList(),
        beside,
        topics_path is not None,
        store is not None,
        banks=banks,
        only_banks=only_banks,
    )
    if fix_into is None:
        return done
    paths = [Opened.of(file).path for file in files]
    # The copies are checked as their originals were: what mending cannot mend shows up again.
    changes = fix(paths, fix_into, topics, track=track, dataset=dataset, store=store)
    # Sorted: file systems list in any order, and the report must not depend on it.
    copies = sorted(path for path in fix_into.iterdir() if path.is_file())
    mended = check_files(copies, topics, track=track, dataset=dataset, store=store)
    return replace(done, changes=changes, folder=fix_into, mended=mended)
