"""Judges bare pairs of sentence and document: by words, or by the citation judge's model prompt."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from trecjudge.errors import WorkflowError
from trecjudge.evaluation.pairs.reading import BarePair, pair_as_response
from trecjudge.evaluation.pairs.verdicts import PairVerdict, judge_by_words, verdict_of
from trecjudge.findings import ignore
from trecjudge.job.judges import make_job_panel
from trecjudge.job.request import Job, Notify
from trecjudge.job.session import Session, open_session, run_session
from trecjudge.judging.attest import required_encoder
from trecjudge.judging.offline.support import calibration_at
from trecjudge.judging.panel import calibrations
from trecjudge.judging.runner import Runner
from trecjudge.records import Response, Topic

JUDGE = "citation"
"""The judge whose question a model is asked."""
RUN = "pairs"
"""The run_id of all pairs, and the topic of those without a group."""
Take = Callable[[PairVerdict], None]


def judge_pairs(job: Job, pairs: Iterator[BarePair], take: Take, notify: Notify) -> dict[str, Any]:
    """Give the verdict on each pair to `take`, in order; return what a model cost, if one did.

    `job` has the judge's settings and how to use a model. Raises a TrecJudgeError for what the user
    can put right, Interrupted for an interrupt.
    """
    if job.calibration is not None and job.model.use:
        message = "--calibration is for judging by words, --use-env-llm asks a model: give one"
        raise WorkflowError(message)
    panel = make_job_panel(job)

    async def judge() -> dict[str, Any]:
        if not job.model.use:
            calibration = calibration_at("".join(map(str, calibrations(panel))))
            name = getattr(panel[0].judge, "attester", "")
            encoder = required_encoder() if name == "encoder" else None
            for pair in pairs:
                take(judge_by_words(pair, calibration, name == "strict", encoder))
            return {}
        async with open_session(job, ignore, notify, panel) as session:
            async for verdict in _ask(session, pairs):
                take(verdict)
            return session.model.spent()

    return run_session(job, judge())


async def _ask(session: Session, pairs: Iterator[BarePair]) -> AsyncIterator[PairVerdict]:
    begun: deque[BarePair] = deque()

    def responses() -> Iterator[tuple[Topic, Response]]:
        for pair in pairs:
            begun.append(pair)
            yield pair_as_response(pair, RUN)

    async for judged in Runner(session.judging, session.model).run(responses()):
        (judgment,) = judged.judgments
        yield verdict_of(begun.popleft(), judgment)
