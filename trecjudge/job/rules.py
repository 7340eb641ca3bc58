"""Broken rules of the tracks as findings of a job."""

from __future__ import annotations

from dataclasses import dataclass

from trecjudge.check.outcome import Violation
from trecjudge.findings import KINDS, RULE, OnFinding


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
