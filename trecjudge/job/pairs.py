"""Judges bare pairs of sentence and document: by words, or by the citation judge's model prompt."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from trecjudge.errors import WorkflowError
from trecjudge.evaluation.pairs.reading import BarePair, pair_as_response
from trecjudge.evaluation.pairs.verdicts import Verdict, as_judged, by_words
from trecjudge.job.interrupts import INTERRUPTS, Interrupted
from trecjudge.job.job import Job, left_by
from trecjudge.job.judges import job_panel
from trecjudge.job.voters import opened, voting
from trecjudge.judging.offline.calibration import calibration_at
from trecjudge.judging.panel import Panel, calibrations
from trecjudge.judging.runner import Runner
from trecjudge.models.model import Model
from trecjudge.records import Response, Topic

JUDGE = "citation"
"""The judge whose question a model is asked."""
RUN = "pairs"
"""The run_id of all pairs, and the topic of those without a group."""
Take = Callable[[Verdict], None]


@dataclass(frozen=True, slots=True)
class PairJob:
    """A request to judge bare pairs; `job` has the judge's settings and how to use a model."""

    job: Job
    notify: Callable[[str], None]

    def run(self, pairs: Iterator[BarePair], take: Take) -> dict[str, Any]:
        """Return what a model cost, empty without one; give the verdicts to `take`, in order.

        Raises a TrecJudgeError for what the user can put right, Interrupted for an interrupt.
        """
        panel = self._panel()
        try:
            return asyncio.run(self._run(panel, pairs, take))
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise Interrupted("\n".join(left_by(self.job))) from None

    def _panel(self) -> Panel:
        job = self.job
        if job.calibration is not None and job.model.use:
            message = "--calibration is for judging by words, --use-env-llm asks a model: give one"
            raise WorkflowError(message)
        return job_panel(job)

    async def _run(self, panel: Panel, pairs: Iterator[BarePair], take: Take) -> dict[str, Any]:
        job = self.job
        if not job.model.use:
            calibration = calibration_at("".join(map(str, calibrations(panel))))
            strict = getattr(panel[0].judge, "attester", "") == "strict"
            for pair in pairs:
                take(by_words(pair, calibration, strict))
            return {}
        workflow = job.workflow
        cancelling = INTERRUPTS.cancelling_task() if job.model.asks else nullcontext()
        with cancelling:
            async with opened(job.model, workflow, panel, self.notify) as model:
                async for verdict in _judged(voting(workflow, panel), model, pairs):
                    take(verdict)
                return model.spent()


async def _judged(panel: Panel, model: Model, pairs: Iterator[BarePair]) -> AsyncIterator[Verdict]:
    """Yield the verdict on each pair, in their order."""
    begun: deque[BarePair] = deque()

    def responses() -> Iterator[tuple[Topic, Response]]:
        for pair in pairs:
            begun.append(pair)
            yield pair_as_response(pair, RUN)

    async for judged in Runner(panel, model).run(responses()):
        (judgment,) = judged.judgments
        yield as_judged(begun.popleft(), judgment)
