"""An audit by itself: the judge tried on labelled items, and no job after it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any

from trecjudge.errors import InputError
from trecjudge.findings import OnFinding
from trecjudge.job.audit.auditing import Audit, Auditor
from trecjudge.job.audit.rules import AuditRules
from trecjudge.job.interrupts import INTERRUPTS, Interrupted
from trecjudge.job.job import Job, JobInputs, left_by
from trecjudge.job.judges import job_panel
from trecjudge.job.voters import opened, voting
from trecjudge.judging.panel import Panel
from trecjudge.records import Response, Topic


@dataclass(frozen=True, slots=True)
class AuditJob:
    """A request to audit one judge of a job; its runs are read only where they are needed."""

    job: Job
    rules: AuditRules
    report: OnFinding
    notify: Callable[[str], None]

    def run(self) -> tuple[Audit | None, dict[str, Any]]:
        """Return the audit, None where it is only planned, and what a model cost.

        Raises a TrecJudgeError for what the user can put right, Interrupted for an interrupt.
        """
        panel = job_panel(self.job)
        try:
            return asyncio.run(self._run(panel))
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise Interrupted("\n".join(left_by(self.job))) from None

    async def _run(self, panel: Panel) -> tuple[Audit | None, dict[str, Any]]:
        job, workflow = self.job, self.job.workflow
        judging = voting(workflow, panel)
        with INTERRUPTS.cancelling_task() if job.model.asks else nullcontext():
            async with opened(job.model, workflow, panel, self.notify) as model:
                auditor = Auditor(panel, judging, self.rules, self.report, self.notify)
                items = auditor.items(self._responses)
                judged = await auditor.judged(items, model, job.outputs)
                spent = model.spent()
                if job.model.plan:
                    return None, spent | {"items": sum(len(one.items) for one in judged)}
                return auditor.compared(items, judged), spent

    def _responses(self) -> Iterator[tuple[Topic, Response]]:
        """Yield the responses that labels without texts are on. Raises InputError without runs."""
        if not self.job.runs:
            raise InputError(
                f"{self.rules.labels}: its labels have no texts; give the runs that they are on"
                " (--rag-responses), or labels with sentence and document"
            )
        with closing(JobInputs.read(self.job, self.report)) as inputs:
            inputs.check_documents(self.report)
            yield from inputs.responses()
