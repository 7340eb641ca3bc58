"""Broken rules of the tracks as findings of a job: before judging, or while the runs are read."""

from __future__ import annotations

from dataclasses import dataclass

from trecjudge.check.checker import Checker
from trecjudge.check.checking import check
from trecjudge.check.outcome import Violation
from trecjudge.errors import InputError
from trecjudge.findings import KINDS, RULE, Finding, FindingLog, OnFinding
from trecjudge.inputs.runs import RunReader
from trecjudge.job.job import Job, JobInputs


@dataclass(slots=True)
class BrokenRules:
    """Reports broken rules of the tracks, and counts them; the reader reports all else."""

    on_finding: OnFinding
    broken: int = 0
    last: str = ""

    def __call__(self, violation: Violation) -> None:
        before, self.last = self.last, str(violation.finding)
        # A violation that two runs of a file share comes twice in a row, and is reported once.
        if KINDS[violation.finding.kind] is RULE and self.last != before:
            self.broken += 1
            self.on_finding(violation.finding)


def check_first(job: Job, inputs: JobInputs, findings: FindingLog) -> None:
    """Check all runs against the rules of their tracks before the first call of a model.

    Findings of the reader are reported later, when the runs are judged. Raises InputError with
    `strict`, where there are any.
    """
    read = FindingLog()
    first: list[Finding] = []
    rules = BrokenRules(findings)

    def note_first(finding: Finding) -> None:
        read(finding)
        if finding.severity != "note" and not first:
            first.append(finding)

    report = check(
        inputs.files[: job.max_runs],
        inputs.all_topics,
        dataset=job.dataset,
        store=inputs.store,
        on_finding=note_first,
        on_violation=rules,
        records=inputs.records.read,
        all_places=False,
    )
    bad = read.of_severity("error", "warning") + findings.of_severity("error", "warning")
    if job.strict and (bad or report.is_refused):
        place = f"; the first: {first[0]}" if first else ""
        raise InputError(f"--strict: {bad + rules.broken} findings{place}; `check` lists them all")


def check_along(job: Job, inputs: JobInputs, reader: RunReader, findings: FindingLog) -> None:
    """Check every record as it is read: no call is paid, so no check must come before."""
    rules = BrokenRules(findings)
    checker = Checker(inputs.all_topics, dataset=job.dataset, on_violation=rules)

    def both(finding: Finding) -> None:
        findings(finding)
        checker.add_finding(finding)

    reader.report, reader.observe = both, checker.observe
